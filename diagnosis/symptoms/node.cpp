// Symptoms of the node: PCIe, driver and firmware; what the monitor itself cannot read.
#include <algorithm>
#include <cmath>

#include "diagnosis/symptoms/families.h"
#include "model/kernel_log.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;
using enum LinkState;
using enum EvidenceSource;

// pcie_reduced: lanes are lost by training, not by power saving; the speed is lowered by power
// saving, but not under load (docs/physics.md 3g).
constexpr double kReads = 2;         // consecutive: power saving lowers it for a moment
constexpr double kBusyShare = 0.02;  // of the line rate: a port with this load does not save power
constexpr double kBusyS = 600;  // or this long without a pause: PCIe is read once in five minutes
constexpr double kIdleS = 900;  // if the load is unknown, the speed must be low for this long

/// Power saving lowers a link to the two speeds that every device supports (PCI Express Base
/// Specification, 8.1: 2.5 GT/s; root ports of some boards keep 5): a link at a speed above these
/// failed to train higher.
constexpr double kMostSavingGtps = 5;
bool may_save_power(const PcieLink& link) {
  return !link.is_narrow() && link.speed_gtps.value_or(0) <= kMostSavingGtps;
}
bool is_busy(const Interval& interval) { return interval.utilization() > kBusyShare; }

/// Whether the port had load before and after PCIe was found low: a link that is just waking up may
/// still be slow, and one that has just become idle may sleep. nullopt: unknown.
std::optional<bool> busy_when_read(const Features& f) {
  const auto& intervals = f.port.counters.intervals;
  if (intervals.size() < 3 || std::isnan(intervals.back().utilization()) || !f.port.pcie_at)
    return std::nullopt;
  const SteadyTime read = *f.port.pcie_at;
  const auto after =
      std::ranges::find_if(intervals, [read](const Interval& one) { return one.begin >= read; });
  if (after - intervals.begin() < 2) return false;
  if (after != intervals.end())
    return is_busy(*after) && is_busy(*(after - 1)) && is_busy(*(after - 2));
  // PCIe is read each time: it was low before the newest interval and at its end.
  const Interval& newest = intervals.back();
  const bool still = f.port.device.pcie_low_since &&
                     *f.port.device.pcie_low_since <= newest.begin && newest.end <= read;
  return still && is_busy(newest) && is_busy(*(after - 2));
}
/// Whether the known load since PCIe is low was zero.
bool idle_while_low(const Features& f) {
  const auto& since = f.port.device.pcie_low_since;
  bool known = false;
  for (const Interval& interval : f.port.counters.intervals) {
    if (!since || interval.end <= *since || std::isnan(interval.utilization())) continue;
    if (is_busy(interval)) return false;
    known = true;
  }
  return known;
}
/// The longest uninterrupted time with load while PCIe was low.
double busy_while_low_s(const Features& f) {
  double longest = 0, run = 0;
  for (const Interval& interval : f.port.counters.intervals) {
    if (!f.port.device.pcie_low_since || interval.begin < *f.port.device.pcie_low_since) continue;
    run = is_busy(interval) ? run + interval.seconds() : 0;
    longest = std::max(longest, run);
  }
  return longest;
}
Finding pcie_reduced(const Features& f) {
  const auto& pcie = f.port.latest.pcie;
  if (!pcie || (!pcie->speed_gtps && !pcie->width))
    return unknown("PCIe speed and width are unknown");
  if (f.port.device.pcie_low_reads == 0)
    return Checks(kPcie).holds("below the capability of both ends", false);
  std::optional<bool> busy = busy_when_read(f);
  if (!busy && idle_while_low(f)) busy = false;
  const PcieLink link = pcie->lowest();
  const bool at_once = !may_save_power(link) || busy == true || busy_while_low_s(f) >= kBusyS;
  if (!at_once && busy) return unknown("the port is idle and may save power");
  Checks found(kPcie);
  found.at_least("readings in a row", f.port.device.pcie_low_reads, at_once ? 1 : kReads);
  if (!at_once)
    found.at_least("low since", in_seconds(f.now - f.port.device.pcie_low_since.value_or(f.now)),
                   kIdleS, "s");
  const bool above = !link.bridge.empty();
  if (link.is_narrow())
    return found.below(above ? "PCIe width of a bridge above the card" : "PCIe width", *link.width,
                       *link.max_width, "lanes");
  return found.below(above ? "PCIe speed of a bridge above the card" : "PCIe speed",
                     link.speed_gtps, link.max_speed_gtps.value_or(0), "GT/s");
}

