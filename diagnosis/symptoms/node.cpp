// Symptoms of the node: PCIe, driver and firmware; what the monitor itself can't see.
#include <algorithm>
#include <cmath>

#include "diagnosis/symptoms/families.h"
#include "diagnosis/symptoms/log_words.h"
#include "model/kernel_log.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;

constexpr Knob kPcieKnobs[] = {
    {"reads", 2, 1, 100, "",
     "readings one after the other: power saving lowers the speed for a moment"},
    {"busy_share", 0.02, 0, 1, "",
     "of the line rate: a port that carries so much saves no power, one reading is enough"},
    {"busy_s", 600, 10, 3600, "s",
     "or so long without a pause while PCIe was low: it is read once in five minutes at least"},
    {"idle_s", 900, 0, 86400, "s",
     "where its load is not known, the speed must be low for so long (docs/physics.md 3g)"}};

bool is_narrow(const PcieSample& pcie) {
  return pcie.width && pcie.max_width && *pcie.width < *pcie.max_width;
}

/// Whether the port carried so much before and after PCIe was found low: what wakes up just now may
/// still be slow, and what has just fallen idle may sleep. nullopt: not known.
std::optional<bool> busy_when_read(const PortView& v, double share) {
  const auto& intervals = v.port.counters.intervals;
  if (intervals.size() < 3 || std::isnan(intervals.back().utilization()) || !v.port.pcie_at)
    return std::nullopt;
  const auto busy = [share](const Interval& interval) { return interval.utilization() > share; };
  const SteadyTime read = *v.port.pcie_at;
  const auto after =
      std::ranges::find_if(intervals, [read](const Interval& one) { return one.begin >= read; });
  if (after - intervals.begin() < 2) return false;
  if (after != intervals.end()) return busy(*after) && busy(*(after - 1)) && busy(*(after - 2));
  // It is read each time: low before the newest interval and at its end.
  const Interval& newest = intervals.back();
  const bool still = v.port.device.pcie_low_since &&
                     *v.port.device.pcie_low_since <= newest.begin && newest.end <= read;
  return still && busy(newest) && busy(*(after - 2));
}
/// The longest time without a pause that the port carried so much while PCIe was low.
double busy_while_low_s(const PortView& v, double share) {
  double longest = 0, run = 0;
  for (const Interval& interval : v.port.counters.intervals) {
    if (!v.port.device.pcie_low_since || interval.begin < *v.port.device.pcie_low_since) continue;
    run = interval.utilization() > share ? run + interval.seconds() : 0;
    longest = std::max(longest, run);
  }
  return longest;
}
Finding pcie_reduced(const PortView& v, KnobValues k) {
  const auto& pcie = v.port.latest.pcie;
  if (!pcie || (!pcie->speed_gtps && !pcie->width))
    return not_known("PCIe speed and width are not known");
  if (v.port.device.pcie_low_reads == 0)
    return Case(Reader::kPcie).holds("below what both ends can do", false).close();
  Case found(Reader::kPcie);
  // Lanes are lost by training, not by power saving; the speed is lowered by power saving, but not
  // under load.
  const std::optional<bool> busy = busy_when_read(v, k[1]);
  const bool at_once = is_narrow(*pcie) || busy == true || busy_while_low_s(v, k[1]) >= k[2];
  if (!at_once && busy) return not_known("the port is idle, and may save power");
  found.at_least("readings in a row", static_cast<double>(v.port.device.pcie_low_reads),
                 at_once ? 1 : k[0]);
  if (!at_once)
    found.at_least("low since", in_seconds(v.now - v.port.device.pcie_low_since.value_or(v.now)),
                   k[3], "s");
  if (is_narrow(*pcie))
    return found.below("PCIe width", *pcie->width, *pcie->max_width, "lanes").close();
  return found.below("PCIe speed", pcie->speed_gtps, pcie->max_speed_gtps.value_or(0), "GT/s")
      .close();
}

/// A line of the kernel log that holds until it is old: it is said again while its cause lasts.
bool said(const PortView& v, KernelLogClass what, double hold_s) {
  return std::ranges::any_of(v.port.device.kernel_log, [&](const auto& line) {
    return in_seconds(v.now - line.first) <= hold_s && is_kernel_log(line.second, what);
  });
}
Finding says(const PortView& v, KernelLogClass what, StaticText words, double hold_s) {
  return Case(Reader::kEvents).holds(words, said(v, what, hold_s)).close();
}

constexpr Knob kAerKnobs[] = {
    {"per_h", 10, 1, 1e6, "",
     "PCIe errors in an hour; an uncorrectable one counts a hundred (docs/physics.md 3g)"},
    {"sure_nats", 9.2, 1, 100, "",
     "evidence for that rate against a tenth of it, in nats: a sequential test, wrong once in "
     "10,000 times"},
    {"intervals", 4, 1, 1000, "", "with errors that the card itself counts"},
    {"span_s", 300, 0, 3600, "s", "between the first and the last of these"},
    {"said_s", 3600, 60, 86400, "s",
     "how long an uncorrectable error counts that the kernel log says"}};
