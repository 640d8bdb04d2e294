// What was done to a link, as far as the node can see it: inferred from modules that came and went,
// light that went dark and came back, ports that were set down. With what it changed, so that a
// step that failed is not proposed again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace linkhealth {

/// What can be done to a link, cheapest first. The monitor sees some of it happen; the rest are
/// steps that it proposes.
enum class RepairAction : std::uint8_t {
  kLook,         ///< read, compare, ask: costs nothing and is never left out
  kPortBounced,  ///< set down and up again
  kFarPortBounced,
  kDriverReloaded,  ///< or the device reset
  kNodeRebooted,
  kModuleReseated,  ///< the same serial came back
  kFarModuleReseated,
  kFibreReseated,  ///< light went dark and came back changed: cleaned, reseated, or another jumper
  kFibreReplaced,
  kModuleReplaced,     ///< another serial; or a cable that has its own EEPROM
  kFarModuleReplaced,  ///< another serial at the far end
  kMoved,
  kCardReplaced,
  kSwitchCardReplaced,
};
/// "port_bounced", "module_replaced", …; of what cannot be seen to happen "".
std::string_view to_string(RepairAction action);
std::optional<RepairAction> parse_repair_action(std::string_view text);

enum class RepairOutcome : std::uint8_t {
  kPending,  ///< the link proves itself, or nothing was wrong
  kHeld,     ///< the fault closed
  kFailed,   ///< the fault was seen again
};
/// "pending", "held", "failed".
std::string_view to_string(RepairOutcome outcome);
std::optional<RepairOutcome> parse_repair_outcome(std::string_view text);

struct RepairRecord {
  std::string port;      ///< stable key
  std::string fault_id;  ///< of the fault that was open; "" when none was
  RepairAction action = RepairAction::kPortBounced;
  WallTime at;  ///< when the link came back
  RepairOutcome outcome = RepairOutcome::kPending;
  /// Of the lane that received least before.
  std::optional<double> rx_power_before_dbm, rx_power_after_dbm;
  std::optional<std::uint32_t> rx_lane;  ///< from 1
  std::optional<double> pre_fec_ber_before, pre_fec_ber_after;
  std::string serial_before, serial_after;  ///< of the module that was replaced
  bool operator==(const RepairRecord&) const = default;
};

}  // namespace linkhealth
