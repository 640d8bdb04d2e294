#include "probes/mad_schedule.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace linkhealth {
namespace {

/// FNV-1a, then the finisher of SplitMix64: GUIDs that differ in their last digits only must not be
/// neighbours.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

constexpr int kMaxDoublings = 16;
constexpr Milliseconds kShortestPeriod{1000};

}  // namespace

Milliseconds mad_phase(std::string_view identity, Milliseconds period) {
  if (period.count() <= 0) return Milliseconds{0};
  return Milliseconds(
      static_cast<std::int64_t>(hash(identity) % static_cast<std::uint64_t>(period.count())));
}

MadSchedule::MadSchedule(MadTiming timing) : timing_(timing) {
  timing_.period = std::max(timing_.period, kShortestPeriod);
}

void MadSchedule::set_ports(const std::vector<Port>& ports, SteadyTime now) {
  std::vector<Entry> kept;
  for (const Port& port : ports) {
    const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.port.key == port.key && entry.port.identity == port.identity;
    });
    if (known != entries_.end()) {
      kept.push_back(*known);
    } else {
      kept.push_back({port, now + mad_phase(port.identity, timing_.first_within), 0});
    }
  }
  entries_ = std::move(kept);
}

const PortKey* MadSchedule::next(SteadyTime now) const {
  if (now < budget_from_) return nullptr;
  const Entry* best = nullptr;
  for (const Entry& entry : entries_)
    if (entry.due <= now && (best == nullptr || entry.due < best->due)) best = &entry;
  return best != nullptr ? &best->port.key : nullptr;
}

/// The port's next place that is not before `earliest`.
SteadyTime MadSchedule::slot_after(const Entry& entry, SteadyTime earliest) const {
  const Milliseconds phase = mad_phase(entry.port.identity, timing_.period);
  const Milliseconds into = (earliest.time_since_epoch() - phase) % timing_.period;
  const Milliseconds wait = into.count() > 0 ? timing_.period - into : -into;
  return earliest + wait;
}

void MadSchedule::done(const PortKey& key, MadOutcome outcome, int mads, SteadyTime now) {
  if (timing_.mads_per_s > 0)
    budget_from_ = now + Milliseconds(std::max(mads, 1) * 1000 / timing_.mads_per_s);
  for (Entry& entry : entries_) {
    if (entry.port.key != key) continue;
    entry.failures =
        outcome == MadOutcome::kFailed ? std::min(entry.failures + 1, kMaxDoublings) : 0;
    const Milliseconds interval =
        std::min(timing_.period * (std::int64_t{1} << static_cast<unsigned>(entry.failures)),
                 std::max(timing_.longest_wait, timing_.period));
    // From the first round, which is early, on to the port's own place.
    entry.due = slot_after(entry, now + interval - timing_.period / 2);
  }
}

SteadyTime MadSchedule::next_due(SteadyTime now) const {
  if (entries_.empty()) return now + timing_.period;
  const auto first = std::min_element(entries_.begin(), entries_.end(),
                                      [](const Entry& a, const Entry& b) { return a.due < b.due; });
  return std::max(first->due, budget_from_);
}

}  // namespace linkhealth
