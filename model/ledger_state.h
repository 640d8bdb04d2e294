// What the ledger must not lose when the daemon restarts: plain values, keyed by the port's stable key, with wall
// times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/report.h"
#include "model/rule_use.h"

namespace linkhealth {

/// A fault that is not closed.
struct LedgerFault {
  std::string id;
  std::string port;  ///< stable key
  std::string fault;
  End end = End::kNone;
  Severity severity = Severity::kWarning;
  FaultState state = FaultState::kOpen;
  double confidence = 0;
  WallTime opened_at, last_seen_at;
  std::optional<WallTime> proving_since;
  std::string acknowledged_by, acknowledged_reason;
  std::optional<WallTime> acknowledged_until;
  std::string summary, verify;
  std::vector<std::string> repair;
  bool operator==(const LedgerFault&) const = default;
};

/// How often a port had a fault before.
struct LedgerRepeat {
  std::string port;
  std::string fault;
  std::uint32_t times = 0;
  WallTime last_closed_at;
  bool operator==(const LedgerRepeat&) const = default;
};

struct LedgerState {
  std::vector<LedgerFault> faults;
  std::vector<LedgerRepeat> repeats;
  RuleUse rule_use;
  bool operator==(const LedgerState&) const = default;
};

}  // namespace linkhealth
