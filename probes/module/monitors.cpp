#include "probes/module/monitors.h"

namespace linkhealth {

void take_value(const MonitorPages& pages, const MonitorRow& row, ModuleSample& sample) {
  if (row.scale_known)
    sample.*row.value = read_monitor(pages.values, row.at.value, row.quantity, 0, sample.warnings);
  if (pages.flags)
    sample.*row.flags = read_flags(pages.values, pages.layout, row.at.flags, row.at.flags_bit);
}

void take_limits(const MonitorPages& pages, const MonitorRow& row, ModuleSample& sample) {
  if (!row.scale_known) return;
  sample.thresholds.*row.limits =
      read_limits(pages.limits, row.at.limits, row.quantity, pages.ends, sample.warnings);
}

void take_lane_value(const MonitorPages& pages, const MonitorRow& row, unsigned index,
                     unsigned number, ModuleLane& lane, ModuleWarnings& warnings) {
  if (row.scale_known)
    lane.*row.lane_value =
        read_monitor(pages.values, row.at.value + 2 * index, row.quantity, number, warnings);
  if (!pages.flags) return;
  const unsigned bit =
      row.at.flags_bit - 4U * (index % 2);  // the first of two lanes has the high half of the byte
  lane.*row.lane_flags = read_flags(pages.values, pages.layout, row.at.flags + index / 2, bit);
}

std::optional<bool> any_says(std::span<const ModuleHostLane> lanes,
                             std::optional<bool> ModuleHostLane::*field) {
  std::optional<bool> out;
  for (const ModuleHostLane& lane : lanes)
    if (const auto& value = lane.*field) out = out.value_or(false) || *value;
  return out;
}

}  // namespace linkhealth
