#include "model/knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/text.h"

namespace linkhealth {

namespace {

template <typename Rows>
std::string suggestion(std::string_view wrong, const Rows& rows) {
  std::vector<std::string_view> names;
  names.reserve(rows.size());
  for (const auto& row : rows) names.push_back(row.name);
  const auto near = closest(wrong, names);
  return near ? fmt::format(" (did you mean \"{}\"?)", *near) : "";
}

}  // namespace

KnobTable::KnobTable(std::span<const KnobGroup> groups) : groups_(groups.begin(), groups.end()) {
  for (const KnobGroup& group : groups_) {
    std::vector<double>& values = values_[std::string(group.name)];
    for (const Knob& knob : group.knobs) values.push_back(knob.value);
  }
}

KnobValues KnobTable::values(std::string_view group) const {
  const auto at = values_.find(group);
  assert(at != values_.end());
  return at->second;
}

Result<void> KnobTable::set(std::string_view group, std::string_view knob, double value) {
  for (const KnobGroup& row : groups_) {
    if (row.name != group) continue;
    for (std::size_t i = 0; i < row.knobs.size(); ++i) {
      const Knob& found = row.knobs[i];
      if (found.name != knob) continue;
      if (!(value >= found.min && value <= found.max))
        return Error{fmt::format("\"{}\" is {}: it must be from {} to {}{}{}", knob, value,
                                 found.min, found.max, found.unit.empty() ? "" : " ", found.unit)};
      values_[std::string(group)][i] = value;
      return {};
    }
    return Error{fmt::format("unknown key \"{}\"{}", knob, suggestion(knob, row.knobs))};
  }
  return Error{fmt::format("unknown key \"{}\"{}", group, suggestion(group, groups_))};
}

}  // namespace linkhealth
