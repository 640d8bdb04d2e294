// Repairs, as far as the node can detect them: inferred from swapped modules, light that went dark
// and came back, ports that were administratively down. Their outcome is kept, so that a step that
// failed is not proposed again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/enum_names.h"
#include "base/time.h"

namespace linkhealth {

/// Repair steps, cheapest first. The node can detect only some of them.
enum class RepairAction : std::uint8_t {
  kLook,         ///< read, compare, ask: costs nothing and is never left out
  kPortBounced,  ///< administratively down and up again
  kFarPortBounced,
  kDriverReloaded,  ///< or the device was reset
  kNodeRebooted,
  kModuleReseated,  ///< the same serial came back
  kFarModuleReseated,
  kFibreReseated,  ///< light went dark and came back changed: cleaned, reseated, or another jumper
  kFibreReplaced,
  kModuleReplaced,     ///< another serial; includes a cable with its own EEPROM
  kFarModuleReplaced,  ///< another serial at the far end
  kMoved,
  kCardReplaced,
  kSwitchCardReplaced,
};
/// "": the node cannot detect it.
constexpr auto enum_names(RepairAction) {
  return std::to_array<std::string_view>(
      {"", "port_bounced", "", "driver_reloaded", "node_rebooted", "module_reseated", "",
       "fibre_reseated", "", "module_replaced", "far_module_replaced", "", "", ""});
}

enum class RepairOutcome : std::uint8_t {
  kPending,  ///< being verified, or there was no fault
  kHeld,     ///< the fault closed
  kFailed,   ///< the fault came back
};
constexpr auto enum_names(RepairOutcome) {
  return std::to_array<std::string_view>({"pending", "held", "failed"});
}

struct RepairRecord {
  std::string port;      ///< stable key
  std::string fault_id;  ///< of the fault that was open; "" if none
  RepairAction action = RepairAction::kPortBounced;
  WallTime at;  ///< when the link came back
  RepairOutcome outcome = RepairOutcome::kPending;
  /// For the lane that received least before.
  std::optional<double> rx_power_before_dbm, rx_power_after_dbm;
  std::optional<std::uint32_t> rx_lane;  ///< from 1
  std::optional<double> pre_fec_ber_before, pre_fec_ber_after;
  std::string serial_before, serial_after;  ///< of the module that was replaced
  bool operator==(const RepairRecord&) const = default;
};

}  // namespace linkhealth