/// A line of the kernel log counts for `hold_s`: the driver repeats it while its cause lasts.
bool logged(const Features& f, KernelLogClass what, double hold_s) {
  return std::ranges::any_of(f.port.device.kernel_log, [&](const auto& line) {
    return in_seconds(f.now - line.first) <= hold_s && is_kernel_log(line.second, what);
  });
}

/// A sequential test: the largest evidence, over all periods up to now, for `per_h` errors against
/// a tenth of that, in nats.
double evidence_nats(const Features& f, double per_h) {
  double most = 0;
  for (const auto& [t, count] : f.port.device.pcie_errors) {
    const double hours = in_seconds(f.port.device.pcie_errors.back().first - t) / 3600;
    most = std::max(most, (f.port.device.pcie_errors.back().second - count) * std::log(10.0) -
                              0.9 * per_h * hours);
  }
  return most;
}
Finding pcie_errors(const Features& f) {
  constexpr double kSureNats = 9.2;      // wrong once in 10,000 cases
  constexpr double kLeastIntervals = 4;  // with errors that the card itself counts
  constexpr double kSpanS = 300;         // between the first and the last of these
  constexpr double kLoggedS = 3600;      // how long an uncorrectable error in the log counts
  const double per_h = f.settings.pcie_errors_per_h;
  if (const Repeated& card = f.signal.pcie_damage;
      card.events >= per_h && card.intervals >= kLeastIntervals && card.span_s() >= kSpanS)
    return Checks(kCounters).at_least("PCIe errors counted by the card in 1 h", card.events, per_h);
  if (logged(f, KernelLogClass::kPcieUncorrected, kLoggedS))
    return Checks(kEvents).holds("the kernel log reports a lost PCIe transaction", true);
  if (f.port.device.pcie_errors.size() < 2) return unknown("PCIe error counts are unknown");
  const double in_an_hour =
      f.port.device.pcie_errors.back().second - f.port.device.pcie_errors.front().second;
  const double nats = evidence_nats(f, per_h);
  if (in_an_hour < per_h && nats >= kSureNats)
    return Checks(kPcie).at_least("statistical evidence of the PCIe error rate", nats, kSureNats);
  return Checks(kPcie).at_least("PCIe errors in 1 h", in_an_hour, per_h);
}

// device_fatal: holds until the device has restarted and is up, or still works
// (PortHistory::note_life). A queue that was stuck once and moves again is over. A card that keeps
// restarting is not repaired by that, and it is not maintenance.
// a stuck transmit queue that is not reported again, with the link up.
constexpr double kQueueS = 86400;
constexpr double kRepeats = 3;       // separate fatal errors: restarting does not help
constexpr double kRepeatsS = 10800;  // within this time
// The kernel log has an error from before the start, but the link is up: wait this long for its
// counters to show that the card works.
constexpr double kOldErrorS = 120;

