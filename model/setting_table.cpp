#include "model/setting_table.h"

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

SettingTable::SettingTable(std::span<const SettingGroup> groups)
    : groups_(groups.begin(), groups.end()) {
  for (const SettingGroup& group : groups_) {
    std::vector<double>& values = values_[std::string(group.name)];
    for (const Setting& setting : group.settings) values.push_back(setting.value);
  }
}

SettingValues SettingTable::values(std::string_view group) const {
  const auto at = values_.find(group);
  assert(at != values_.end());
  return at->second;
}

Result<void> SettingTable::set(std::string_view group, std::string_view setting, double value) {
  for (const SettingGroup& row : groups_) {
    if (row.name != group) continue;
    for (std::size_t i = 0; i < row.settings.size(); ++i) {
      const Setting& found = row.settings[i];
      if (found.name != setting) continue;
      if (!(value >= found.min && value <= found.max))
        return Error{fmt::format("\"{}\" is {}: it must be from {} to {}{}{}", setting, value,
                                 found.min, found.max, found.unit.empty() ? "" : " ", found.unit)};
      values_[std::string(group)][i] = value;
      return {};
    }
    return Error{fmt::format("unknown key \"{}\"{}", setting, suggestion(setting, row.settings))};
  }
  return Error{fmt::format("unknown key \"{}\"{}", group, suggestion(group, groups_))};
}

}  // namespace linkhealth
