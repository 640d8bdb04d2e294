#include "model/history/peer_history.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/history/rate_calculator.h"

namespace linkhealth {

namespace {

constexpr double kKeepSeconds = 3600;

/// Whether two samples of one source belong to one port: a GUID survives renames.
bool is_same_port(const PeerSample& a, const PeerSample& b) {
  if (a.guid.empty() && b.guid.empty()) return a.system == b.system && a.port == b.port;
  return a.guid == b.guid && a.port == b.port;
}

}  // namespace

bool is_same_reading(const std::optional<SteadyTime>& a, SteadyTime b, bool says_the_same) {
  constexpr Milliseconds kExact{1}, kWholeSeconds{1500};
  return a && std::chrono::abs(*a - b) <= (says_the_same ? kWholeSeconds : kExact);
}

void PeerHistory::update(const PeerSample& peer, SteadyTime read_at, SteadyTime now) {
  if (is_same_reading(read_at_, read_at, last_.counters == peer.counters)) return;
  read_at_ = read_at;
  const PeerSample before = std::exchange(last_, peer);
  errors_saturated = is_saturated_for(saturated_counters(*peer.counters), kDamageCounts);
  // Each source has its own port names: a different source does not mean a different port.
  if (!before.counters || before.source != peer.source ||
      before.counters_source != peer.counters_source)
    return;
  if (!is_same_port(before, peer)) return errors.clear();
  const Increase increase = increase_between(*before.counters, *peer.counters);
  if (!increase.reset.empty()) return;
  double sum = 0;
  for (const Indicator indicator :
       {Indicator::kSymbolErrors, Indicator::kFrameErrors, Indicator::kUncorrectableBlocks})
    if (const double value = increase.of(indicator); !std::isnan(value)) sum += value;
  errors.push_back({now, sum});
}

void PeerHistory::forget_old(SteadyTime now) {
  std::erase_if(errors, [&](const Errors& one) { return in_seconds(now - one.t) > kKeepSeconds; });
}

}  // namespace linkhealth
