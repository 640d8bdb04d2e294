#include "model/intervals.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

Interval::Interval(const OpenInterval& open)
    : begin(open.begin),
      end(open.end),
      ber(static_cast<float>(open.ber)),
      ber_floor(static_cast<float>(open.ber_floor)),
      utilization(static_cast<float>(open.utilization)),
      carrier(open.carrier),
      clean(open.clean),
      lanes(open.lanes) {
  for (const FlowInfo& row : flow_table()) {
    const double value = open.flow(row.flow);
    if (std::isnan(value)) continue;
    known_.add(row.flow);
    if (value != 0) counted_.add(row.flow);
  }
  values_.reserve(counted_.size() + lanes);
  for (const FlowInfo& row : flow_table())
    if (counted_.has(row.flow)) values_.push_back(static_cast<float>(open.flow(row.flow)));
  values_.insert(values_.end(), open.lane_bits.begin(), open.lane_bits.begin() + lanes);
}

void Interval::take_late(Flow flow, double value, Combine combine) {
  known_.add(flow);
  if (value == 0) return;
  const auto at = values_.begin() + static_cast<std::ptrdiff_t>(counted_.before(flow));
  const auto told = static_cast<float>(value);
  if (!counted_.has(flow)) {
    counted_.add(flow);
    values_.insert(at, told);
  } else {
    *at = combine == Combine::kSum ? *at + told : std::max(*at, told);
  }
}

}  // namespace linkhealth
