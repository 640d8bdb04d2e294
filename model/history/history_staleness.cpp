// One rule: what a source gave is unknown so long after it was read, unless the source is ok. A
// total that stands still would look like a link without errors, and a module's last powers like a
// good one's.
#include "model/history/history.h"

namespace linkhealth {

/// Of one that another source stops nothing is known but the age of what it gave.
const SourceStatus* PortHistory::blind_to(SourceId source) const {
  if (!latest.sources) return nullptr;
  const auto at = latest.sources->find(source);
  if (at == latest.sources->end() || at->second.state == SourceState::kOk) return nullptr;
  const SourceStatus& status = at->second;
  return status.reason.empty() && !is_stale(source, status.since) ? nullptr : &status;
}

bool PortHistory::is_stale(SourceId source, SteadyTime read_at) const {
  return latest.sources && !is_ok(*latest.sources, source) &&
         in_seconds(now_ - read_at) >= source_info(source).stale_after_s;
}

void PortHistory::forget_stale(SteadyTime now) {
  now_ = now;
  if (!latest.sources || latest.sources->empty()) return;
  if (latest.module && own.read_at && is_stale(SourceId::kModule, *own.read_at)) end_module();
  if (latest.counters) forget_stale_counters();
}

void PortHistory::forget_stale_counters() {
  latest.counters->forget_known_if(
      [this](CounterId id) { return is_stale(source_of(id), rates_.read_at(id, SteadyTime{})); });
  // Of those that the table does not know no time is kept.
  latest.counters->forget_other_if([this](const auto& name) {
    const auto status = latest.sources->find(source_of_other(name));
    return status != latest.sources->end() && status->second.state != SourceState::kOk &&
           is_stale(status->first, status->second.since);
  });
  if (!counters.lanes_at) return;
  if (is_stale(SourceId::kFec, *counters.lanes_at) ||
      is_stale(SourceId::kDriverStats, *counters.lanes_at))
    latest.fec_lanes.clear();
}

}  // namespace linkhealth