/// The most that any stretch up to now says for `per_h` errors against a tenth of that.
double evidence_nats(const PortView& v, double per_h) {
  double most = 0;
  for (const auto& [t, count] : v.port.device.pcie_errors) {
    const double hours = in_seconds(v.port.device.pcie_errors.back().first - t) / 3600;
    most = std::max(most, (v.port.device.pcie_errors.back().second - count) * std::log(10.0) -
                              0.9 * per_h * hours);
  }
  return most;
}
Finding pcie_errors(const PortView& v, KnobValues k) {
  if (const Repeated& card = v.signal.pcie_damage;
      card.events >= k[0] && static_cast<double>(card.intervals) >= k[2] && card.span_s() >= k[3])
    return Case(Reader::kCounters)
        .at_least("PCIe errors that the card counted in an hour", card.events, k[0])
        .close();
  if (said(v, KernelLogClass::kPcieUncorrected, k[4]))
    return Case(Reader::kEvents)
        .holds("the kernel log says that a PCIe transaction was lost", true)
        .close();
  if (v.port.device.pcie_errors.size() < 2) return not_known("PCIe error counts are not known");
  const double in_an_hour =
      v.port.device.pcie_errors.back().second - v.port.device.pcie_errors.front().second;
  const double nats = evidence_nats(v, k[0]);
  if (in_an_hour < k[0] && nats >= k[1])
    return Case(Reader::kPcie)
        .at_least("evidence that PCIe errors come as often as that", nats, k[1])
        .close();
  return Case(Reader::kPcie)
      .at_least("PCIe errors in an hour",
                v.port.device.pcie_errors.back().second - v.port.device.pcie_errors.front().second,
                k[0])
      .close();
}

// device_fatal: holds until the device was started anew and carries, or works on
// (PortHistory::note_life). A queue that was stuck once and moves is past. That a card starts anew
// again and again is no repair, and nobody's work.
constexpr Knob kFatalKnobs[] = {
    {"queue_s", 86400, 600, 604800, "s",
     "a stuck transmit queue that is not said again for so long, on a link that carries"},
    {"repeats", 3, 2, 8, "", "separate fatal errors: starting anew does not help"},
    {"repeats_s", 10800, 600, 604800, "s", "within so long"},
    {"old_s", 120, 30, 3600, "s",
     "the kernel's log has an error from before the start and the link carries: for so "
     "long its counters may show that the card works"}};
/// So many fatal errors of the card itself lie so near that it is not well, though it carries just
/// now.
std::size_t fatals_within(const PortHistory& port, SteadyTime now, double seconds) {
  return static_cast<std::size_t>(std::ranges::count_if(port.device.fatal_times, [&](SteadyTime t) {
    return in_seconds(now - t) <= seconds &&
           (!port.carrier.reboot_at || t > *port.carrier.reboot_at);
  }));
}
Finding device_fatal(const PortView& v, KnobValues k) {
  if (v.up && v.port.device.fatal_is_queue && v.port.device.fatal_at &&
      in_seconds(v.now - *v.port.device.fatal_at) > k[0])
    return Case(Reader::kEvents)
        .below("seconds since a queue was stuck", in_seconds(v.now - *v.port.device.fatal_at), k[0])
        .close();
  if (const auto& reason = v.link().down_reason;
      v.down && reason && reason->substate.find("reference clock") != std::string::npos)
    return Case(Reader::kLink).holds("the card lost its reference clock", true).close();
  if (v.down && !v.port.device.fatal_at && v.group.card_fatal)
    return Case(Reader::kEvents)
        .holds("another port of this card fell with a fatal error", true)
        .close();
  if (const auto fatals = static_cast<double>(fatals_within(v.port, v.now, k[2])); fatals >= k[1])
    return Case(Reader::kEvents)
        .at_least("fatal errors, one after the other", fatals, k[1])
        .close();
  if (v.up && v.port.device.fatal_at && !v.port.device.fatal_is_queue &&
      *v.port.device.fatal_at < v.port.first_seen && in_seconds(v.now - v.port.first_seen) < k[3])
    return not_known_yet(
        "an error from before the start: the counters will show whether the card works");
  return Case(Reader::kEvents)
      .holds("driver or firmware reported a fatal error", v.port.device.fatal_at.has_value())
      .close();
}

constexpr Knob kHotKnobs[] = {
    {"hold_s", 3600, 60, 86400, "s", "how long a line that is not said again counts"}};
