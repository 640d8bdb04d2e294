#include "model/json/old_gaps.h"

#include <algorithm>
#include <utility>

namespace linkhealth {

namespace {

using enum SourceId;

/// Longer than the longest pause before a source was retried.
constexpr double kGapKeepSeconds = 4000;
/// The classic counter files were read in turns: within this time each readable one was read.
constexpr double kTurnsSeconds = 60;

/// Whether a group of the snapshot shows that the source was read.
bool is_group(SourceId id) {
  constexpr SourceId kGroups[] = {kLink, kCounters, kHwCounters, kModule, kPcie};
  return std::ranges::find(kGroups, id) != std::end(kGroups);
}

/// Read for all ports at once: its gap names no port, and holds for each.
bool is_of_the_node(SourceId id) { return id == kNetdevStats || id == kDevlink; }

bool is_hung(std::string_view reason) {
  return reason.starts_with("no answer within") || reason == "the device does not answer" ||
         reason.starts_with("not read: too many");
}

SourceReport report_of(SourceId source, const std::string& reason, bool some_read) {
  SourceReport report = problem_of(source, reason, some_read);
  if (is_hung(reason)) report.state = SourceState::kHung;
  return report;
}

bool stands(const OldGaps& old, const PortKey& port, SourceId source) {
  return std::ranges::any_of(
      old.gaps, [&](const Gap& gap) { return gap.port == port && gap.probe == to_string(source); });
}

/// A gap together with values of the same source concerns a part of it: a file that this kernel or
/// card does not have.
bool is_of_a_part(SourceId source, const PortSample& sample) {
  if (source == kLink)
    return sample.link && (sample.link->carrier || !sample.link->phys_state.empty() ||
                           !sample.link->state.empty());
  if (source == kModule) return sample.module && *sample.module != ModuleSample{};
  if (source == kCounters && !sample.id.verbs) return sample.counters.has_value();
  if (source == kCounters || source == kHwCounters || source == kNetdevStats)
    return sample.counters && has_counter_of(*sample.counters, source);
  return false;
}

}  // namespace

/// A source that was read no longer has a gap.
void OldGapConverter::end_by_values(Port& port, const OldGaps& old, const PortKey& key,
                                    const PortSample& sample) {
  std::erase_if(port.gaps, [&](const auto& entry) {
    const SourceId id = entry.first;
    const bool of_verbs = id == kCounters || id == kHwCounters;
    if (id == kLink) return sample.link.has_value();
    if (id == kModule) return sample.module.has_value();
    if (id == kPeerMad || id == kPeerLldp || id == kImport) return sample.peer.has_value();
    if (id == kPcie) return sample.pcie.has_value();
    if (id == kHwmon) return sample.pcie.has_value() && !stands(old, key, kHwmon);
    if (id == kVerbsEvents) return !stands(old, key, kVerbsEvents);
    if (of_verbs || is_of_the_node(id))
      return sample.counters &&
             ((of_verbs && !sample.id.verbs) || has_counter_of(*sample.counters, id));
    return false;
  });
}

void OldGapConverter::add(Port& port, SourceId source, const Gap& gap, const PortSample& sample,
                          SteadyTime now) {
  const auto [at, is_new] = port.gaps.try_emplace(source);
  Standing& standing = at->second;
  const bool still_part = standing.part && in_seconds(now - standing.since) < kTurnsSeconds;
  const bool part = still_part || is_of_a_part(source, sample);
  if (is_new || part != standing.part) standing.since = now;
  standing.part = part;
  standing.of_node = gap.port.empty();
  standing.last = now;
  standing.reason = gap.reason;
}

SourceReports OldGapConverter::reports(const Port& port) {
  SourceReports reports;
  for (const auto& [id, gap] : port.gaps) reports.emplace(id, report_of(id, gap.reason, gap.part));
  return reports;
}

void OldGapConverter::convert(const OldGaps& old, Snapshot& snapshot) {
  any_ = any_ || !old.gaps.empty();
  if (!any_) return;
  const SteadyTime now = snapshot.taken_at;
  SourceReports of_node;
  for (auto& [key, sample] : snapshot.ports) end_by_values(ports_[key], old, key, sample);
  for (const Gap& gap : old.ended) {
    const auto id = find_source(gap.probe);
    if (!id) continue;
    for (auto& [key, port] : ports_) {
      const auto standing = port.gaps.find(*id);
      if (standing != port.gaps.end() &&
          (key == gap.port || (gap.port.empty() && standing->second.of_node)))
        port.gaps.erase(standing);
    }
  }
  for (const Gap& gap : old.gaps) {
    const auto id = find_source(gap.probe);
    if (!id) continue;
    if (gap.port.empty()) add_report(of_node, *id, report_of(*id, gap.reason, false));
    for (auto& [key, sample] : snapshot.ports)
      if (key == gap.port || (gap.port.empty() && is_of_the_node(*id)))
        add(ports_[key], *id, gap, sample, now);
  }
  for (auto& [key, sample] : snapshot.ports) {
    Port& port = ports_[key];
    std::erase_if(port.gaps, [now](const auto& entry) {
      return !is_group(entry.first) && in_seconds(now - entry.second.last) > kGapKeepSeconds;
    });
    if (port.tracker.update(reports(port), now)) sample.sources = port.tracker.sources();
  }
  if (node_.update(of_node, now)) snapshot.sources = node_.sources();
}

}  // namespace linkhealth
