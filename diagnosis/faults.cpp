#include "diagnosis/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diagnosis/causes.h"

namespace linkhealth {

namespace {

using Steps = RepairStep;
using enum RepairAction;

// ------------------------------------------------------ ladders of repair, cheapest first
constexpr std::span<const RepairStep> kNoSteps;
constexpr Steps kDirty[] = {
    {kFibreReseated,
     "inspect and clean both ends of the fibre{lane}, and the ports of both modules"},
    {kFibreReplaced, "replace the jumper"},
    {kFarModuleReplaced, "replace the module at {peer}"},
    {kModuleReplaced, "replace this module ({serial})"}};
constexpr Steps kFibre[] = {
    {kLook, "check the fibre's routing for bends, tight ties and pinching doors"},
    {kModuleReseated, "reseat both ends of the fibre"},
    {kFibreReseated, "clean both ends of the fibre"},
    {kFibreReplaced, "replace the jumper"},
    {kMoved, "test the trunk with an OTDR; move to another fibre pair"}};
constexpr Steps kOwnLaser[] = {{kPortBounced, "reset or bounce the port once"},
                               {kModuleReseated, "reseat this module ({serial})"},
                               {kModuleReplaced, "replace this module ({serial})"}};
constexpr Steps kFarLaser[] = {{kLook, "read the Tx power at {peer}"},
                               {kFarModuleReseated, "reseat the module at {peer}"},
                               {kFarModuleReplaced, "replace the module at {peer}"}};
constexpr Steps kBadModule[] = {{kPortBounced, "reset the module or bounce the port"},
                                {kModuleReseated, "reseat this module ({serial})"},
                                {kFibreReseated, "clean both ends of the fibre{lane}"},
                                {kModuleReplaced, "replace this module ({serial})"},
                                {kFarModuleReplaced, "replace the module at {peer}"},
                                {kMoved, "move to another switch port"}};
constexpr Steps kBadFarModule[] = {{kFarPortBounced, "reset the port at {peer}"},
                                   {kFarModuleReseated, "reseat the module at {peer}"},
                                   {kFibreReseated, "clean both ends of the fibre{lane}"},
                                   {kFarModuleReplaced, "replace the module at {peer}"},
                                   {kModuleReplaced, "replace this module ({serial})"}};
constexpr Steps kHot[] = {
    {kLook, "check fans, inlet temperature and blank panels"},
    {kLook, "clear the airflow around the cage"},
    {kModuleReseated, "reseat this module ({serial}) and check its heat sink contact"},
    {kModuleReplaced, "replace this module ({serial})"}};
constexpr Steps kMissing[] = {{kModuleReseated, "push the module or cable in until it clicks"},
                              {kModuleReplaced, "replace the module or cable"},
                              {kMoved, "try the module in another cage"}};
constexpr Steps kUnsupported[] = {
    {kLook, "compare the part numbers of both ends with the approved list"},
    {kModuleReplaced, "replace this module ({serial}) with an approved one"}};
constexpr Steps kCable[] = {{kModuleReseated, "reseat both ends of the cable ({serial})"},
                            {kModuleReplaced, "replace the cable ({serial})"},
                            {kMoved, "move to another switch port"}};
constexpr Steps kSpeed[] = {
    {kLook, "compare speed and lane settings of both ends (a splitter cable may be intended)"},
    {kPortBounced, "bounce the port and check which lane is missing"},
    {kModuleReseated, "reseat both ends"},
    {kFibreReplaced, "replace the cable or jumper"},
    {kModuleReplaced, "replace this module ({serial})"}};
constexpr Steps kSettings[] = {
    {kLook, "compare speed, FEC and autonegotiation of this port and {peer}"},
    {kLook, "configure both ends identically and bounce the port"}};
constexpr Steps kAdmin[] = {
    {kLook, "nothing to repair: enable the port when the work is done (ip link set … up)", false,
     StepOf::kEthernet},
    {kLook,
     "nothing to repair: enable the port when the work is done (ibportstate LID PORT enable), or "
     "ask the operator of the subnet manager",
     false, StepOf::kInfiniBand}};
constexpr Steps kTraining[] = {{kPortBounced, "bounce the port once so that the link retrains"},
                               {kFarPortBounced, "bounce the port of {peer} once"},
                               {kLook,
                                "compare the BER after each training: suspect a part only when two "
                                "in a row give the same result"},
                               {kModuleReseated, "reseat this module ({serial})"}};
constexpr Steps kUnplugged[] = {{kLook, "plug the fibre or cable in at both ends"},
                                {kLook, "check the patch record: is it plugged into another port?"},
                                {kLook, "check for light with a power meter"}};
constexpr Steps kFarDown[] = {
    {kLook, "ask the network team: is {peer} administratively down or rebooting?", true},
    {kLook, "check that the module at {peer} is present and transmits"}};
constexpr Steps kSwitch[] = {
    {kLook, "ask the network team to check the switch or line card behind {peer}"},
    {kFarPortBounced, "bounce the port at {peer}"},
    {kMoved, "move the cables to another line card or switch"},
    {kSwitchCardReplaced, "replace the line card"}};
constexpr Steps kPcie[] = {
    {kCardReplaced, "power the node off, reseat the card and its riser, and check again"},
    {kLook, "compare the slot's width and speed with the card's and with the BIOS settings"},
    {kMoved, "try the card in another slot"},
    {kCardReplaced, "replace the card"}};
constexpr Steps kNic[] = {
    {kDriverReloaded, "reload the driver or reset the device (devlink dev reload)"},
    {kLook, "align firmware and driver versions"},
    {kNodeRebooted, "reboot the node"},
    {kCardReplaced, "replace the card"}};
constexpr Steps kHost[] = {{kLook, "check receive buffers, queue depth and NUMA placement", true},
                           {kLook, "check PCIe speed and the other load on this node"}};
constexpr Steps kCongestion[] = {{kLook, "check the traffic pattern and the switch queues", true},
                                 {kLook, "check ECN, PFC and load balancing"}};
constexpr Steps kElsewhere[] = {
    {kLook, "find the link on the path that counts its own errors", true},
    {kLook, "check the nodes that this node communicates with"}};
constexpr Steps kWiring[] = {{kLook, "check whether the plan is wrong"},
                             {kLook, "plug the cable into the planned port"}};
constexpr Steps kProvider[] = {
    {kLook,
     "open a case with the provider of the virtual function (cloud or hypervisor operator): "
     "linkhealth ticket lists the PCI address, GUID and times"},
    {kLook, "do not touch any cable: the physical link belongs to the provider"}};
constexpr Steps kBlind[] = {
    {kLook, "run linkhealth doctor: it checks permissions, driver and firmware"},
    {kLook, "restart the driver's management path"},
    {kPortBounced, "reset the module if it alone is unreadable"}};

constexpr std::string_view kVerifyLight =
    "Rx power recovers by at least 1 dB, pre-FEC BER is back at its baseline for 12 minutes, and "
    "there is no uncorrectable block or carrier loss for 30 minutes";
constexpr std::string_view kVerifyOwnLaser =
    "Tx power and bias of this module and the Rx power of the far end are back at their baselines, "
    "and there is no uncorrectable block or carrier loss for 30 minutes";
constexpr std::string_view kVerifyErrors =
    "pre-FEC BER is back at its baseline for 12 minutes, and there is no uncorrectable block or "
    "carrier loss for 30 minutes";
constexpr std::string_view kVerifyUp = "the link is up at full speed for 30 minutes";
constexpr std::string_view kVerifyTraffic =
    "the counters concerned do not increase for 25 minutes under load";

constexpr std::string_view kCorrOpt =
    "CorrOpt (SIGCOMM 2017): root causes and repair order of corrupting links";

constexpr FaultLife kSlow{.hold = Hold::kNone, .effect = Effect::kDegrades};
constexpr FaultLife kCertain{.hold = Hold::kNone, .certain = true};
// A PCIe lane does not come back by itself.
constexpr FaultLife kLasting{.hold = Hold::kNone, .effect = Effect::kDegrades};
constexpr FaultLife kDead{.effect = Effect::kStops};
constexpr FaultLife kOfTraffic{.needs_traffic = true};
// The link is up, and the next training may cure it.
constexpr FaultLife kOfTraining{.spares_traffic = true};
constexpr FaultLife kOfWiring{.hold = Hold::kAlways, .spares_traffic = true};
constexpr FaultLife kOfMonitor{
    .hold = Hold::kNone, .effect = Effect::kBlinds, .spares_traffic = true};

constexpr Fault kFaults[] = {
    {FaultId::kHealthy, "healthy", End::kNone, Severity::kNotice, "Healthy", "nothing is wrong",
     kNoSteps, "", "", "judgement"},
    {FaultId::kDirtyConnector, "dirty_connector", End::kPath, Severity::kWarning, "Dirty connector",
     "dirt on a fibre end face attenuates the light, usually in one direction", kDirty,
     kVerifyLight, "clean one fibre: its Rx power should rise by 1 dB or more", kCorrOpt},
    {FaultId::kDamagedFiber, "damaged_fiber", End::kPath, Severity::kWarning, "Damaged fibre",
     "a bent, crushed or broken fibre attenuates the light in both directions", kFibre,
     kVerifyLight, "replace the jumper: light should recover in both directions", kCorrOpt},
    {FaultId::kFailingTransmitter, "failing_transmitter", End::kLocal, Severity::kWarning,
     "Failing transmitter in this module", "a laser of this module is weakening or dead", kOwnLaser,
     kVerifyOwnLaser,
     "move this module ({serial}) to another port: the weak laser should follow it", kCorrOpt},
    {FaultId::kFailingFarTransmitter, "failing_transmitter", End::kFar, Severity::kWarning,
     "Failing transmitter in the far module", "a laser of the far module is weakening or dead",
     kFarLaser, kVerifyLight,
     "move the module of {peer} to another port: the weak laser should follow it", kCorrOpt},
    {FaultId::kBadModule, "bad_module", End::kLocal, Severity::kWarning, "Bad module at this end",
     "this module causes errors or flaps, or reports implausible data, at normal light levels",
     kBadModule, kVerifyErrors, "swap only this module ({serial}): the errors should follow it",
     "CorrOpt (loose or bad transceiver); NVIDIA Cable Validation Tool (order of checks)"},
    {FaultId::kBadFarModule, "bad_module", End::kFar, Severity::kWarning,
     "Bad module at the far end", "the far module causes errors or flaps at normal light levels",
     kBadFarModule, kVerifyErrors, "swap only the module at {peer}: the errors should follow it",
     "CorrOpt (loose or bad transceiver); NVIDIA Cable Validation Tool (order of checks)"},
    {FaultId::kModuleOverheated, "module_overheated", End::kLocal, Severity::kWarning,
     "Overheated module", "this module is above its temperature limit", kHot,
     "module temperature stays 5 °C below its warning level for 1 h under load",
     "with clear airflow, compare it with the neighbouring modules: if it alone stays hot, it is "
     "faulty",
     "the module's own limits; UFM PDR plugin (70 C, 10 C in 5 minutes)"},
    {FaultId::kModuleMissing, "module_missing", End::kLocal, Severity::kCritical, "Module missing",
     "no module in the cage", kMissing, kVerifyUp,
     "insert it: it should read correctly ten times in a row",
     "linux: ethtool link_ext_state No cable; mlx5 port module event unplugged"},
    {FaultId::kModuleUnsupported, "module_unsupported", End::kLocal, Severity::kCritical,
     "Unsupported module", "driver or firmware rejects this module", kUnsupported, kVerifyUp,
     "compare the part numbers of both ends with the approved list",
     "linux: mlx5 events.c, bnxt_en, ice: unsupported or unqualified module"},
    {FaultId::kFaultyCable, "faulty_cable", End::kPath, Severity::kWarning, "Faulty cable",
     "the copper or active optical cable is faulty", kCable, kVerifyErrors,
     "replace it with a known-good cable: the errors should stop",
     "NVIDIA Cable Validation Tool (order of checks for copper)"},
    {FaultId::kReducedSpeed, "reduced_speed", End::kPath, Severity::kWarning, "Reduced speed",
     "the link runs at reduced speed or on fewer lanes", kSpeed,
     "full speed and width after each of three bounces",
     "bounce the port and check which lane is missing",
     "IBTA PortInfo active width and speed; linux: ethtool link modes", kSlow},
    {FaultId::kSettingsMismatch, "settings_mismatch", End::kPath, Severity::kCritical,
     "Settings mismatch",
     "the two ends differ in speed, FEC or autonegotiation, or this host keeps its module disabled",
     kSettings, kVerifyUp,
     "configure both ends identically: the link should come up without work on the cable",
     "linux: ethtool link_ext_state Autoneg, Link logical mismatch"},
    {FaultId::kAdminDown, "admin_down", End::kLocal, Severity::kNotice, "Administratively down",
     "an administrator disabled the port", kAdmin, "the port is enabled and has carrier",
     "check the administrative state of the port", "linux: IFF_UP; IBTA PortPhysicalState Disabled",
     kCertain},
    {FaultId::kUnplugged, "unplugged", End::kPath, Severity::kCritical, "Unplugged",
     "the fibre, the cable or the module is not plugged in", kUnplugged, kVerifyUp,
     "plug it in: light returns and the far end is the planned one",
     "linux: ethtool link_ext_state No cable, Serdes ALOS; the module's loss of signal"},
    {FaultId::kFarPortDown, "far_port_down", End::kFar, Severity::kCritical, "Far port down",
     "the far port is administratively down, or its device is rebooting", kFarDown, kVerifyUp,
     "ask the switch or the subnet manager for the state of {peer}",
     "linux: ethtool link_ext_state No partner detected; IBTA PortPhysicalState Polling"},
    {FaultId::kFarSwitchFault, "far_switch_fault", End::kFar, Severity::kCritical,
     "Far switch fault", "several links to the same switch fail together", kSwitch, kVerifyErrors,
     "move one cable to another switch: the fault should not follow it",
     "CorrOpt: co-located links with one symptom share a component"},
    {FaultId::kPcieDegraded, "pcie_degraded", End::kNode, Severity::kWarning, "PCIe degraded",
     "the card runs below its PCIe speed or width, lacks power, or is too hot", kPcie,
     "PCIe at full speed and width, with no AER error and no heat or power message for 1 h",
     "check the other ports of the card: all should be affected, whatever their cables",
     "linux: Documentation/PCI/pcieaer-howto; sysfs current_link_speed and _width", kLasting},
    {FaultId::kNicFault, "nic_fault", End::kNode, Severity::kCritical, "NIC fault",
     "driver, firmware or hardware of the card failed", kNic,
     "no driver or firmware error for 24 hours",
     "reload the driver or reset the device: the fault should clear without work on the cable",
     "linux: mlx5 health.c messages, devlink health reporters", kDead},
    {FaultId::kHostBottleneck, "host_bottleneck", End::kNode, Severity::kNotice, "Host bottleneck",
     "this host cannot absorb the traffic that it receives", kHost, kVerifyTraffic,
     "compare with the load: drops or pauses should follow it while the link counts no errors",
     "linux: mlx5 counters.rst (rx_discards_phy, out_of_buffer)", kOfTraffic},
    {FaultId::kCongestion, "congestion", End::kFabric, Severity::kNotice, "Congestion",
     "the network cannot carry the load", kCongestion, kVerifyTraffic,
     "check other ports to the same destination: several should show it under load while their "
     "links count no errors",
     "IBTA PortXmitWait; linux: mlx5 counters (np_cnp_sent, pause frames)", kOfTraffic},
    {FaultId::kLossElsewhere, "loss_elsewhere", End::kFabric, Severity::kNotice, "Loss elsewhere",
     "packets are lost elsewhere on their path", kElsewhere, kVerifyTraffic,
     "check the path link by link: one of them counts its own errors",
     "IBTA PortRcvRemotePhysicalErrors; transport counters without local errors", kOfTraffic},
    {FaultId::kWrongCabling, "wrong_cabling", End::kPath, Severity::kWarning, "Wrong cabling",
     "the cable is plugged into a port other than the planned one", kWiring,
     "the far end reports the planned name",
     "compare the name that the far end reports with the plan and with the cable label",
     "the plan against LLDP or SMP NodeDescription", kOfWiring},
    {FaultId::kProviderLink, "provider_link", End::kFar, Severity::kCritical,
     "Provider link failed",
     "the physical link behind this virtual function is down or flapping; card, cable and switch "
     "belong to the provider",
     kProvider, kVerifyUp, "ask the provider for the state of the physical port",
     "Azure HPC health checks: a virtual function's link that is down or flaps is a ticket"},
    {FaultId::kMonitorBlind, "monitor_blind", End::kNode, Severity::kWarning, "Port unreadable",
     "this port or its module cannot be read", kBlind, "all sources are readable for 10 minutes",
     "run linkhealth doctor: it reads the source again and reports why it fails",
     "the sources that could not be read, with the reason", kOfMonitor},
    {FaultId::kBadTraining, "bad_training", End::kLocal, Severity::kWarning, "Bad link training",
     "since the last link training the receiver makes more errors at unchanged light; no part is "
     "known to be faulty",
     kTraining,
     "pre-FEC BER is back at its baseline for 12 minutes and the link stays up for 30 minutes",
     "bounce the port once: the BER should change, usually back to its former level",
     "sonic-net/sonic-mgmt PR 26555 (LPO and AOC links; a port bounce cures it)", kOfTraining},
};

}  // namespace

std::span<const Fault> fault_table() { return kFaults; }

const Fault* find_fault(std::string_view name, End end) {
  const auto row = std::ranges::find_if(
      kFaults, [&](const Fault& fault) { return fault.name == name && fault.end == end; });
  return row == std::end(kFaults) ? nullptr : row;
}

std::string fill_in(std::string_view text, std::string_view lane, std::string_view peer,
                    std::string_view serial) {
  std::string out(text);
  const std::string number = serial.empty() ? "" : fmt::format(" (SN {})", serial);
  for (const auto& [name, value] : {std::pair<std::string_view, std::string_view>{"{lane}", lane},
                                    {"{peer}", peer},
                                    {" ({serial})", number}})
    for (auto at = out.find(name); at != std::string::npos; at = out.find(name, at + value.size()))
      out.replace(at, name.size(), value);
  return out;
}

bool means_down(const Fault& fault) {
  constexpr double kSeldom = 0.1;  // of all links that are up
  return fault.id != FaultId::kHealthy &&
         std::ranges::all_of(cause_table(), [&fault](const Cause& cause) {
           return cause.fault != fault.id || cause.prior_up <= kSeldom;
         });
}

bool includes(RepairAction done, RepairAction step) {
  if (step == done) return step != kLook;
  switch (done) {
    case kDriverReloaded:
    case kModuleReseated:
      return step == kPortBounced;
    case kNodeRebooted:
      return step == kPortBounced || step == kDriverReloaded;
    case kFibreReseated:
    case kModuleReplaced:
      return step == kPortBounced || step == kModuleReseated;
    case kFarModuleReplaced:
      return step == kFarPortBounced || step == kFarModuleReseated;
    default:
      return false;
  }
}

namespace {

bool can_be_done(const RepairStep& step, std::string_view link_layer) {
  if (step.of == StepOf::kAnyPort || link_layer.empty()) return true;
  return (step.of == StepOf::kInfiniBand) == (link_layer == "InfiniBand");
}

}  // namespace

std::vector<const RepairStep*> steps_left(std::span<const RepairStep> ladder,
                                          std::span<const RepairAction> failed,
                                          std::string_view link_layer) {
  std::vector<const RepairStep*> steps;
  const RepairStep* last = nullptr;
  for (const RepairStep& step : ladder) {
    if (!can_be_done(step, link_layer)) continue;
    last = &step;
    if (std::ranges::none_of(
            failed, [&step](RepairAction action) { return includes(action, step.action); }))
      steps.push_back(&step);
  }
  if (steps.empty() && last != nullptr) steps.push_back(last);
  return steps;
}

}  // namespace linkhealth
