// A setting is a number in a rule that an operator may change. It is declared where it is used,
// with its default, bounds, unit and meaning. The YAML key, --check-config, --dump-config and the
// suggestions for misspelt keys are derived from the row.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace linkhealth {

struct Setting {
  std::string_view name;  ///< ends in its unit
  double value;           ///< the default
  double min;
  double max;
  std::string_view unit;  ///< "s", "dB", "%", "" for a count
  std::string_view meaning;
};

/// The settings of one component, such as the sampler. The YAML key is <name>.<setting>.
struct SettingGroup {
  std::string_view name;
  std::span<const Setting> settings;
};

/// The values of one group, in the order of its settings.
using SettingValues = std::span<const double>;

/// The values of all groups: the defaults, changed by configuration.
class SettingTable {
 public:
  SettingTable() = default;
  /// All groups at their defaults. The groups' storage must outlive the table (they are constexpr).
  explicit SettingTable(std::span<const SettingGroup> groups);

  /// REQUIRES: the group exists.
  [[nodiscard]] SettingValues values(std::string_view group) const;
  [[nodiscard]] const std::vector<SettingGroup>& groups() const { return groups_; }
  /// The error names the allowed range or the nearest valid name.
  Result<void> set(std::string_view group, std::string_view setting, double value);

 private:
  std::vector<SettingGroup> groups_;
  std::map<std::string, std::vector<double>, std::less<>> values_;
};

}  // namespace linkhealth