Finding nic_hot(const PortView& v, KnobValues k) {
  return says(v, KernelLogClass::kNicHot, "the kernel log says that the card is too hot", k[0]);
}
// slot_power: said once. It holds while the link is down; a port that carries, or carried since,
// has its power.
Finding slot_power(const PortView& v, KnobValues) {
  return Case(Reader::kEvents)
      .holds("ports are off: the slot gives too little power",
             said_in_log(v, KernelLogClass::kPortPower).has_value())
      .close();
}
constexpr Knob kLostKnobs[] = {
    {"hold_s", 86400, 60, 604800, "s", "how long the line counts while the device is away"}};
Finding pcie_lost(const PortView& v, KnobValues k) {
  return says(v, KernelLogClass::kPcieLost, "the PCIe link of the slot went down",
              v.port.present ? -1 : k[0]);
}

// card_errors: credits promised buffers that were not there: no cable does that. Not mlx5's
// tx_errors_phy: those are frames longer than the port's MTU (linux: its counters.rst).
constexpr Knob kCardKnobs[] = {
    {"per_h", 8, 1, 1e6, "", "in an hour; the counter of overruns ends at 15"},
    {"intervals", 4, 1, 1000, "", "with them"},
    {"span_s", 300, 0, 3600, "s", "between the first and the last"}};
Finding card_errors(const PortView& v, KnobValues k) {
  const Repeated& lost = v.signal.card_errors;
  if (!lost.known)
    return not_counted(v, Indicator::kCardErrors, "no counter of the card's own errors");
  return Case(Reader::kCounters)
      .at_least("packets that the card lost by itself in an hour", lost.events, k[0])
      .at_least("intervals with them", static_cast<double>(lost.intervals), k[1])
      .at_least("time between the first and the last", lost.span_s(), k[2], "s")
      .close();
}

// device_gone: the device is not there any more, for longer than a driver reload takes. A port of
// which there is a line now and then is not gone in between.
constexpr Knob kGoneKnobs[] = {
    {"reload_s", 180, 10, 3600, "s", "how long a driver reload may take"},
    {"readings", 2.5, 1, 100, "", "times the usual time between two readings of this port"}};
/// The longest time between two readings but one: a single one may be a pause.
double usual_pause_s(const PortHistory& port) {
  double longest = 0, second = 0;
  for (const Interval& interval : port.counters.intervals) {
    second = std::max(second, std::min(longest, interval.seconds()));
    longest = std::max(longest, interval.seconds());
  }
  return port.counters.intervals.size() > 1 ? second : longest;
}
Finding device_gone(const PortView& v, KnobValues k) {
  const PortHistory& port = v.port;
  if (port.present) return Case(Reader::kMonitor).holds("the device is gone", false).close();
  const bool seen_once =
      port.link_at &&
      std::max(*port.link_at, port.counters_at.value_or(*port.link_at)) <= port.first_seen;
  if (!port.awaited && !port.device.gone_at && seen_once)
    return not_known("the port was seen only once");
  const double patience_s = port.device.gone_at ? k[0] : std::max(k[0], k[1] * usual_pause_s(port));
  return Case(Reader::kMonitor)
      .above("seconds since the device went", in_seconds(v.now - port.absent_since.value_or(v.now)),
             patience_s, "s")
      .close();
}

// counters_blind: the port's counters or its link state can't be read, for whatever reason.
constexpr Knob kBlindKnobs[] = {
    {"attempts", 4, 1, 100, "", "failed readings one after the other"},
    {"hold_s", 120, 10, 86400, "s",
     "for so long: a firmware command that hangs is given up after 60 s, and its device starts "
     "anew within a minute"},
    {"refused_hold_s", 45, 10, 86400, "s",
     "the same for EPERM and EACCES, and half the readings: a right that is missing does not come "
     "back"},
    {"frozen_s", 600, 60, 86400, "s",
     "counters that all stand still for so long while the link carries are not read"}};
