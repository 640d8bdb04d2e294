// What can't be read any more is not known.
#include <algorithm>

#include "model/counter_probes.h"
#include "model/history.h"
#include "model/reading_ages.h"

namespace linkhealth {

/// A module that can't be read is unknown. It is read each minute, and busy now and then.
void PortHistory::end_old_module(SteadyTime now) {
  const auto gap = blind.find("module");
  if (own.read_at && gap != blind.end() && !gap->second.part &&
      in_seconds(now - *own.read_at) >= kUnreadableS)
    end_module();
}

/// As those of the whole port, in end_old_counters().
void PortHistory::end_old_lanes(SteadyTime now) {
  if (latest.fec_lanes.empty() || !counters.lanes_at ||
      in_seconds(now - *counters.lanes_at) < kUnreadableS)
    return;
  const bool hidden = std::ranges::any_of(blind, [](const auto& entry) {
    const auto is_hidden = [&](std::string_view of) {
      return hides(entry.first, entry.second.reason, of);
    };
    return !entry.second.part && (is_hidden("fec") || is_hidden("driver_stats"));
  });
  if (hidden) latest.fec_lanes.clear();
}

/// What can't be read any more is not known: a total that stands still would look like a link
/// without errors.
void PortHistory::end_old_counters(SteadyTime now) {
  if (blind.empty() || !latest.counters) return;
  end_old_lanes(now);
  for (const auto& entry : blind) {
    const std::string& probe = entry.first;
    const Blindness& gap = entry.second;
    // A part: files of one directory, which take turns. Which of them fail, and since when, their
    // own ages say.
    if (!gap.part && in_seconds(now - gap.since) < kUnreadableS) continue;
    const auto is_hidden = [&](std::string_view of) { return hides(probe, gap.reason, of); };
    const auto is_old = [&](CounterId id) {
      if (!is_hidden(probe_of(id))) return false;
      if (!gap.part && probe_of(id) == probe) return true;
      const double age_s = in_seconds(now - rates_.read_at(id, SteadyTime{}));
      return age_s >= (gap.part ? kFileUnreadableS : kUnreadableS);
    };
    latest.counters->forget_known_if(is_old);
    if (!gap.part)
      latest.counters->forget_other_if(
          [&](const auto& name) { return is_hidden(probe_of_other(name)); });
  }
}

}  // namespace linkhealth
