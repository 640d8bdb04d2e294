// The ledger's state that survives a restart, keyed by the port's stable key, with wall times.
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
  /// Stable keys of the ports that share it, its own first; or empty.
  std::vector<std::string> ports;
  bool operator==(const LedgerFault&) const = default;
};

/// Whether an operator has acknowledged it and the acknowledgement is in force at `now`.
inline bool is_acknowledged(const LedgerFault& fault, WallTime now) {
  return !fault.acknowledged_by.empty() &&
         (!fault.acknowledged_until || now < *fault.acknowledged_until);
}

/// What a repeated fault belongs to.
enum class RepeatOf : std::uint8_t { kPort, kModule, kCable };
constexpr auto enum_names(RepeatOf) {
  return std::to_array<std::string_view>({"port", "module", "cable"});
}

/// How many closed faults a port, a module or a cable has had.
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
  std::vector<Maintenance> maintenance;  ///< begun by command and not ended
  /// Recent ones, including those begun by file, oldest first; `ended_at` is set once they are
  /// over.
  std::vector<Maintenance> maintenance_log;
  bool operator==(const LedgerState&) const = default;
};

}  // namespace linkhealth
