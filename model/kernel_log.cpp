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
    // Tried first, because such a line also matches other patterns. An unprivileged monitor that
    // reads registers causes it.
    {"access_reg", kNoise, {"ACCESS_REG", "failed"}},
    // mlx5: module events
    {"module_power_budget", kModulePower, {"Port module event", "Power budget exceeded"}},
    {"module_long_range", kModuleRefused, {"Port module event", "Long Range for non MLNX"}},
    {"module_bus_stuck", kModuleError, {"Port module event", "Bus stuck"}},
    {"module_no_eeprom", kModuleError, {"Port module event", "No EEPROM"}},
    {"module_part_list", kModuleRefused, {"Port module event", "Enforce part number list"}},
    {"module_unknown_identifier", kModuleRefused, {"Port module event", "Unknown identifier"}},
    {"module_hot", kModuleHot, {"Port module event", "High Temperature"}},
    {"module_shorted", kModuleError, {"Port module event", "Bad or shorted"}},
    {"ports_without_power",
     kPortPower,
     {"powered down due to insufficient", "power on the PCIe slot"}},
    {"module_unknown_error", kModuleError, {"Port module event[error]"}},
    {"module_unplugged", kModuleUnplugged, {"Port module event", "unplugged"}},
    {"module_plugged", kModulePlugged, {"Port module event", "plugged"}},
    {"module_disabled", kModuleDisabled, {"Port module event", "disabled"}},
    // mlx5: the card
    {"nic_hot", kNicHot, {"High temperature on sensors"}},
    {"nic_hot_threshold", kNicHot, {"Chip temperature has gone above"}},
    {"slot_power", kWeakPower, {"Detected insufficient power on the PCIe slot"}},
    {"command_timeout", kFatal, {"Will cause a leak of a command resource"}},
    {"health_compromised", kFatal, {"health compromised"}},
    {"hardware_error", kFatal, {"unrecoverable hardware error"}},
    // The lines that follow (assert_var and more) come with issues of any severity.
    {"fatal_error", kFatal, {"Fatal error ", " detected"}},
    {"health_hot", kNicHot, {"Health issue observed", "High temperature"}},
    {"health_emergency", kFatal, {"Health issue observed", "severity(0)"}},
    {"health_alert", kFatal, {"Health issue observed", "severity(1)"}},
    {"health_critical", kFatal, {"Health issue observed", "severity(2)"}},
    {"health_error", kFatal, {"Health issue observed", "severity(3)"}},
    {"pci_unavailable", kPcieLost, {"PCI slot is unavailable"}},
    // bnxt (bnxt_async_event_process(), bnxt_fw_exception()); it recovers from a "Non-fatal
    // firmware reset event".
    {"firmware_fatal_reset", kFatal, {"Fatal firmware reset event"}},
    {"firmware_fatal_condition", kFatal, {"irmware fatal"}},
    // bnxt: a command of the firmware got no answer (bnxt_hwrm.c __hwrm_send(); bnxt_re's
    // qplib_rcfw.c)
    {"hwrm_timeout", kNoAnswer, {"Error (timeout: ", ") msg {0x"}},
    {"hwrm_abandoned", kNoAnswer, {"Abandoning msg {0x", "due to firmware status"}},
    {"cmdq_timeout", kNoAnswer, {"cmdq[", "timedout ("}},
    // bnxt (bnxt_event_error_report(); hsi_struct_def.h: so many pauses that the card now ignores
    // them)
    {"pause_storm", kPaused, {"Pause Storm detected"}},
    {"doorbells_dropped", kHostBusy, {"MMIO doorbells dropped by the device"}},
    {"speed_refused", kMisconfigured, {"Speed change not supported with dual rate transceivers"}},
    // ionic (ionic_lif_handle_fw_down()); a stalled heartbeat alone may recover
    {"firmware_stopped", kFatal, {"FW Down: Stopping LIFs"}},
    // ice, i40e, ixgbe. A virtual function's event is caused by its guest, which is untrusted.
    {"firmware_recovery_mode", kFatal, {"irmware recovery mode detected"}},
    {"rebuild_failed", kFatal, {"Rebuild failed, unload and reload driver"}},
    {"malicious_guest", kNoise, {"Malicious Driver Detection", "VF"}},
    {"malicious_function", kNoise, {"Malicious Driver Detection", "of function"}},
    {"malicious_driver", kQueueStuck, {"Malicious Driver"}},
    {"netdev_watchdog", kQueueStuck, {"NETDEV WATCHDOG"}},
    {"tx_timeout", kQueueStuck, {"TX timeout detected"}},
    // bnxt, ice and others: module messages
    {"module_unqualified", kModuleRefused, {"Unqualified"}},
    {"module_unsupported", kModuleRefused, {"unsupported module"}},
    {"sfp_unsupported", kModuleRefused, {"unsupported SFP"}},
    {"module_nvm", kModuleRefused, {"module is incompatible with the device's NVM"}},
    {"module_power", kModulePower, {"module's power requirements exceed"}},
    // Intel's own ice driver (ice_devlink_health_status). The kernel's ice driver reports them by
    // devlink (probes/netlink/devlink_health.h).
    {"module_no_contact", kModuleError, {"annot communicate with the module"}},
    {"module_type", kModuleRefused, {"Module type is not supported"}},
    {"module_not_qualified", kModuleRefused, {"Module is not qualified"}},
    {"module_shutdown", kModuleError, {"module is shut"}},
    {"module_tx_disabled", kModuleDisabled, {"TX is disabled"}},
    {"module_absent", kModuleUnplugged, {"Module is not present"}},
    {"module_conflict", kMisconfigured, {"Unresolved module conflict"}},
    {"link_settings", kMisconfigured, {"Invalid link configuration"}},
    {"port_misconfigured", kMisconfigured, {"onfiguration of the Ethernet port detected"}},
    // PCIe
    {"pcie_bandwidth", kPcieReduced, {"Gb/s available PCIe bandwidth", "limited by"}},
    {"aer_fatal", kFatal, {"AER: ", "Uncorrect", "(Fatal)"}},
    {"bus_error_fatal", kFatal, {"PCIe Bus Error: severity=Uncorrect", "(Fatal)"}},
    {"aer_uncorrected", kPcieUncorrected, {"AER: ", "Uncorrect"}},
    {"bus_error_uncorrected", kPcieUncorrected, {"PCIe Bus Error: severity=Uncorrect"}},
    {"dpc", kFatal, {"DPC: containment"}},
    {"slot_link_down", kPcieLost, {"pciehp", "Slot(", "Link Down"}},
    {"slot_empty", kPcieLost, {"pciehp", "Slot(", "Card not present"}},
    {"aer_corrected", kPcieError, {"AER: ", "orrect", "error"}},
    {"bus_error_corrected", kPcieError, {"PCIe Bus Error: severity=Correct"}},
    // The link's timeline comes last: "link down" is also part of other lines.
    {"nic_link_down", kLinkDown, {"NIC Link is Down"}},
    {"nic_link_up", kLinkUp, {"NIC Link is "}},
    {"link_down", kLinkDown, {": Link down"}},
    {"link_up", kLinkUp, {": Link up"}},
    {"link_ready", kLinkUp, {"link becomes ready"}},
    {"link_integrity", kFabricTrap, {"ocal link integrity"}},
    {"buffer_overrun", kFabricTrap, {"buffer overrun"}},
    {"flow_control_watchdog", kFabricTrap, {"low control", "watchdog"}},
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
