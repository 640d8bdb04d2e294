#include "model/kernel_log.h"

#include <algorithm>

namespace linkhealth {

namespace {

using enum KernelLogClass;

// Sources: linux drivers/net/ethernet/mellanox/mlx5/core/{events,health,cmd,main}.c and en_main.c,
// broadcom/bnxt/bnxt.c, pensando/ionic/ionic_lif.c,
// intel/{i40e/i40e_main.c,ice/{ice_main,ice_sriov}.c}, net/sched/sch_generic.c,
// drivers/pci/{pci.c,pcie/aer.c,pcie/dpc.c,hotplug/pciehp_ctrl.c}.
constexpr auto kPatterns = std::to_array<KernelLogPattern>({
    // First, because such lines hold words of others: a monitor without rights asks registers,
    // again and again.
    {"access_reg",
     kNoise,
     {"ACCESS_REG", "failed"},
     "a register could not be asked: rights of a monitor, not the link"},

    // mlx5: module events
    {"module_power_budget",
     kModuleError,
     {"Port module event", "Power budget exceeded"},
     "the module needs more power than the port gives"},
    {"module_long_range",
     kModuleRefused,
     {"Port module event", "Long Range for non MLNX"},
     "a long-range module that the card does not accept"},
    {"module_bus_stuck",
     kModuleError,
     {"Port module event", "Bus stuck"},
     "the module's I2C bus is stuck or shorted"},
    {"module_no_eeprom",
     kModuleError,
     {"Port module event", "No EEPROM"},
     "the module's EEPROM does not answer"},
    {"module_part_list",
     kModuleRefused,
     {"Port module event", "Enforce part number list"},
     "the module is not in the card's list"},
    {"module_unknown_identifier",
     kModuleRefused,
     {"Port module event", "Unknown identifier"},
     "a kind of module that the card does not know"},
    {"module_hot", kModuleHot, {"Port module event", "High Temperature"}, "the module is too hot"},
    {"module_shorted",
     kModuleError,
     {"Port module event", "Bad or shorted"},
     "a bad or shorted cable or module"},
    {"ports_without_power",
     kPortPower,
     {"powered down due to insufficient", "power on the PCIe slot"},
     "ports are off: the slot gives too little power"},
    {"module_unknown_error",
     kModuleError,
     {"Port module event[error]"},
     "another error of the module"},
    {"module_unplugged",
     kModuleUnplugged,
     {"Port module event", "unplugged"},
     "the module was pulled"},
    {"module_plugged", kModulePlugged, {"Port module event", "plugged"}, "a module was plugged"},
    {"module_disabled",
     kModuleDisabled,
     {"Port module event", "disabled"},
     "the module was switched off"},
    // mlx5: the card
    {"nic_hot", kNicHot, {"High temperature on sensors"}, "the card is too hot"},
    {"nic_hot_threshold",
     kNicHot,
     {"Chip temperature has gone above"},
     "the card is too hot (bnxt)"},
    {"slot_power",
     kWeakPower,
     {"Detected insufficient power on the PCIe slot"},
     "little slot power; often benign"},
    {"command_timeout",
     kFatal,
     {"Will cause a leak of a command resource"},
     "the firmware does not answer"},
    {"health_compromised", kFatal, {"health compromised"}, "the firmware's heartbeat stopped"},
    {"hardware_error", kFatal, {"unrecoverable hardware error"}, "the hardware has failed"},
    // What follows it (assert_var and more) comes with an issue of any severity, so that it says
    // nothing alone.
    {"fatal_error",
     kFatal,
     {"Fatal error ", " detected"},
     "the driver's sensors found the card dead"},
    {"health_hot", kNicHot, {"Health issue observed", "High temperature"}, "the card is too hot"},
    {"health_emergency",
     kFatal,
     {"Health issue observed", "severity(0)"},
     "the firmware reports an error"},
    {"health_alert",
     kFatal,
     {"Health issue observed", "severity(1)"},
     "the firmware reports an error"},
    {"health_critical",
     kFatal,
     {"Health issue observed", "severity(2)"},
     "the firmware reports an error"},
    {"health_error",
     kFatal,
     {"Health issue observed", "severity(3)"},
     "the firmware reports an error"},
    {"pci_unavailable",
     kPcieLost,
     {"PCI slot is unavailable"},
     "the card does not answer on PCIe any more"},
    // bnxt (bnxt_async_event_process(), bnxt_fw_exception()); a "Non-fatal firmware reset event"
    // mends itself.
    {"firmware_fatal_reset",
     kFatal,
     {"Fatal firmware reset event"},
     "the firmware reports a fatal error"},
    {"firmware_fatal_condition", kFatal, {"irmware fatal"}, "the firmware reports a fatal error"},
    // bnxt (bnxt_event_error_report(); hsi_struct_def.h says which pauses: those that it got, until
    // it heeds none)
    {"pause_storm",
     kPaused,
     {"Pause Storm detected"},
     "paused for so long that it sends without flow control"},
    {"doorbells_dropped",
     kHostBusy,
     {"MMIO doorbells dropped by the device"},
     "the host rang faster than the card hears"},
    {"speed_refused",
     kMisconfigured,
     {"Speed change not supported with dual rate transceivers"},
     "the module does not go with the speed that was asked for"},
    // ionic (ionic_lif_handle_fw_down()); a stalled heartbeat alone comes back now and then
    {"firmware_stopped",
     kFatal,
     {"FW Down: Stopping LIFs"},
     "the firmware stopped, and the driver with it"},
    // ice, i40e, ixgbe. Of a virtual function it is its guest's doing, whom the host does not
    // trust.
    {"firmware_recovery_mode",
     kFatal,
     {"irmware recovery mode detected"},
     "the firmware serves its repair only"},
    {"rebuild_failed",
     kFatal,
     {"Rebuild failed, unload and reload driver"},
     "the card did not come back from a reset"},
    {"malicious_guest",
     kNoise,
     {"Malicious Driver Detection", "VF"},
     "a virtual function did what it may not"},
    {"malicious_function",
     kNoise,
     {"Malicious Driver Detection", "of function"},
     "a function did what it may not (i40e)"},
    {"malicious_driver",
     kQueueStuck,
     {"Malicious Driver"},
     "the card stopped a queue of the driver, who resets it"},
    {"netdev_watchdog", kQueueStuck, {"NETDEV WATCHDOG"}, "a transmit queue does not move"},
    {"tx_timeout", kQueueStuck, {"TX timeout detected"}, "a transmit queue does not move"},

    // bnxt, ice and others: module messages
    {"module_unqualified", kModuleRefused, {"Unqualified"}, "the card does not accept this module"},
    {"module_unsupported",
     kModuleRefused,
     {"unsupported module"},
     "the driver does not accept this module"},
    {"sfp_unsupported",
     kModuleRefused,
     {"unsupported SFP"},
     "the driver does not accept this module"},
    {"module_nvm",
     kModuleRefused,
     {"module is incompatible with the device's NVM"},
     "the card does not accept it"},
    {"module_power",
     kModuleError,
     {"module's power requirements exceed"},
     "the module needs more power than there is"},
    // Intel's own ice driver (ice_devlink_health_status). The kernel's says them by devlink
    // (probes/devlink_health.h).
    {"module_no_contact",
     kModuleError,
     {"annot communicate with the module"},
     "the module does not answer the card"},
    {"module_type",
     kModuleRefused,
     {"Module type is not supported"},
     "a kind of module that the card does not know"},
    {"module_not_qualified",
     kModuleRefused,
     {"Module is not qualified"},
     "the card does not accept this module"},
    {"module_shutdown", kModuleError, {"module is shut"}, "the card has switched the module off"},
    {"module_tx_disabled",
     kModuleDisabled,
     {"TX is disabled"},
     "the card has switched the transmitter off"},
    {"module_absent",
     kModuleUnplugged,
     {"Module is not present"},
     "there is no module in the cage"},
    {"module_conflict",
     kMisconfigured,
     {"Unresolved module conflict"},
     "the port's settings do not fit its module"},
    {"link_settings", kMisconfigured, {"Invalid link configuration"}, "settings that make no link"},
    {"port_misconfigured",
     kMisconfigured,
     {"onfiguration of the Ethernet port detected"},
     "the port's settings and its medium do not fit"},

    // PCIe
    {"pcie_bandwidth",
     kPcieReduced,
     {"Gb/s available PCIe bandwidth", "limited by"},
     "less PCIe bandwidth than the card could use"},
    {"aer_fatal", kFatal, {"AER: ", "Uncorrect", "(Fatal)"}, "the PCIe link gave up"},
    {"bus_error_fatal",
     kFatal,
     {"PCIe Bus Error: severity=Uncorrect", "(Fatal)"},
     "the PCIe link gave up"},
    {"aer_uncorrected", kPcieUncorrected, {"AER: ", "Uncorrect"}, "an uncorrectable PCIe error"},
    {"bus_error_uncorrected",
     kPcieUncorrected,
     {"PCIe Bus Error: severity=Uncorrect"},
     "an uncorrectable PCIe error"},
    {"dpc", kFatal, {"DPC: containment"}, "the port above was cut off after a PCIe error"},
    {"slot_link_down",
     kPcieLost,
     {"pciehp", "Slot(", "Link Down"},
     "the PCIe link of the slot went down"},
    {"slot_empty",
     kPcieLost,
     {"pciehp", "Slot(", "Card not present"},
     "the card is not in its slot any more"},
    {"aer_corrected", kPcieError, {"AER: ", "orrect", "error"}, "corrected PCIe errors"},
    {"bus_error_corrected",
     kPcieError,
     {"PCIe Bus Error: severity=Correct"},
     "corrected PCIe errors"},

    // The timeline of the link, last: "link down" is part of other lines too.
    {"nic_link_down", kLinkDown, {"NIC Link is Down"}, "the link went down"},
    {"nic_link_up", kLinkUp, {"NIC Link is "}, "the link came up; names its speed and FEC"},
    {"link_down", kLinkDown, {": Link down"}, "the link went down"},
    {"link_up", kLinkUp, {": Link up"}, "the link came up"},
    {"link_ready", kLinkUp, {"link becomes ready"}, "the link came up"},
    {"link_integrity",
     kFabricTrap,
     {"ocal link integrity"},
     "the port's local link integrity threshold"},
    {"buffer_overrun", kFabricTrap, {"buffer overrun"}, "the port's buffers overran"},
    {"flow_control_watchdog",
     kFabricTrap,
     {"low control", "watchdog"},
     "no flow control from the far end"},
});

bool fits(const KernelLogPattern& pattern, std::string_view text) {
  for (const std::string_view part : pattern.parts) {
    if (part.empty()) continue;
    const auto at = text.find(part);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + part.size());
  }
  return true;
}

}  // namespace

std::span<const KernelLogPattern> kernel_log_patterns() { return kPatterns; }

const KernelLogPattern* classify_kernel_log(std::string_view text) {
  const auto* const found =
      std::find_if(kPatterns.begin(), kPatterns.end(),
                   [text](const KernelLogPattern& pattern) { return fits(pattern, text); });
  return found == kPatterns.end() ? nullptr : found;
}

bool is_kernel_log(std::string_view text, KernelLogClass what) {
  const KernelLogPattern* pattern = classify_kernel_log(text);
  return pattern != nullptr && pattern->what == what;
}

}  // namespace linkhealth
