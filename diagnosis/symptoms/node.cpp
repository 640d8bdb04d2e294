// Symptoms of the node: PCIe, driver and firmware; what the monitor itself can't see.
#include <algorithm>
#include <cmath>

#include "diagnosis/symptoms/families.h"
#include "model/kernel_log.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;

constexpr Knob kPcieKnobs[] = {
    {"reads", 2, 1, 100, "", "readings one after the other: power saving lowers the speed for a moment"},
    {"busy_share", 0.02, 0, 1, "",
     "of the line rate: a port that carries so much saves no power, one reading is enough"}};

/// Lanes are lost by training, not by power saving; the speed is lowered by power saving, but not under load.
double pcie_reads_needed(const PortView& v, KnobValues k) {
  const auto& pcie = *v.port.latest.pcie;
  if (pcie.width && pcie.max_width && *pcie.width < *pcie.max_width) return 1;
  const bool busy = !v.port.intervals.empty() && v.port.intervals.back().utilization > k[1];
  return busy ? 1 : k[0];
}
Finding pcie_reduced(const PortView& v, KnobValues k) {
  const auto& pcie = v.port.latest.pcie;
  if (!pcie || (!pcie->speed_gtps && !pcie->width)) return not_known("PCIe speed and width are not known");
  if (v.port.pcie_low_reads == 0) return Case(Reader::kPcie).holds("below what both ends can do", false).close();
  Case found(Reader::kPcie);
  found.at_least("readings in a row", static_cast<double>(v.port.pcie_low_reads), pcie_reads_needed(v, k));
  if (pcie->width && pcie->max_width && *pcie->width < *pcie->max_width)
    return found.below("PCIe width", *pcie->width, *pcie->max_width, "lanes").close();
  return found.below("PCIe speed", pcie->speed_gtps, pcie->max_speed_gtps.value_or(0), "GT/s").close();
}

constexpr Knob kAerKnobs[] = {
    {"per_h", 10, 1, 1e6, "", "PCIe errors in an hour; an uncorrectable one counts a hundred (docs/physics.md 3g)"}};
Finding pcie_errors(const PortView& v, KnobValues k) {
  if (v.port.aer.size() < 2) return not_known("PCIe error counts are not known");
  return Case(Reader::kPcie)
      .at_least("PCIe errors in an hour", v.port.aer.back().second - v.port.aer.front().second, k[0])
      .close();
}

// device_fatal: holds until the device was started anew and carries. A queue that was stuck once and moves is past.
constexpr Knob kFatalKnobs[] = {{"queue_s", 86400, 600, 604800, "s",
                                 "a stuck transmit queue that is not said again for so long, on a link that carries"}};
Finding device_fatal(const PortView& v, KnobValues k) {
  if (v.up && v.port.fatal_queue && v.port.fatal_at && in_seconds(v.now - *v.port.fatal_at) > k[0])
    return Case(Reader::kEvents)
        .below("seconds since a queue was stuck", in_seconds(v.now - *v.port.fatal_at), k[0])
        .close();
  return Case(Reader::kEvents).holds("driver or firmware reported a fatal error", v.port.fatal_at.has_value()).close();
}

/// A line of the kernel log that holds until it is old: it is said again while its cause lasts.
Finding says(const PortView& v, KernelLogClass what, std::string_view words, double hold_s) {
  const bool said = std::any_of(v.port.kernel_log.begin(), v.port.kernel_log.end(), [&](const auto& line) {
    return in_seconds(v.now - line.first) <= hold_s && is_kernel_log(line.second, what);
  });
  return Case(Reader::kEvents).holds(words, said).close();
}
constexpr Knob kHotKnobs[] = {{"hold_s", 3600, 60, 86400, "s", "how long a line that is not said again counts"}};
Finding nic_hot(const PortView& v, KnobValues k) {
  return says(v, KernelLogClass::kNicHot, "the kernel log says that the card is too hot", k[0]);
}
// slot_power: said once. It holds while the link is down; a port that carries has its power.
Finding slot_power(const PortView& v, KnobValues) {
  if (v.up) return Case(Reader::kEvents).holds("ports are off: the slot gives too little power", false).close();
  const double since_boot_s = v.port.last_reboot ? in_seconds(v.now - *v.port.last_reboot) : 1e18;
  return says(v, KernelLogClass::kPortPower, "ports are off: the slot gives too little power", since_boot_s);
}
constexpr Knob kLostKnobs[] = {{"hold_s", 86400, 60, 604800, "s", "how long the line counts while the device is away"}};
Finding pcie_lost(const PortView& v, KnobValues k) {
  return says(v, KernelLogClass::kPcieLost, "the PCIe link of the slot went down", v.port.present ? -1 : k[0]);
}