Finding blind(const PortView& v, double attempts, double hold_s,
              std::span<const std::string_view> probes, std::size_t failed = 0) {
  const Blindness* worst = nullptr;
  for (const std::string_view probe : probes)
    if (const Blindness* at = v.port.blind_to(probe); at != nullptr)
      if (worst == nullptr || at->since < worst->since) worst = at;
  if (worst == nullptr) return Case(Reader::kMonitor).holds("reading fails", false).close();
  return Case(Reader::kMonitor)
      .at_least("failed readings", static_cast<double>(std::max(worst->attempts, failed)), attempts)
      .at_least("failing since", in_seconds(worst->last - worst->since), hold_s, "s")
      .close();
}
/// For how long no counter moved on a link that carries, where so many corrected bits were to be
/// expected that none at all can't be chance (an idle link corrects bits, too).
double frozen_s(const PortView& v, double least_s) {
  constexpr double kExpectedBits = 1000;
  constexpr double kGateDecades = 0.9;  // that samples of one reference may lie apart
  constexpr double kMovedS = 60;
  if (!v.up || !v.port.counters.ber_log10.ready()) return 0;
  const auto still = [](const Interval& interval) {
    const double bits = interval.increase(Indicator::kCorrectedBits),
                 blocks = interval.increase(Indicator::kCorrectedBlocks);
    if (std::isnan(bits) && std::isnan(blocks)) return false;
    return interval.counted().empty();
  };
  double seconds = 0;
  for (auto at = v.port.counters.intervals.rbegin();
       at != v.port.counters.intervals.rend() && at->carrier && still(*at); ++at)
    seconds += at->seconds();
  if (seconds < least_s || in_seconds(v.now - v.port.first_seen) - seconds < kMovedS) return 0;
  // The still readings have entered the reference as "none at all": the highest is one from before
  // them.
  const std::vector<double> usual = v.port.counters.ber_log10.values();
  const double decades = *std::ranges::max_element(usual) - kGateDecades;
  return std::pow(10.0, decades) * v.port.line_rate_bps() * seconds >= kExpectedBits ? seconds : 0;
}
Finding counters_blind(const PortView& v, KnobValues k) {
  if (v.port.device.gone_at || !v.port.present) return not_known("the device is gone");
  if (const double frozen = frozen_s(v, k[3]); frozen >= k[3])
    return Case(Reader::kMonitor)
        .at_least("no counter moved on a link that carries, since", frozen, k[3], "s")
        .close();
  constexpr std::string_view kProbes[] = {"counters", "link"};
  const bool refused =
      std::any_of(std::begin(kProbes), std::end(kProbes), [&v](std::string_view probe) {
        const Blindness* at = v.port.blind_to(probe);
        return at != nullptr && (at->reason.ends_with("EPERM") || at->reason.ends_with("EACCES"));
      });
  // What fails together fails less by chance: each failed reading counts, of whatever probe.
  std::size_t failed = 0;
  for (const char* probe : {"counters", "link", "module"})
    if (const Blindness* at = v.port.blind_to(probe);
        at != nullptr && !at->reason.starts_with("EBUSY"))
      failed += at->attempts;
  return blind(v, refused ? k[0] / 2 : k[0], refused ? k[2] : k[1], kProbes, failed);
}
constexpr Knob kModuleBlindKnobs[] = {
    {"attempts", 4, 1, 100, "", "failed readings one after the other"},
    {"hold_s", 900, 10, 86400, "s", "for so long"},
    {"busy_hold_s", 10800, 10, 86400, "s",
     "the same for EBUSY: another reader or a firmware update has the bus, that passes"},
    {"down_hold_s", 120, 10, 86400, "s",
     "the same while the link is down: a module that dies takes the link along"}};
Finding module_blind(const PortView& v, KnobValues k) {
  constexpr std::string_view kProbes[] = {"module"};
  const Blindness* at = v.port.blind_to("module");
  const bool busy = at != nullptr && at->reason.starts_with("EBUSY");
  const bool fell_with_it = v.down && at != nullptr && v.port.carrier.since &&
                            std::abs(in_seconds(at->since - *v.port.carrier.since)) < k[3];
  return blind(v, k[0], busy ? k[2] : fell_with_it ? k[3] : k[1], kProbes);
}

constexpr Symptom kNodeRows[] = {
    {kPcieReduced, "pcie_reduced", "PCIe runs slower or narrower than it could", kPcieKnobs,
     &pcie_reduced, "lspci -vv"},
    {kPcieErrors, "pcie_errors", "PCIe reports errors", kAerKnobs, &pcie_errors, ""},
    {kDeviceFatal, "device_fatal", "driver or firmware gave up", kFatalKnobs, &device_fatal, ""},
    {kDeviceGone, "device_gone", "the device is not there any more", kGoneKnobs, &device_gone, ""},
    {kNicHot, "nic_hot", "the card is too hot", kHotKnobs, &nic_hot, ""},
    {kSlotPower, "slot_power", "the slot gives too little power", {}, &slot_power, ""},
    {kPcieLost, "pcie_lost", "the PCIe link of the slot went down", kLostKnobs, &pcie_lost, ""},
    {kCardErrors, "card_errors", "the card loses packets by its own fault", kCardKnobs,
     &card_errors, ""},
};
constexpr Symptom kMonitorRows[] = {
    {kCountersBlind, "counters_blind", "counters or link state can't be read", kBlindKnobs,
     &counters_blind, ""},
    {kModuleBlind, "module_blind", "the module can't be read", kModuleBlindKnobs, &module_blind,
     ""},
};

}  // namespace

constinit const std::span<const Symptom> kNodeFamily = kNodeRows;
constinit const std::span<const Symptom> kMonitorFamily = kMonitorRows;

}  // namespace linkhealth::symptoms
