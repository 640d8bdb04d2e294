// Symptoms of traffic: congestion, a slow host, loss elsewhere. They say "do not touch the cable".
#include <algorithm>

#include "diagnosis/symptoms/families.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;

constexpr StaticText kNotFull = "the window of the traffic is not full yet";

constexpr Knob kCongestionKnobs[] = {
    {"loaded_s", 1100, 10, 1500, "s",
     "with load, of windows.traffic_s: peaks and idle hours do not count"},
    {"share", 0.8, 0.1, 1, "", "of them with marks, pause or waiting above their limits"},
    {"run_share", 0.95, 0.5, 1, "",
     "the same of the newest windows.traffic_run_s, all of it with load: that is enough"}};
Finding congested(const PortView& v, KnobValues k) {
  const TrafficStats& t = v.traffic;
  if (!t.marks_known && !t.pause_known && !t.wait_known && !t.discards_known)
    return not_known("no counters of congestion");
  const double run_share = std::max({t.run.marks_share, t.run.pause_share, t.run.wait_share});
  if (t.run.full && t.run.loaded_s >= k[2] * t.run.known_s && run_share >= k[2])
    return Case(Reader::kCounters)
        .at_least("share of the last minutes with marks, pause or waiting for credits", run_share,
                  k[2])
        .close();
  if (t.known_s < t.full_s) return not_known(kNotFull);
  if (t.loaded_s < k[0])
    return Case(Reader::kCounters).at_least("time with load", t.loaded_s, k[0], "s").close();
  if (t.discards_share > std::max({t.marks_share, t.pause_share, t.wait_share}))
    return Case(Reader::kCounters)
        .at_least("share of loaded intervals in which packets waited too long to be sent",
                  t.discards_share, k[1])
        .close();
  if (t.marks_share >= t.pause_share && t.marks_share >= t.wait_share)
    return Case(Reader::kCounters)
        .at_least("share of loaded intervals with congestion marks", t.marks_share, k[1])
        .above("congestion marks", t.marks_per_s, 100, "/s")
        .close();
  if (t.pause_share >= t.wait_share)
    return Case(Reader::kCounters)
        .at_least("share of loaded intervals with pause", t.pause_share, k[1])
        .close();
  return Case(Reader::kCounters)
      .at_least("share of loaded intervals that waited for credits", t.wait_share, k[1])
      .close();
}

constexpr Knob kDropKnobs[] = {
    {"intervals", 4, 1, 1000, "", "intervals that must be known"},
    {"per_s", 0.4, 0.01, 1e6, "/s", "drops, averaged over windows.traffic_s"},
    {"share", 0.5, 0.05, 1, "", "of the intervals with drops"},
    {"run_share", 0.9, 0.5, 1, "", "the same of the newest windows.traffic_run_s: that is enough"},
    {"loaded_s", 1100, 10, 1500, "s",
     "with load, of windows.traffic_s: a peak before an idle hour does not count"},
    {"pause_share", 0.8, 0.1, 1, "",
     "of the intervals with load, in which it sent pauses or PCIe stalled"}};
/// A host that drops nothing because it asks the network to wait, or whose PCIe does.
std::optional<Finding> host_waits(const PortView& v, KnobValues k) {
  const TrafficStats& t = v.traffic;
  if ((!t.pause_sent_known && !t.stalls_known) || t.known_s < t.full_s || t.loaded_s < k[4])
    return std::nullopt;
  Case found(Reader::kCounters);
  found.at_least("time with load", t.loaded_s, k[4], "s");
  if (t.pause_sent_share >= t.stalls_share)
    found.at_least("share of loaded intervals with pause frames sent", t.pause_sent_share, k[5]);
  else
    found.at_least("share of loaded intervals with PCIe stalls", t.stalls_share, k[5]);
  return found.close();
}

Finding drops(const PortView& v, KnobValues k) {
  const TrafficStats& t = v.traffic;
  if (!t.drops_known || t.all < static_cast<std::size_t>(k[0]))
    return not_known("no counters of host drops");
  if (t.run.full && t.run.tested_s >= k[3] * t.run.known_s && t.run.drops_share >= k[3])
    return Case(Reader::kCounters)
        .above("packets without a buffer, of the last minutes", t.run.drops_per_s, k[1], "/s")
        .at_least("share of the last minutes with drops", t.run.drops_share, k[3])
        .close();
  if (t.known_s < t.full_s) return not_known(kNotFull);
  return Case(Reader::kCounters)
      .above("packets without a buffer", t.drops_per_s, k[1], "/s")
      .at_least("time with load", t.tested_s, k[4], "s")
      .at_least("share of intervals with drops", t.drops_share, k[2])
      .close();
}

Finding host_drops(const PortView& v, KnobValues k) {
  Finding dropped = drops(v, k);
  if (dropped.present()) return dropped;
  if (auto waits = host_waits(v, k);
      waits && (waits->present() || dropped.verdict == Verdict::kUnknown))
    return *waits;
  return dropped;
}

constexpr Knob kRetryKnobs[] = {
    {"intervals", 4, 1, 1000, "", "intervals that must be known"},
    {"per_s", 0.007, 1e-5, 1e6, "/s", "averaged over windows.traffic_s"},
    {"share", 0.6, 0.05, 1, "", "of the two-minute bins with retries"}};
Finding retries(const PortView& v, KnobValues k) {
  const TrafficStats& t = v.traffic;
  if (!t.retries_known || t.all < static_cast<std::size_t>(k[0]))
    return not_known("no counters of retries");
  if (t.known_s < t.full_s) return not_known(kNotFull);
  return Case(Reader::kCounters)
      .above("transport retries", t.retries_per_s, k[1], "/s")
      .at_least("share of intervals with retries", t.retries_share, k[2])
      .close();
}

constexpr Knob kForwardKnobs[] = {
    {"per_s", 0.007, 1e-5, 1e6, "/s", "averaged over windows.traffic_s"},
    {"share", 0.6, 0.05, 1, "", "of the two-minute bins with them"}};
Finding forwarded_errors(const PortView& v, KnobValues k) {
  const TrafficStats& t = v.traffic;
  if (!t.forwarded_known || t.all < 4)
    return not_counted(v, Indicator::kForwardedErrors, "no counter of errors made upstream");
  if (t.known_s < t.full_s) return not_known(kNotFull);
  return Case(Reader::kCounters)
      .above("packets that were bad before the last switch", t.forwarded_per_s, k[0], "/s")
      .at_least("share of intervals with them", t.forwarded_share, k[1])
      .close();
}

constexpr Symptom kRows[] = {
    {kCongested, "congested", "the network can't take what this port sends", kCongestionKnobs,
     &congested, ""},
    {kHostDrops, "host_drops", "this host can't take what arrives", kDropKnobs, &host_drops, ""},
    {kRetries, "retries", "packets are lost somewhere on the way", kRetryKnobs, &retries, ""},
    {kForwardedErrors, "forwarded_errors", "packets were damaged before the last switch",
     kForwardKnobs, &forwarded_errors, ""},
};

}  // namespace

constinit const std::span<const Symptom> kTrafficFamily = kRows;

}  // namespace linkhealth::symptoms
