#include "model/kernel_log.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace linkhealth {
namespace {

using enum KernelLogClass;

struct Line {
  const char* text;
  const char* name;  ///< of the pattern; "" none
  KernelLogClass what;
};

// As the drivers print them (their sources, bug reports and vendors' documents).
const Line kLines[] = {
    {"ionic 0000:24:00.0: FW Down: Stopping LIFs", "firmware_stopped", kFatal},
    {"ice 0000:b1:00.0: Rebuild failed, unload and reload driver", "rebuild_failed", kFatal},
    {"mlx5_core 0000:1b:00.0: Port module event: module 0, Cable plugged", "module_plugged",
     kModulePlugged},
    {"mlx5_core 0000:63:00.1: Port module event: module 1, Cable unplugged", "module_unplugged",
     kModuleUnplugged},
    {"mlx5_core 0000:63:00.1: Port module event: module 1, Cable disabled", "module_disabled",
     kModuleDisabled},
    {"mlx5_core 0000:1b:00.0: Port module event[error]: module 0, Cable error, Power budget "
     "exceeded",
     "module_power_budget", kModuleError},
    {"mlx5_core 0000:1b:00.0: Port module event[error]: module 0, Cable error, Long Range for non "
     "MLNX cable",
     "module_long_range", kModuleRefused},
    {"mlx5_core 0000:1b:00.0: Port module event[error]: module 0, Cable error, Bus stuck (I2C or "
     "data shorted)",
     "module_bus_stuck", kModuleError},
    {"mlx5_core 0000:1b:00.0: Port module event[error]: module 0, Cable error, No EEPROM/retry "
     "timeout",
     "module_no_eeprom", kModuleError},
    {"mlx5_core 0000:1b:00.0: Port module event[error]: module 0, Cable error, Enforce part number "
     "list",
     "module_part_list", kModuleRefused},
    {"mlx5_core 0000:1b:00.0: Port module event[error]: module 0, Cable error, Unknown identifier",
     "module_unknown_identifier", kModuleRefused},
    {"mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, High Temperature",
     "module_hot", kModuleHot},
    {"mlx5_core 0000:1b:00.0: Port module event[error]: module 0, Cable error, Bad or shorted "
     "cable/module",
     "module_shorted", kModuleError},
    {"mlx5_core 0000:1b:00.0: Port module event[error]: module 0, Cable error, One or more network "
     "ports have been "
     "powered down due to insufficient/unadvertised power on the PCIe slot. Please refer to the "
     "card's user manual",
     "ports_without_power", kPortPower},
    {"mlx5_core 0000:1b:00.0: Port module event[error]: module 0, Cable error, Unknown error",
     "module_unknown_error", kModuleError},
    {"mlx5_core 0000:1b:00.0: One or more network ports have been powered down due to "
     "insufficient/unadvertised power "
     "on the PCIe slot.",
     "ports_without_power", kPortPower},
    {"mlx5_core 0000:1b:00.0: temp_warn:288:(pid 0): High temperature on sensors with bit set 0 1",
     "nic_hot", kNicHot},
    {"mlx5_core 0000:5c:00.0: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the "
     "PCIe slot (27W).",
     "slot_power", kWeakPower},
    {"mlx5_core 0000:03:00.0: wait_func:964:(pid 112): ENABLE_HCA(0x104) timeout. Will cause a "
     "leak of a command "
     "resource",
     "command_timeout", kFatal},
    {"mlx5_core 0000:d2:00.0: poll_health:174: device's health compromised - reached miss count.",
     "health_compromised", kFatal},
    {"mlx5_core 0000:d2:00.0: print_health_info: synd 0x8: unrecoverable hardware error.",
     "hardware_error", kFatal},
    {"mlx5_core 0000:d2:00.0: poll_health:801:(pid 0): Fatal error 1 detected", "fatal_error",
     kFatal},
    {"mlx5_core 0000:d2:00.0: print_health_info:430:(pid 0): Health issue observed, firmware "
     "internal error, "
     "severity(3) "
     "ERROR:",
     "health_error", kFatal},
    // mlx5_health_get_severity(): the words of the levels are syslog's
    {"mlx5_core 0000:d2:00.0: print_health_info:430:(pid 0): Health issue observed, firmware "
     "internal error, "
     "severity(0) EMERGENCY:",
     "health_emergency", kFatal},
    {"mlx5_core 0000:d2:00.0: print_health_info:430:(pid 0): Health issue observed, unrecoverable "
     "hardware error, "
     "severity(1) ALERT:",
     "hardware_error", kFatal},
    {"mlx5_core 0000:d2:00.0: print_health_info:430:(pid 0): Health issue observed, firmware "
     "internal error, "
     "severity(1) ALERT:",
     "health_alert", kFatal},
    {"mlx5_core 0000:d2:00.0: print_health_info:430:(pid 0): Health issue observed, firmware "
     "internal error, "
     "severity(2) CRITICAL:",
     "health_critical", kFatal},
    {"mlx5_core 0000:d2:00.0: print_health_info:430:(pid 0): Health issue observed, High "
     "temperature, severity(3) "
     "ERROR:",
     "health_hot", kNicHot},
    {"mlx5_core 0000:d2:00.0: print_health_info:430:(pid 0): Health issue observed, high CRC error "
     "rate, severity(4) "
     "WARNING:",
     "", kNoise},
    {"mlx5_core 0000:d2:00.0: print_health_info:433:(pid 0): assert_var[0] 0x0000002a", "", kNoise},
    {"mlx5_core 0000:d2:00.0: print_health_info:425:(pid 0): PCI slot is unavailable",
     "pci_unavailable", kPcieLost},
    {"NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 3 timed out", "netdev_watchdog",
     kQueueStuck},
    {"mlx5_core 0000:1b:00.0 eth2: TX timeout detected", "tx_timeout", kQueueStuck},
    {"mlx5_core 0000:d2:00.0: mlx5_cmd_out_err:838:(pid 1441871): ACCESS_REG(0x805) op_mod(0x1) "
     "failed, status bad "
     "operation(0x2), syndrome (0x305684), err(-22)",
     "access_reg", kNoise},
    {"mlx5_core 0000:1b:00.0 ens1f0np0: Link up", "link_up", kLinkUp},
    {"mlx5_core 0000:1b:00.0 ens1f0np0: Link down", "link_down", kLinkDown},
    {"IPv6: ADDRCONF(NETDEV_CHANGE): ens1f0np0: link becomes ready", "link_ready", kLinkUp},
    {"bnxt_en 0000:28:00.0 ens2np0: Fatal firmware reset event, data1: 0x6, data2: 0x0, min wait "
     "4000 ms, max wait "
     "20000 "
     "ms",
     "firmware_fatal_reset", kFatal},
    {"bnxt_en 0000:28:00.0 ens2np0: Firmware fatal reset event received",
     "firmware_fatal_condition", kFatal},
    {"bnxt_en 0000:28:00.0 ens2np0: Detected firmware fatal condition, initiating reset",
     "firmware_fatal_condition", kFatal},
    {"bnxt_en 0000:28:00.0 ens2np0: Non-fatal firmware reset event, data1: 0x6, data2: 0x0, min "
     "wait 4000 ms",
     "", kNoise},
    {"bnxt_en 0000:28:00.0 ens2np0: NIC Link is Down", "nic_link_down", kLinkDown},
    {"bnxt_en 0000:28:00.0 ens2np0: NIC Link is Up, 100000 Mbps full duplex, Flow control: none",
     "nic_link_up", kLinkUp},
    {"ice 0000:18:00.0 eth0: NIC Link is up 100 Gbps Full Duplex, Requested FEC: RS-FEC, "
     "Negotiated FEC: RS-FEC",
     "nic_link_up", kLinkUp},
    {"bnxt_en 0000:28:00.0 ens2np0: Unqualified SFP+ module detected on port 1",
     "module_unqualified", kModuleRefused},
    {"bnxt_en 0000:28:00.0 ens2np0: TX is disabled", "module_tx_disabled", kModuleDisabled},
    {"bnxt_en 0000:28:00.0 ens2np0: SFP+ module is shutdown", "module_shutdown", kModuleError},
    {"bnge 0000:28:00.0 ens2np0: SFP+ module is shut down", "module_shutdown", kModuleError},
    {"ice 0000:18:00.0 eth0: Rx/Tx is disabled on this device because an unsupported module type "
     "was detected.",
     "module_unsupported", kModuleRefused},
    {"ice 0000:18:00.0: The installed module is incompatible with the device's NVM image. Cannot "
     "start link.",
     "module_nvm", kModuleRefused},
    {"ice 0000:18:00.0: The module's power requirements exceed the device's power supply. Cannot "
     "start link.",
     "module_power", kModuleError},
    {"ice 0000:18:00.0 eth0: Device cannot communicate with the module.", "module_no_contact",
     kModuleError},
    {"ice 0000:18:00.0 eth0: Module type is not supported.", "module_type", kModuleRefused},
    {"ice 0000:18:00.0 eth0: Module is not qualified.", "module_not_qualified", kModuleRefused},
    {"ice 0000:18:00.0 eth0: An unsupported module was detected.", "module_unsupported",
     kModuleRefused},
    {"ice 0000:18:00.0: Firmware recovery mode detected. Limiting functionality. Refer to the "
     "Intel(R) Ethernet "
     "Adapters and Devices User Guide for details on firmware recovery mode.",
     "firmware_recovery_mode", kFatal},
    {"ice 0000:18:00.0: Malicious Driver Detection event 7 on TX queue 12 PF# 0 VF# 5",
     "malicious_guest", kNoise},
    {"ice 0000:18:00.0: 3 Rx Malicious Driver Detection events detected on PF 0 VF 5 MAC "
     "02:00:00:00:00:05. "
     "mdd-auto-reset-vfs=off",
     "malicious_guest", kNoise},
    {"i40e 0000:18:00.0: Malicious Driver Detection event 0x02 on TX queue 12 PF number 0x00 VF "
     "number 0x05",
     "malicious_guest", kNoise},
    {"i40e 0000:18:00.0: Malicious Driver Detection event 0x02 on RX queue 12 of function 0x45",
     "malicious_function", kNoise},
    {"ixgbe 0000:18:00.0: Malicious Driver Detection event detected on PF 0 VF 5 MAC: "
     "02:00:00:00:00:05 "
     "mdd-disable-vf=on",
     "malicious_guest", kNoise},
    {"ice 0000:18:00.0: Malicious Driver Detection event TX_PQM detected on PF", "malicious_driver",
     kQueueStuck},
    // bnxt_event_error_report() of bnxt.c
    {"bnxt_en 0000:28:00.0 ens2np0: Pause Storm detected!", "pause_storm", kPaused},
    {"bnxt_en 0000:28:00.0 ens2np0: One or more MMIO doorbells dropped by the device!",
     "doorbells_dropped", kHostBusy},
    {"bnxt_en 0000:28:00.0 ens2np0: Speed change not supported with dual rate transceivers on this "
     "board",
     "speed_refused", kMisconfigured},
    {"bnxt_en 0000:28:00.0 ens2np0: 1PPS: Received invalid signal on pin0 from the external "
     "source. Please fix the "
     "signal and reconfigure the pin",
     "", kNoise},
    {"bnxt_en 0000:28:00.0 ens2np0: Chip temperature has gone above the critical thermal "
     "threshold!",
     "nic_hot_threshold", kNicHot},
    {"bnxt_en 0000:28:00.0 ens2np0: Chip temperature has gone below the critical thermal "
     "threshold!",
     "", kNoise},
    // what ice says by devlink (probes/devlink_health.h)
    {"devlink health, port: An unsupported module was detected.", "module_unsupported",
     kModuleRefused},
    {"devlink health, port: Module type is not supported.", "module_type", kModuleRefused},
    {"devlink health, port: Module is not qualified.", "module_not_qualified", kModuleRefused},
    {"devlink health, port: Device cannot communicate with the module.", "module_no_contact",
     kModuleError},
    {"devlink health, port: Unresolved module conflict.", "module_conflict", kMisconfigured},
    {"devlink health, port: Module is not present.", "module_absent", kModuleUnplugged},
    {"devlink health, port: Invalid link configuration.", "link_settings", kMisconfigured},
    {"devlink health, port: Port hardware access error.", "", kNoise},
    {"devlink health, port: Port speed is limited due to module.", "", kNoise},
    {"ice 0000:18:00.0 eth0: Potential misconfiguration of the Ethernet port detected.",
     "port_misconfigured", kMisconfigured},
    {"ice 0000:18:00.0 eth0: Possible mis-configuration of the Ethernet port detected, please use",
     "port_misconfigured", kMisconfigured},
    {"mlx5_core 0000:1b:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 "
     "link at 0000:1a:00.0 "
     "(capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)",
     "pcie_bandwidth", kPcieReduced},
    {"pcieport 0000:00:1c.0: AER: Corrected error received: 0000:1b:00.0", "aer_corrected",
     kPcieError},
    {"pcieport 0000:00:1c.0: AER: Multiple Correctable error message received from 0000:1b:00.0",
     "aer_corrected", kPcieError},
    {"pcieport 0000:00:1c.0: AER: Uncorrected (Fatal) error received: 0000:1b:00.0", "aer_fatal",
     kFatal},
    {"pcieport 0000:00:1c.0: AER: Uncorrectable (Fatal) error message received from 0000:1b:00.0",
     "aer_fatal", kFatal},
    {"pcieport 0000:00:1c.0: AER: Multiple Uncorrectable (Non-Fatal) error message received from "
     "0000:1b:00.0",
     "aer_uncorrected", kPcieUncorrected},
    {"pcieport 0000:00:1c.0: AER: Uncorrected (Non-Fatal) error received: 0000:1b:00.0",
     "aer_uncorrected", kPcieUncorrected},
    {"mlx5_core 0000:1b:00.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, "
     "(Transmitter ID)",
     "bus_error_corrected", kPcieError},
    {"mlx5_core 0000:1b:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction "
     "Layer, (Receiver ID)",
     "bus_error_fatal", kFatal},
    {"mlx5_core 0000:1b:00.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction "
     "Layer, (Requester "
     "ID)",
     "bus_error_uncorrected", kPcieUncorrected},
    {"pcieport 0000:00:1c.0: DPC: containment event, status:0x1f01 source:0x0000", "dpc", kFatal},
    {"pcieport 0000:00:1c.0: pciehp: Slot(5): Link Down", "slot_link_down", kPcieLost},
    {"pcieport 0000:00:1c.0: pciehp: Slot(5): Card not present", "slot_empty", kPcieLost},
    // ixgbe_main.c: the one that does not say "module" behind it
    {"ixgbe 0000:18:00.0: failed to load because an unsupported SFP+ or QSFP module type was "
     "detected.",
     "sfp_unsupported", kModuleRefused},
    // traps 129 to 131 (IBTA 13.4.8.2), in the words of the field
    {"infiniband mlx5_0: trap 129: Local link integrity threshold reached", "link_integrity",
     kFabricTrap},
    {"infiniband mlx5_0: trap 130: Excessive buffer overrun threshold reached", "buffer_overrun",
     kFabricTrap},
    {"infiniband mlx5_0: trap 131: Flow control update watchdog timer expired",
     "flow_control_watchdog", kFabricTrap},
    // drivers of other cards reset theirs for other reasons, too
    {"be2net 0000:18:00.0: adapter reset", "", kNoise},
    // what is nobody's business
    {"audit: type=1400 apparmor=\"DENIED\" operation=\"open\" name=\"/home/x/secret\"", "", kNoise},
    {"mlx5_core 0000:1b:00.0: firmware version: 28.39.1002", "", kNoise},
    {"mlx5_core 0000:1b:00.0: Shutdown was called", "", kNoise},
    {"usb 1-1: USB disconnect, device number 2", "", kNoise},
    {"", "", kNoise},
};

TEST(KernelLogTable, KnowsTheDriversLines) {
  for (const Line& line : kLines) {
    const KernelLogPattern* pattern = classify_kernel_log(line.text);
    EXPECT_EQ(pattern == nullptr ? "" : std::string(pattern->name), line.name) << line.text;
    if (pattern != nullptr) {
      EXPECT_EQ(pattern->what, line.what) << line.text;
    }
  }
}

TEST(KernelLogTable, EveryPatternAnswersALine) {
  std::set<std::string_view> answered;
  for (const Line& line : kLines)
    if (const KernelLogPattern* pattern = classify_kernel_log(line.text))
      answered.insert(pattern->name);
  for (const KernelLogPattern& pattern : kernel_log_patterns())
    EXPECT_TRUE(answered.contains(pattern.name)) << pattern.name << " is told by no line";
}

TEST(KernelLogTable, HasUniqueNamesAndNoPatternThatFitsEverything) {
  std::set<std::string_view> names;
  for (const KernelLogPattern& pattern : kernel_log_patterns()) {
    EXPECT_TRUE(names.insert(pattern.name).second) << pattern.name;
    EXPECT_FALSE(pattern.parts.front().empty()) << pattern.name;
    EXPECT_FALSE(pattern.meaning.empty()) << pattern.name;
  }
}

TEST(KernelLogTable, PartsStandInTheirOrder) {
  EXPECT_EQ(classify_kernel_log("limited by 63.0 Gb/s available PCIe bandwidth"), nullptr);
}

}  // namespace
}  // namespace linkhealth
