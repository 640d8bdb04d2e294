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
constexpr Steps kFibre[] = {{kLook, "check the routing: bends, ties, doors on the fibre"},
                            {kModuleReseated, "reseat both ends of the fibre"},
                            {kFibreReseated, "clean both ends of the fibre"},
                            {kFibreReplaced, "replace the jumper"},
                            {kMoved, "test the trunk with an OTDR and move to another pair"}};
constexpr Steps kOwnLaser[] = {{kPortBounced, "reset or bounce the port once"},
                               {kModuleReseated, "reseat this module ({serial})"},
                               {kModuleReplaced, "replace this module ({serial})"}};
constexpr Steps kFarLaser[] = {{kLook, "read the transmit power at {peer}"},
                               {kFarModuleReseated, "reseat the module at {peer}"},
                               {kFarModuleReplaced, "replace the module at {peer}"}};
constexpr Steps kBadModule[] = {{kPortBounced, "reset the module (or bounce the port)"},
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
constexpr Steps kHot[] = {{kLook, "check fans, inlet temperature and blank panels"},
                          {kLook, "clear the airflow at the cage"},
                          {kModuleReseated, "reseat this module ({serial}): heat sink contact"},
                          {kModuleReplaced, "replace this module ({serial})"}};
constexpr Steps kMissing[] = {{kModuleReseated, "push the module or cable in until it clicks"},
                              {kModuleReplaced, "replace the module or cable"},
                              {kMoved, "try the module in another cage"}};
constexpr Steps kUnsupported[] = {
    {kLook, "compare the part numbers of both ends with the approved list"},
    {kModuleReplaced, "replace this module ({serial}) by an approved one"}};
constexpr Steps kCable[] = {{kModuleReseated, "reseat both ends of the cable ({serial})"},
                            {kModuleReplaced, "replace the cable ({serial})"},
                            {kMoved, "move to another switch port"}};
constexpr Steps kSpeed[] = {
    {kLook, "compare speed and lane settings of both ends (a splitter may be intended)"},
    {kPortBounced, "bounce the port and look which lane is missing"},
    {kModuleReseated, "reseat both ends"},
    {kFibreReplaced, "replace the cable or jumper"},
    {kModuleReplaced, "replace this module ({serial})"}};
constexpr Steps kSettings[] = {
    {kLook, "compare speed, FEC and autonegotiation of this port and {peer}"},
    {kLook, "set both ends alike and bounce the port"}};
constexpr Steps kAdmin[] = {
    {kLook, "nothing to repair: set the port up when the work is done (ip link set … up)", false,
     StepOf::kEthernet},
    {kLook,
     "nothing to repair: enable the port when the work is done (ibportstate LID PORT enable), or "
     "ask who runs the subnet manager",
     false, StepOf::kInfiniBand}};
constexpr Steps kTraining[] = {
    {kPortBounced, "set the port down and up once: it trains again"},
    {kFarPortBounced, "set the port of {peer} down and up once"},
    {kLook,
     "compare the error ratio after each training: only when two in a row end alike is a "
     "part suspect"},
    {kModuleReseated, "reseat this module ({serial})"}};
constexpr Steps kUnplugged[] = {{kLook, "plug the fibre or cable in at both ends"},
                                {kLook, "check the patch record: is it in another port?"},
                                {kLook, "look for light with a power meter"}};
constexpr Steps kFarDown[] = {
    {kLook, "ask the network team: is {peer} set down or rebooting?", true},
    {kLook, "look whether the module at {peer} is there and sends light"}};
constexpr Steps kSwitch[] = {
    {kLook, "ask the network team to check the switch or line card behind {peer}"},
    {kFarPortBounced, "bounce the port at {peer}"},
    {kMoved, "move the cables to another line card or switch"},
    {kSwitchCardReplaced, "replace the line card"}};
constexpr Steps kPcie[] = {
    {kCardReplaced, "power the node off, reseat the card and its riser, and look again"},
    {kLook, "compare the slot's width and speed with the card's, and with the BIOS settings"},
    {kMoved, "try the card in another slot"},
    {kCardReplaced, "replace the card"}};
constexpr Steps kNic[] = {
    {kDriverReloaded, "reload the driver or reset the device (devlink dev reload)"},
    {kLook, "align firmware and driver versions"},
    {kNodeRebooted, "reboot the node"},
    {kCardReplaced, "replace the card"}};
constexpr Steps kHost[] = {{kLook, "look at receive buffers, queue depth and NUMA placement", true},
                           {kLook, "check PCIe speed and what else runs on this node"}};
constexpr Steps kCongestion[] = {{kLook, "look at the traffic pattern and the switch queues", true},
                                 {kLook, "check ECN, PFC and load balancing"}};
constexpr Steps kElsewhere[] = {
    {kLook, "look for the link on the path that has errors of its own", true},
    {kLook, "look at the far nodes that this node talks to"}};
constexpr Steps kWiring[] = {{kLook, "check the plan: is it wrong?"},
                             {kLook, "plug the cable into the port that the plan says"}};
constexpr Steps kProvider[] = {
    {kLook,
     "file a ticket with whoever lends this machine its virtual functions (the cloud provider, "
     "the operator of the hypervisor): linkhealth ticket has the PCI address, GUID and times"},
    {kLook, "do not touch any cable: it is not this machine's"}};
constexpr Steps kBlind[] = {{kLook, "run linkhealth doctor: rights, driver and firmware"},
                            {kLook, "restart the driver's management path"},
                            {kPortBounced, "reset the module if only the module can't be read"}};

constexpr std::string_view kVerifyLight =
    "the lost light is back (1 dB or more), pre-FEC BER back to its normal for 12 minutes, no "
    "uncorrectable block and "
    "no carrier loss for 30 minutes";
constexpr std::string_view kVerifyErrors =
    "pre-FEC BER back to its normal for 12 minutes, no uncorrectable block and no carrier loss for "
    "30 minutes";
constexpr std::string_view kVerifyUp = "the link is up at full speed and stays up for 30 minutes";
constexpr std::string_view kVerifyTraffic =
    "the counters behind it stay quiet for 25 minutes under load";

constexpr std::string_view kCorrOpt =
    "CorrOpt (SIGCOMM 2017): root causes and repair order of corrupting links";

constexpr FaultLife kSlow{.hold = Hold::kNone, .effect = Effect::kDegrades};
constexpr FaultLife kCertain{.hold = Hold::kNone, .certain = true};
// A lane of PCIe does not come back by itself.
constexpr FaultLife kLasting{.hold = Hold::kNone, .effect = Effect::kDegrades};
constexpr FaultLife kDead{.effect = Effect::kStops};
constexpr FaultLife kOfTraffic{.needs_traffic = true};
// The link carries, and the next training may cure it.
constexpr FaultLife kOfTraining{.spares_traffic = true};
constexpr FaultLife kOfWiring{.hold = Hold::kAlways, .spares_traffic = true};
constexpr FaultLife kOfMonitor{
    .hold = Hold::kNone, .effect = Effect::kBlinds, .spares_traffic = true};

constexpr Fault kFaults[] = {
    {FaultId::kHealthy, "healthy", End::kNone, Severity::kNotice, "Healthy", "nothing is wrong",
     kNoSteps, "", "", "judgement"},
    {FaultId::kDirtyConnector, "dirty_connector", End::kPath, Severity::kWarning, "Dirty connector",
     "dirt on a fibre end takes light away, mostly in one direction", kDirty, kVerifyLight,
     "clean one fibre: the light that it brings rises by 1 dB or more", kCorrOpt},
    {FaultId::kDamagedFiber, "damaged_fiber", End::kPath, Severity::kWarning, "Damaged fibre",
     "a bent, crushed or broken fibre takes light away in both directions", kFibre, kVerifyLight,
     "replace the jumper: the light comes back in both directions", kCorrOpt},
    {FaultId::kFailingTransmitter, "failing_transmitter", End::kLocal, Severity::kWarning,
     "Failing transmitter in this module", "a laser of this module gets weaker or is dead",
     kOwnLaser, kVerifyLight,
     "put this module ({serial}) into another port: the weak laser goes with it", kCorrOpt},
    {FaultId::kFailingFarTransmitter, "failing_transmitter", End::kFar, Severity::kWarning,
     "Failing transmitter in the far module", "a laser of the far module gets weaker or is dead",
     kFarLaser, kVerifyLight,
     "put the module of {peer} into another port: the weak laser goes with it", kCorrOpt},
    {FaultId::kBadModule, "bad_module", End::kLocal, Severity::kWarning, "Bad module at this end",
     "errors, flaps or nonsense from this module, though its light is fine", kBadModule,
     kVerifyErrors, "swap this module ({serial}) alone: the errors leave with it",
     "CorrOpt (loose or bad transceiver); NVIDIA Cable Validation Tool (order of checks)"},
    {FaultId::kBadFarModule, "bad_module", End::kFar, Severity::kWarning,
     "Bad module at the far end",
     "errors or flaps that come from the far module, though its light is fine", kBadFarModule,
     kVerifyErrors, "swap the module at {peer} alone: the errors leave with it",
     "CorrOpt (loose or bad transceiver); NVIDIA Cable Validation Tool (order of checks)"},
    {FaultId::kModuleOverheated, "module_overheated", End::kLocal, Severity::kWarning,
     "Overheated module", "this module is hotter than it may be", kHot,
     "module temperature 5 C below its warning for an hour under load",
     "compare it with the neighbouring modules while the airflow is clear: one that stays hot "
     "alone "
     "is at fault",
     "the module's own limits; UFM PDR plugin (70 C, 10 C in 5 minutes)"},
    {FaultId::kModuleMissing, "module_missing", End::kLocal, Severity::kCritical, "Module missing",
     "there is no module in the cage", kMissing, kVerifyUp,
     "push it in: then it can be read ten times in a row",
     "linux: ethtool link_ext_state No cable; mlx5 port module event unplugged"},
    {FaultId::kModuleUnsupported, "module_unsupported", End::kLocal, Severity::kCritical,
     "Unsupported module", "driver or firmware refuses this module", kUnsupported, kVerifyUp,
     "compare the part numbers of both ends with the list of what is approved",
     "linux: mlx5 events.c, bnxt_en, ice: unsupported or unqualified module"},
    {FaultId::kFaultyCable, "faulty_cable", End::kPath, Severity::kWarning, "Faulty cable",
     "the copper or active optical cable is bad", kCable, kVerifyErrors,
     "put a cable that is known to be good in its place: the errors are gone",
     "NVIDIA Cable Validation Tool (order of checks for copper)"},
    {FaultId::kReducedSpeed, "reduced_speed", End::kPath, Severity::kWarning, "Reduced speed",
     "the link runs slower or on fewer lanes", kSpeed, "full speed and width after three bounces",
     "bounce the port and look which lane is missing",
     "IBTA PortInfo active width and speed; linux: ethtool link modes", kSlow},
    {FaultId::kSettingsMismatch, "settings_mismatch", End::kPath, Severity::kCritical,
     "Settings differ",
     "the two ends do not agree on speed, FEC or autonegotiation, or this host holds its module "
     "off",
     kSettings, kVerifyUp, "configure both ends alike: the link comes up without work on the cable",
     "linux: ethtool link_ext_state Autoneg, Link logical mismatch"},
    {FaultId::kAdminDown, "admin_down", End::kLocal, Severity::kNotice, "Set down",
     "an administrator set the port down", kAdmin, "the port is set up and has carrier",
     "look at the administrative state of the port: it says so itself",
     "linux: IFF_UP; IBTA PortPhysicalState Disabled", kCertain},
    {FaultId::kUnplugged, "unplugged", End::kPath, Severity::kCritical, "Unplugged",
     "the fibre or cable is not plugged in", kUnplugged, kVerifyUp,
     "plug it in: there is light, and the neighbour of the plan",
     "linux: ethtool link_ext_state No cable, Serdes ALOS; the module's loss of signal"},
    {FaultId::kFarPortDown, "far_port_down", End::kFar, Severity::kCritical, "Far port down",
     "the far port is set down or its device reboots", kFarDown, kVerifyUp,
     "ask the switch or the subnet manager for the state of {peer}",
     "linux: ethtool link_ext_state No partner detected; IBTA PortPhysicalState Polling"},
    {FaultId::kFarSwitchFault, "far_switch_fault", End::kFar, Severity::kCritical,
     "Far switch at fault", "several links to one switch fail together", kSwitch, kVerifyErrors,
     "move one cable to another switch: the fault stays behind",
     "CorrOpt: co-located links with one symptom share a component"},
    {FaultId::kPcieDegraded, "pcie_degraded", End::kNode, Severity::kWarning, "PCIe degraded",
     "the card runs below its PCIe speed or width, without enough power, or too hot", kPcie,
     "PCIe at full speed and width, no AER errors and no word of heat or power for an hour",
     "look at the other ports of the card: all of them share it, whatever the cables",
     "linux: Documentation/PCI/pcieaer-howto; sysfs current_link_speed and _width", kLasting},
    {FaultId::kNicFault, "nic_fault", End::kNode, Severity::kCritical, "NIC fault",
     "driver, firmware or hardware of the card gave up", kNic,
     "no driver or firmware error for 24 hours",
     "reload the driver or reset the device: the fault ends without work on the cable",
     "linux: mlx5 health.c messages, devlink health reporters", kDead},
    {FaultId::kHostBottleneck, "host_bottleneck", End::kNode, Severity::kNotice, "Host too slow",
     "this host can't take what arrives", kHost, kVerifyTraffic,
     "compare with the load: the drops or pauses follow it, and the link counts no errors",
     "linux: mlx5 counters.rst (rx_discards_phy, out_of_buffer)", kOfTraffic},
    {FaultId::kCongestion, "congestion", End::kFabric, Severity::kNotice, "Congestion",
     "the network can't carry the load", kCongestion, kVerifyTraffic,
     "look at other ports to the same place: several show it under load, and the links count no "
     "errors",
     "IBTA PortXmitWait; linux: mlx5 counters (np_cnp_sent, pause frames)", kOfTraffic},
    {FaultId::kLossElsewhere, "loss_elsewhere", End::kFabric, Severity::kNotice, "Loss elsewhere",
     "packets get lost somewhere else on their way", kElsewhere, kVerifyTraffic,
     "go along the path link by link: one of them counts errors of its own",
     "IBTA PortRcvRemotePhysicalErrors; transport counters without local errors", kOfTraffic},
    {FaultId::kWrongCabling, "wrong_cabling", End::kPath, Severity::kWarning, "Wrong cabling",
     "the cable ends in another port than planned", kWiring,
     "the far end says the name of the plan",
     "compare the name that the far end gives itself with the plan, and look at the label",
     "the plan against LLDP or SMP NodeDescription", kOfWiring},
    {FaultId::kProviderLink, "provider_link", End::kFar, Severity::kCritical,
     "The provider's link failed",
     "the link behind this virtual function is down or drops; card, cable and switch are the "
     "provider's",
     kProvider, kVerifyUp, "ask the provider for the state of the physical port",
     "Azure HPC health checks: a virtual function's link that is down or flaps is a ticket"},
    {FaultId::kMonitorBlind, "monitor_blind", End::kNode, Severity::kWarning, "Monitor blind",
     "this port or its module can't be read", kBlind, "all readings are back for ten minutes",
     "run linkhealth doctor: it reads the source again and says why it fails",
     "what could not be read, and the reason", kOfMonitor},
    {FaultId::kBadTraining, "bad_training", End::kLocal, Severity::kWarning, "Came back worse",
     "since the link trained last, its receiver makes more errors with the light as before; no "
     "part "
     "is known to be bad",
     kTraining, "pre-FEC BER back to its normal for 12 minutes, with the link up for 30 minutes",
     "set the port down and up once: the error ratio is another one, mostly that of before",
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
  constexpr double kSeldom = 0.1;  // of all links that carry
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