double fatals_lately(const Features& f) {
  return static_cast<double>(std::ranges::count_if(f.port.device.fatal_times, [&f](SteadyTime t) {
    return in_seconds(f.now - t) <= kRepeatsS &&
           (!f.port.carrier.reboot_at || t > *f.port.carrier.reboot_at);
  }));
}
Finding device_fatal(const Features& f) {
  const auto& fatal_at = f.port.device.fatal_at;
  if (f.up && f.port.device.fatal_is_queue && fatal_at && in_seconds(f.now - *fatal_at) > kQueueS)
    return Checks(kEvents).below("seconds since a queue was stuck", in_seconds(f.now - *fatal_at),
                                 kQueueS);
  if (const auto& reason = f.link().down_reason;
      f.down && reason && reason->substate.find("reference clock") != std::string::npos)
    return Checks(kDownReason).holds("the card lost its reference clock", true);
  if (f.down && !fatal_at && f.group.card_fatal)
    return Checks(kEvents).holds("another port of this card went down with a fatal error", true);
  constexpr double kFellWithS = 120;
  if (const auto& last = f.port.device.no_answer_at;
      f.down && last && f.port.carrier.since &&
      std::abs(in_seconds(*last - *f.port.carrier.since)) <= kFellWithS)
    return Checks(kEvents).holds("the firmware did not respond when the link went down", true);
  if (!fatal_at && f.card_stopped)
    return Checks(kEvents).holds(
        "the kernel log reports an unresponsive card, and no counter of this port has changed "
        "since",
        true);
  if (const double fatals = fatals_lately(f); fatals >= kRepeats)
    return Checks(kEvents).at_least("consecutive fatal errors", fatals, kRepeats);
  if (f.up && fatal_at && !f.port.device.fatal_is_queue && *fatal_at < f.port.first_seen &&
      in_seconds(f.now - f.port.first_seen) < kOldErrorS)
    return unknown_yet(
        "an error from before the daemon started: the counters will show whether the card works");
  return Checks(kEvents).holds("driver or firmware reported a fatal error", fatal_at.has_value());
}

Finding nic_hot(const Features& f) {
  return Checks(kEvents).holds("card temperature alarm in the kernel log",
                               logged(f, KernelLogClass::kNicHot, 3600));
}
// slot_power: logged once. It holds while the link is down; a port that is up, or has been since,
// has its power.
Finding slot_power(const Features& f) {
  return Checks(kEvents).holds("ports disabled because of insufficient slot power",
                               f.down && logged_since_fall(f, KernelLogClass::kPortPower));
}

// card_errors: credits were granted for buffers that did not exist: a cable cannot cause that. Not
// mlx5's tx_errors_phy: those are frames longer than the port's MTU (linux: its counters.rst).
Finding card_errors(const Features& f) {
  constexpr double kPerH = 8;  // the overrun counter ends at 15
  constexpr double kLeastIntervals = 4;
  constexpr double kSpanS = 300;  // between the first and the last
  const Repeated& lost = f.signal.card_errors;
  if (!lost.known)
    return not_counted(f, Indicator::kCardErrors, "no counter of the card's internal errors");
  return Checks(kCounters)
      .at_least("packets lost inside the card in 1 h", lost.events, kPerH)
      .at_least("intervals with such events", lost.intervals, kLeastIntervals)
      .at_least("time from first to last", lost.span_s(), kSpanS, "s");
}

// device_gone: for longer than a driver reload takes. A port that has samples now and then is not
// gone in between. Uses the second longest time between two readings: the longest may be a pause.
double usual_pause_s(const PortHistory& port) {
  double longest = 0, second = 0;
  for (const Interval& interval : port.counters.intervals) {
    second = std::max(second, std::min(longest, interval.seconds()));
    longest = std::max(longest, interval.seconds());
  }
  return port.counters.intervals.size() > 1 ? second : longest;
}
Finding device_gone(const Features& f) {
  constexpr double kPauses = 2.5;  // multiple of the usual time between two readings of this port
  const PortHistory& port = f.port;
  if (port.present) return Checks(kMonitor).holds("the device disappeared", false);
  const bool seen_once =
      port.link_at &&
      std::max(*port.link_at, port.counters_at.value_or(*port.link_at)) <= port.first_seen;
  if (!port.never_seen && !port.device.gone_at && seen_once)
    return unknown("the port was seen only once");
  const double reload_s = f.settings.device_gone_s;
  const double patience_s =
      port.device.gone_at ? reload_s : std::max(reload_s, kPauses * usual_pause_s(port));
  return Checks(kMonitor).above("seconds since the device disappeared",
                                in_seconds(f.now - port.absent_since.value_or(f.now)), patience_s,
                                "s");
}

