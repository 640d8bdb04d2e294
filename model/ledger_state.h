// What the ledger must not lose when the daemon restarts: plain values, keyed by the port's stable
// key, with wall times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/report.h"

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
  std::optional<WallTime> acknowledged_at, acknowledged_until;
  std::string summary, verify;
  std::vector<std::string> repair;
  bool operator==(const LedgerFault&) const = default;
};

/// Somebody took note of it, and that is in force at `now`.
bool is_acknowledged(const LedgerFault& fault, WallTime now);

/// Of what it is counted how often it had a fault.
enum class RepeatOf : std::uint8_t { kPort, kModule, kCable };
/// "port", "module", "cable".
std::string_view to_string(RepeatOf of);
std::optional<RepeatOf> parse_repeat_of(std::string_view text);

/// How often a port, a module or a cable had a fault that was closed.
struct LedgerRepeat {
  RepeatOf of = RepeatOf::kPort;
  std::string subject;  ///< stable key; serial number; both serial numbers
  std::string fault;
  std::uint32_t times = 0;
  WallTime last_closed_at;
  bool operator==(const LedgerRepeat&) const = default;
};

struct LedgerState {
  std::vector<LedgerFault> faults;
  std::vector<LedgerRepeat> repeats;
  std::vector<RepairRecord> repairs;     ///< oldest first
  std::vector<Maintenance> maintenance;  ///< begun by command and not over
  std::vector<Maintenance>
      maintenance_log;  ///< all of late, by file too, oldest first; `ended_at` where it is over
  bool operator==(const LedgerState&) const = default;
};

}  // namespace linkhealth