// device_gone: the device is not there any more, for longer than a driver reload takes.
constexpr Knob kGoneKnobs[] = {{"reload_s", 180, 10, 3600, "s", "how long a driver reload may take"}};
Finding device_gone(const PortView& v, KnobValues k) {
  if (v.port.present) return Case(Reader::kMonitor).holds("the device is gone", false).close();
  return Case(Reader::kMonitor)
      .above("seconds since the device went", in_seconds(v.now - v.port.absent_since.value_or(v.now)), k[0], "s")
      .close();
}

// counters_blind: the port's counters or its link state can't be read, for whatever reason.
constexpr Knob kBlindKnobs[] = {
    {"attempts", 4, 1, 100, "", "failed readings one after the other"},
    {"hold_s", 300, 10, 86400, "s", "for so long: a busy device is not blindness"},
    {"refused_hold_s", 45, 10, 86400, "s",
     "the same for EPERM and EACCES, and half the readings: a right that is missing does not come back"}};
Finding blind(const PortView& v, double attempts, double hold_s, std::span<const std::string_view> probes) {
  const Blindness* worst = nullptr;
  for (const std::string_view probe : probes)
    if (const auto at = v.port.blind.find(std::string(probe)); at != v.port.blind.end())
      if (worst == nullptr || at->second.since < worst->since) worst = &at->second;
  if (worst == nullptr) return Case(Reader::kMonitor).holds("reading fails", false).close();
  return Case(Reader::kMonitor)
      .at_least("failed readings", static_cast<double>(worst->attempts), attempts)
      .at_least("failing since", in_seconds(worst->last - worst->since), hold_s, "s")
      .close();
}
Finding counters_blind(const PortView& v, KnobValues k) {
  if (v.port.device_gone_at || !v.port.present) return not_known("the device is gone");
  constexpr std::string_view kProbes[] = {"counters", "link"};
  const bool refused = std::any_of(std::begin(kProbes), std::end(kProbes), [&v](std::string_view probe) {
    const auto at = v.port.blind.find(std::string(probe));
    return at != v.port.blind.end() && (at->second.reason == "EPERM" || at->second.reason == "EACCES");
  });
  return blind(v, refused ? k[0] / 2 : k[0], refused ? k[2] : k[1], kProbes);
}
constexpr Knob kModuleBlindKnobs[] = {
    {"attempts", 4, 1, 100, "", "failed readings one after the other"},
    {"hold_s", 900, 10, 86400, "s", "for so long"},
    {"busy_hold_s", 10800, 10, 86400, "s",
     "the same for EBUSY: another reader or a firmware update has the bus, that passes"},
    {"down_hold_s", 120, 10, 86400, "s", "the same while the link is down: a module that dies takes the link along"}};
Finding module_blind(const PortView& v, KnobValues k) {
  constexpr std::string_view kProbes[] = {"module"};
  const auto at = v.port.blind.find("module");
  const bool busy = at != v.port.blind.end() && at->second.reason == "EBUSY";
  const bool fell_with_it = v.down && at != v.port.blind.end() && v.port.carrier_since &&
                            std::abs(in_seconds(at->second.since - *v.port.carrier_since)) < k[3];
  return blind(v, k[0], busy ? k[2] : fell_with_it ? k[3] : k[1], kProbes);
}

constexpr Symptom kNodeRows[] = {
    {kPcieReduced, "pcie_reduced", "PCIe runs slower or narrower than it could", kPcieKnobs, &pcie_reduced,
     "lspci -vv"},
    {kPcieErrors, "pcie_errors", "PCIe reports errors", kAerKnobs, &pcie_errors, ""},
    {kDeviceFatal, "device_fatal", "driver or firmware gave up", kFatalKnobs, &device_fatal, ""},
    {kDeviceGone, "device_gone", "the device is not there any more", kGoneKnobs, &device_gone, ""},
    {kNicHot, "nic_hot", "the card is too hot", kHotKnobs, &nic_hot, ""},
    {kSlotPower, "slot_power", "the slot gives too little power", {}, &slot_power, ""},
    {kPcieLost, "pcie_lost", "the PCIe link of the slot went down", kLostKnobs, &pcie_lost, ""},
};
constexpr Symptom kMonitorRows[] = {
    {kCountersBlind, "counters_blind", "counters or link state can't be read", kBlindKnobs, &counters_blind, ""},
    {kModuleBlind, "module_blind", "the module can't be read", kModuleBlindKnobs, &module_blind, ""},
};

}  // namespace

constinit const std::span<const Symptom> kNodeFamily = kNodeRows;
constinit const std::span<const Symptom> kMonitorFamily = kMonitorRows;

}  // namespace linkhealth::symptoms
