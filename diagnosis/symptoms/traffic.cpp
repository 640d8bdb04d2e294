// Symptoms of traffic: congestion, a slow host, loss elsewhere. The cable is not the cause.
// Their numbers were fitted on simulated cases (docs/accuracy.md).
#include <algorithm>

#include "diagnosis/symptoms/families.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;
using enum LinkState;
using enum EvidenceSource;

constexpr std::string_view kNotFull = "the traffic window is not full yet";
// with load, in the window: a peak before an idle hour does not count.
constexpr double kLoadedS = 1100;
constexpr double kLeastIntervals = 4;

Finding congested(const Features& f) {
  constexpr double kShare = 0.8;  // of the loaded intervals with marks, pause or waiting
  // the same for the newest run, if it has load throughout: enough.
  constexpr double kRunShare = 0.95;
  constexpr double kLeastMarksPerS = 100;
  const TrafficStats &t = f.traffic, &run = f.traffic_run;
  if (!t.marks_known && !t.pause_known && !t.wait_known && !t.discards_known)
    return unknown("no counters of congestion");
  const double run_share = std::max({run.marks_share, run.pause_share, run.wait_share});
  if (run.known_s >= kTrafficRunS && run.loaded_s >= kRunShare * run.known_s &&
      run_share >= kRunShare)
    return Checks(kCounters).at_least(
        "share of the last minutes with congestion marks, pause frames or credit waits", run_share,
        kRunShare);
  if (!t.full()) return unknown(kNotFull);
  if (t.loaded_s < kLoadedS)
    return Checks(kCounters).at_least("time under load", t.loaded_s, kLoadedS, "s");
  if (t.discards_share > std::max({t.marks_share, t.pause_share, t.wait_share}))
    return Checks(kCounters).at_least(
        "share of loaded intervals with packets that waited too long for transmission",
        t.discards_share, kShare);
  if (t.marks_share >= t.pause_share && t.marks_share >= t.wait_share)
    return Checks(kCounters)
        .at_least("share of loaded intervals with congestion marks", t.marks_share, kShare)
        .above("congestion marks", t.marks_per_s, kLeastMarksPerS, "/s");
  if (t.pause_share >= t.wait_share)
    return Checks(kCounters).at_least("share of loaded intervals with pause frames", t.pause_share,
                                      kShare);
  return Checks(kCounters).at_least("share of loaded intervals with credit waits", t.wait_share,
                                    kShare);
}

/// A host that drops nothing because it pauses the network, or because its PCIe stalls.
std::optional<Finding> host_waits(const TrafficStats& t) {
  constexpr double kShare = 0.8;  // of the intervals with load
  if ((!t.pause_sent_known && !t.stalls_known) || !t.full() || t.loaded_s < kLoadedS)
    return std::nullopt;
  Checks found(kCounters);
  found.at_least("time under load", t.loaded_s, kLoadedS, "s");
  if (t.pause_sent_share >= t.stalls_share)
    found.at_least("share of loaded intervals with pause frames sent", t.pause_sent_share, kShare);
  else
    found.at_least("share of loaded intervals with PCIe stalls", t.stalls_share, kShare);
  return found;
}

Finding dropped_packets(const Features& f) {
  constexpr double kShare = 0.5;     // of the intervals with drops
  constexpr double kRunShare = 0.9;  // the same for the newest run: enough
  const TrafficStats &t = f.traffic, &run = f.traffic_run;
  const double per_s = f.settings.drops_per_s;
  if (!t.drops_known || t.all < kLeastIntervals) return unknown("no counters of host drops");
  if (run.known_s >= kTrafficRunS && run.tested_s >= kRunShare * run.known_s &&
      run.drops_share >= kRunShare)
    return Checks(kCounters)
        .above("packets without a buffer in the last minutes", run.drops_per_s, per_s, "/s")
        .at_least("share of the last minutes with drops", run.drops_share, kRunShare);
  if (!t.full()) return unknown(kNotFull);
  return Checks(kCounters)
      .above("packets without a buffer", t.drops_per_s, per_s, "/s")
      .at_least("time under load", t.tested_s, kLoadedS, "s")
      .at_least("share of intervals with drops", t.drops_share, kShare);
}

Finding host_drops(const Features& f) {
  Finding dropped = dropped_packets(f);
  if (dropped.present()) return dropped;
  if (auto waits = host_waits(f.traffic); waits && (waits->present() || dropped.unknown()))
    return *waits;
  return dropped;
}

// Rare events: a rate over the window, and the share of two-minute bins.
constexpr double kRarePerS = 0.007;
constexpr double kRareShare = 0.6;

Finding retries(const Features& f) {
  const TrafficStats& t = f.traffic;
  if (!t.retries_known || t.all < kLeastIntervals) return unknown("no counters of retries");
  if (!t.full()) return unknown(kNotFull);
  return Checks(kCounters)
      .above("transport retries", t.retries_per_s, kRarePerS, "/s")
      .at_least("share of intervals with retries", t.retries_share, kRareShare);
}

Finding forwarded_errors(const Features& f) {
  const TrafficStats& t = f.traffic;
  if (!t.forwarded_known || t.all < kLeastIntervals)
    return not_counted(f, Indicator::kForwardedErrors, "no counter of upstream errors");
  if (!t.full()) return unknown(kNotFull);
  return Checks(kCounters)
      .above("packets damaged upstream of the last switch", t.forwarded_per_s, kRarePerS, "/s")
      .at_least("share of intervals with such events", t.forwarded_share, kRareShare);
}

constexpr std::string_view kTraffic =
    "linux: drivers/infiniband/hw/mlx5/counters.c, mlx5 counters.rst; judgement (rates)";

constexpr Symptom kRows[] = {
    {kCongested, "congested", "the network cannot absorb this port's traffic", kAny, &congested,
     kCounters, kTraffic, ""},
    {kHostDrops, "host_drops", "this host cannot absorb the traffic that it receives", kAny,
     &host_drops, kCounters, kTraffic, ""},
    {kRetries, "retries", "packets are lost on their path", kAny, &retries, kCounters, kTraffic,
     ""},
    {kForwardedErrors, "forwarded_errors", "packets were damaged upstream of the last switch", kAny,
     &forwarded_errors, kCounters,
     "IBTA PortRcvRemotePhysicalErrors; bad checksums without losses on the link itself", ""},
};

}  // namespace

constinit const std::span<const Symptom> kTrafficFamily = kRows;

}  // namespace linkhealth::symptoms