// counters_blind: the port's counters or its link state cannot be read, for whatever reason. EPERM
// and EACCES do not pass by themselves: missing permissions do not come back.
constexpr double kRefusedS = 45;
// If all counters stand still for this long while the link is up, they are not being read.
constexpr double kFrozenS = 600;

/// `status`: nullptr when the source is read.
Finding blind(const Features& f, const SourceStatus* status, double hold_s) {
  if (status == nullptr) return Checks(kMonitor).holds("reads fail", false);
  return Checks(kMonitor).at_least("failing since", in_seconds(f.now - status->since), hold_s, "s");
}
/// How long no counter has moved with the link up, if that cannot be chance because many corrected
/// bits were expected (an idle link corrects bits, too).
double frozen_s(const Features& f) {
  constexpr double kExpectedBits = 1000;
  constexpr double kGateDecades = 0.9;  // largest spread of samples in one baseline
  constexpr double kMovedS = 60;
  if (!f.up || !f.port.counters.ber_log10.ready()) return 0;
  const auto still = [](const Interval& interval) {
    const double bits = interval.increase(Indicator::kCorrectedBits),
                 blocks = interval.increase(Indicator::kCorrectedBlocks);
    return !(std::isnan(bits) && std::isnan(blocks)) && interval.counted().empty();
  };
  double seconds = 0;
  for (auto at = f.port.counters.intervals.rbegin();
       at != f.port.counters.intervals.rend() && at->carrier && still(*at); ++at)
    seconds += at->seconds();
  if (seconds < kFrozenS || in_seconds(f.now - f.port.first_seen) - seconds < kMovedS) return 0;
  // The still readings have entered the baseline as "none at all": the highest value is from before
  // them.
  const std::vector<double> usual = f.port.counters.ber_log10.values();
  const double decades = *std::ranges::max_element(usual) - kGateDecades;
  return std::pow(10.0, decades) * f.port.line_rate_bps() * seconds >= kExpectedBits ? seconds : 0;
}
/// Likewise without a baseline: similar ports correct this many bits, or have load. A PAM4 link
/// always corrects some (docs/physics.md 3a).
std::optional<Finding> still_among_its_like(const Features& f) {
  constexpr double kLeastLike = 2, kMostStillShare = 0.34;
  constexpr double kExpectedBits = 1000, kBetterLink = 100;  // factor to the best similar port
  constexpr double kNoTrafficS = 1800;  // a job may use the other ports but not this one
  const GroupStats& like = f.group;
  const Stillness& still = f.signal.still;
  const bool alone = like.like_still <= kMostStillShare * like.like_correcting;
  if (is_pam4(f) && alone && like.like_correcting >= kLeastLike && still.bits_s >= kFrozenS &&
      like.like_least_bits_s * still.bits_s >= kBetterLink * kExpectedBits)
    return Checks(kMonitor).at_least(
        "no corrected bit on an active link while comparable links have some, since", still.bits_s,
        kFrozenS, "s");
  if (like.like_running >= kLeastLike && still.packets_s >= kNoTrafficS &&
      still.all_s >= kNoTrafficS)
    return Checks(kMonitor).at_least(
        "no counter changed on an active link while comparable links carry load, since",
        still.all_s, kNoTrafficS, "s");
  return std::nullopt;
}

