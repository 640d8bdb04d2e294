// "Judgement" is said where no public source gives a number: the value is then ours, measured on
// simulated links (docs/accuracy.md), and every one of them has a knob or stands in a table.
#include "diagnosis/sources.h"

#include <array>
#include <cassert>
#include <utility>

namespace linkhealth {

namespace {

using enum SymptomId;
using Text = std::string_view;

constexpr Text kCorrOpt =
    "CorrOpt (SIGCOMM 2017): root causes and repair order of corrupting links";
constexpr Text kDdm =
    "judgement: DDM is accurate to 3 dB (SFF-8472), so drops against the link's own past count";
constexpr Text kModuleMap = "SFF-8472, SFF-8636, CMIS 5: the module's own flags and limits";
constexpr Text kExtState = "linux: include/uapi/linux/ethtool.h, enum ethtool_link_ext_state";
constexpr Text kPatterns =
    "linux: drivers/net/ethernet/mellanox/mlx5/core/events.c, bnxt_en and ice messages";
constexpr Text kFec =
    "IEEE 802.3 Clauses 91 and 119 (RS-FEC limits); UFM PDR plugin (windows); judgement (ratios)";
constexpr Text kTraffic =
    "linux: drivers/infiniband/hw/mlx5/counters.c, mlx5 counters.rst; judgement (rates)";
constexpr Text kCarrier =
    "linux: net/core/net-sysfs.c (carrier counts); UFM PDR plugin; judgement (counts)";
constexpr Text kGroup = "CorrOpt (shared component); judgement (times)";

constexpr auto kFaults = std::to_array<std::pair<Text, Text>>({
    {"healthy", "judgement"},
    {"dirty_connector", kCorrOpt},
    {"damaged_fiber", kCorrOpt},
    {"failing_transmitter", kCorrOpt},
    {"bad_module",
     "CorrOpt (loose or bad transceiver); NVIDIA Cable Validation Tool (order of checks)"},
    {"module_overheated", "the module's own limits; UFM PDR plugin (70 C, 10 C in 5 minutes)"},
    {"module_missing", "linux: ethtool link_ext_state No cable; mlx5 port module event unplugged"},
    {"module_unsupported", "linux: mlx5 events.c, bnxt_en, ice: unsupported or unqualified module"},
    {"faulty_cable", "NVIDIA Cable Validation Tool (order of checks for copper)"},
    {"reduced_speed", "IBTA PortInfo active width and speed; linux: ethtool link modes"},
    {"settings_mismatch", "linux: ethtool link_ext_state Autoneg, Link logical mismatch"},
    {"admin_down", "linux: IFF_UP; IBTA PortPhysicalState Disabled"},
    {"unplugged",
     "linux: ethtool link_ext_state No cable, Serdes ALOS; the module's loss of signal"},
    {"far_port_down",
     "linux: ethtool link_ext_state No partner detected; IBTA PortPhysicalState Polling"},
    {"far_switch_fault", "CorrOpt: co-located links with one symptom share a component"},
    {"pcie_degraded",
     "linux: Documentation/PCI/pcieaer-howto; sysfs current_link_speed and _width"},
    {"nic_fault", "linux: mlx5 health.c messages, devlink health reporters"},
    {"host_bottleneck", "linux: mlx5 counters.rst (rx_discards_phy, out_of_buffer)"},
    {"congestion", "IBTA PortXmitWait; linux: mlx5 counters (np_cnp_sent, pause frames)"},
    {"loss_elsewhere", "IBTA PortRcvRemotePhysicalErrors; transport counters without local errors"},
    {"wrong_cabling", "the plan against LLDP or SMP NodeDescription"},
    {"monitor_blind", "what could not be read, and the reason"},
});

constexpr auto kSymptoms = std::to_array<std::pair<SymptomId, Text>>({
    {kAdminDown, "linux: IFF_UP"},
    {kLinkDown, "linux: IFF_LOWER_UP; IBTA PortPhysicalState"},
    {kFlaps, kCarrier},
    {kSpeedReduced, "linux: ethtool link modes; IBTA PortInfo; the plan"},
    {kNoPartner, kExtState},
    {kNegotiationFails, kExtState},
    {kTrainingFails, kExtState},
    {kNoFecLock, kExtState},
    {kNoPcsLock, kExtState},
    {kBadSignal, kExtState},
    {kRemoteFault, kExtState},
    {kNoCableReported, kExtState},
    {kUnsupportedReported, kPatterns},
    {kModuleFaultReported, kPatterns},
    {kOverheatReported, kPatterns},
    {kSettingsTouched, "judgement (time after an administrator's change)"},
    {kReceiveErrors, kFec},
    {kLosingData, kFec},
    {kOneLaneErrors, "CorrOpt; NVIDIA Cable Validation Tool; judgement (ratio)"},
    {kErrorBursts, "judgement"},
    {kErrorsBeforeFall, "judgement"},
    {kLinkRecoveries, "IBTA LinkErrorRecoveryCounter; ibqueryerrors' limits"},
    {kFarErrors, "IBTA PortCounters of the far port; judgement (ratio)"},
    {kSnrLow, "CMIS 5 VDM eSNR; judgement (drop)"},
    {kNoLight, kModuleMap},
    {kSomeLanesDark, kModuleMap},
    {kLightThere, kModuleMap},
    {kLightLow, kDdm},
    {kFibresAlike,
     "docs/physics.md 7d: dirt is on one to three fibres of a ferrule, a crushed cable hits all; "
     "judgement"},
    {kLaneReadsDark, kModuleMap},
    {kTxLow, kDdm},
    {kTxFault, kModuleMap},
    {kBiasHigh, "judgement: 20 % above the early value (lasers age at constant power)"},
    {kLaserTires,
     "docs/physics.md 3e, 7d: the current of a laser ends at 1.3 to 1.5 times its first; judgement "
     "(share of heat)"},
    {kTxOff, kModuleMap},
    {kFarTxLow, kDdm},
    {kFarTxOff, kModuleMap},
    {kFarSendsUnheard, kDdm},
    {kFarRxLow, kDdm},
    {kFarRxDark, kModuleMap},
    {kNoLockWithLight, kModuleMap},
    {kModuleAbsent, "SFF-8024 presence; linux: ethtool module EEPROM errors"},
    {kModuleState, "CMIS 5 module state and fault cause"},
    {kModuleHot, "the module's own limits; UFM PDR plugin"},
    {kModuleNew, "module events and serial numbers against the carrier; judgement"},
    {kSupplyLow, "the module's own limits; SFF-8472 (3.3 V, 5 %)"},
    {kSupplyShared, "the modules of one node; judgement (one other module)"},
    {kFarAdminDown, "IBTA PortInfo of the far port"},
    {kFarModuleAbsent, "telemetry of the far end"},
    {kNeighbourDiffers, "LLDP (IEEE 802.1AB) or SMP NodeDescription against the plan"},
    {kPcieReduced, "linux: drivers/pci/pci-sysfs.c (current_link_speed, max_link_speed)"},
    {kPcieErrors, "linux: drivers/pci/pcie/aer.c; judgement (10 an hour)"},
    {kDeviceFatal, "linux: mlx5 health.c, NETDEV WATCHDOG; verbs IBV_EVENT_DEVICE_FATAL"},
    {kDeviceGone, "linux: the device is no longer registered"},
    {kNicHot, "linux: drivers/net/ethernet/mellanox/mlx5/core/events.c (temperature warning)"},
    {kSlotPower, "linux: drivers/net/ethernet/mellanox/mlx5/core/events.c (powered down ports)"},
    {kPcieLost, "linux: drivers/pci/hotplug/pciehp_ctrl.c"},
    {kCardErrors, "IBTA ExcessiveBufferOverrunErrors; judgement (counts)"},
    {kGroupDown, kGroup},
    {kGroupFlaps, kGroup},
    {kGroupErrors, kGroup},
    {kCongested, kTraffic},
    {kHostDrops, kTraffic},
    {kRetries, kTraffic},
    {kForwardedErrors,
     "IBTA PortRcvRemotePhysicalErrors; bad checksums where the link itself lost nothing"},
    {kCountersBlind, "what could not be read"},
    {kModuleBlind, "what could not be read"},
});

constexpr auto kKnobGroups = std::to_array<std::pair<Text, Text>>({
    {"differential",
     "judgement, fitted on simulated links (docs/accuracy.md); docs/adr/0002-differential.md"},
    {"judge", "judgement, fitted on simulated links (docs/accuracy.md)"},
    {"windows",
     "IEEE 802.3 and UFM PDR plugin (error windows), docs/physics.md 3a, 3b, 7; judgement (the "
     "rest)"},
    {"intent", "docs/physics.md 7d (training, boots); judgement"},
    {"trends", "docs/physics.md 7d (ageing of lasers); least squares with 99 %"},
    {"ledger",
     "NVIDIA (30 min to accept a repair); rule of three, docs/physics.md 3b; judgement (holds)"},
    {"repairs", "judgement (as long as errors are judged over)"},
    {"repair_watch", "docs/physics.md 7d (remating moves light by 0.3 dB); judgement (times)"},
});

}  // namespace

std::string_view source_of_knobs(std::string_view group) {
  for (const auto& [name, source] : kKnobGroups)
    if (name == group) return source;
  return {};
}

std::string_view source_of(std::string_view fault) {
  for (const auto& [name, source] : kFaults)
    if (name == fault) return source;
  assert(false);
  return {};
}

std::string_view source_of(SymptomId symptom) {
  for (const auto& [id, source] : kSymptoms)
    if (id == symptom) return source;
  return {};  // a test holds the table complete
}

}  // namespace linkhealth