Finding counters_blind(const Features& f) {
  if (f.port.device.gone_at || !f.port.present) return unknown("the device disappeared");
  if (auto frozen = still_among_its_like(f)) return *std::move(frozen);
  if (const double frozen = frozen_s(f); frozen >= kFrozenS)
    return Checks(kMonitor).at_least("no counter changed on an active link, since", frozen,
                                     kFrozenS, "s");
  const SourceStatus* longest = nullptr;
  bool refused = false;
  for (const SourceId source : {SourceId::kCounters, SourceId::kLink}) {
    const SourceStatus* at = f.port.blind_to(source);
    if (at == nullptr || (source == SourceId::kCounters && f.port.lacks_counters())) continue;
    if (longest == nullptr || at->since < longest->since) longest = at;
    refused = refused || at->reason.ends_with("EPERM") || at->reason.ends_with("EACCES");
  }
  return blind(f, longest, refused ? kRefusedS : f.settings.counters_blind_s);
}
Finding module_blind(const Features& f) {
  // EBUSY: another reader or a firmware update holds the bus; that passes.
  constexpr double kBusyTimes = 12;
  constexpr double kDownS = 120;  // a module that dies takes the link down
  const SourceStatus* at = f.port.blind_to(SourceId::kModule);
  // The module was never read here: the end of an import is a state of that source.
  if (at != nullptr && at->reason.starts_with(kImportEnded)) at = nullptr;
  // The driver answers for another cage: no module refuses to answer.
  if (f.port.module_doubt) return unknown("the driver returns the module of another port");
  const bool busy = at != nullptr && at->reason.starts_with("EBUSY");
  const bool fell_with_it = f.down && at != nullptr && f.port.carrier.since &&
                            std::abs(in_seconds(at->since - *f.port.carrier.since)) < kDownS;
  const double usual_s = f.settings.module_blind_s;
  return blind(f, at, busy ? kBusyTimes * usual_s : fell_with_it ? kDownS : usual_s);
}

constexpr std::string_view kMlx5Events =
    "linux: drivers/net/ethernet/mellanox/mlx5/core/events.c (temperature, powered down ports)";

constexpr Symptom kNodeRows[] = {
    {kPcieReduced, "pcie_reduced", "PCIe speed or width below its capability", kAny, &pcie_reduced,
     kPcie, "linux: drivers/pci/pci-sysfs.c (current_link_speed, max_link_speed)", "lspci -vv"},
    {kPcieErrors, "pcie_errors", "PCIe reports errors", kAny, &pcie_errors, kPcie,
     "linux: drivers/pci/pcie/aer.c; judgement (10 an hour)", ""},
    {kDeviceFatal, "device_fatal", "driver or firmware failed", kAny, &device_fatal, kEvents,
     "linux: mlx5 health.c, NETDEV WATCHDOG; verbs IBV_EVENT_DEVICE_FATAL", ""},
    {kDeviceGone, "device_gone", "the device disappeared", kAny, &device_gone, EvidenceSources(),
     "linux: the device is no longer registered", ""},
    {kNicHot, "nic_hot", "the card is too hot", kAny, &nic_hot, kEvents, kMlx5Events, ""},
    {kSlotPower, "slot_power", "the slot supplies too little power", kAny, &slot_power, kEvents,
     kMlx5Events, ""},
    {kCardErrors, "card_errors", "the card loses packets internally", kAny, &card_errors, kCounters,
     "IBTA ExcessiveBufferOverrunErrors; judgement (counts)", ""},
};
constexpr Symptom kMonitorRows[] = {
    {kCountersBlind, "counters_blind", "counters or link state cannot be read", kAny,
     &counters_blind, EvidenceSources(), "the unreadable source", ""},
    {kModuleBlind, "module_blind", "the module cannot be read", kAny, &module_blind,
     EvidenceSources(), "the unreadable source", ""},
};

}  // namespace

constinit const std::span<const Symptom> kNodeFamily = kNodeRows;
constinit const std::span<const Symptom> kMonitorFamily = kMonitorRows;

}  // namespace linkhealth::symptoms
