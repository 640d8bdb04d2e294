// A setting is a number in a rule that an operator may change, declared next to its use with its
// default, bounds, unit and meaning. The YAML key, --check-config, --dump-config and the
// suggestions for misspelt keys follow from the row.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace linkhealth {

struct Knob {
  std::string_view name;  ///< ends in its unit
  double value;           ///< the default
  double min;
  double max;
  std::string_view unit;  ///< "s", "dB", "%", "" for a count
  std::string_view meaning;
};

/// The settings of one component, such as the sampler. In the YAML file <name>.<setting>.
struct KnobGroup {
  std::string_view name;
  std::span<const Knob> knobs;
};

/// The values of one group, in the order of its settings.
using KnobValues = std::span<const double>;

/// The values of all groups: the defaults, changed by configuration.
class KnobTable {
 public:
  KnobTable() = default;
  /// All groups at their defaults. The groups' storage must outlive the table (they are constexpr).
  explicit KnobTable(std::span<const KnobGroup> groups);

  /// REQUIRES: the group exists.
  [[nodiscard]] KnobValues values(std::string_view group) const;
  [[nodiscard]] const std::vector<KnobGroup>& groups() const { return groups_; }
  /// An error names the allowed range or the nearest good name.
  Result<void> set(std::string_view group, std::string_view knob, double value);

 private:
  std::vector<KnobGroup> groups_;
  std::map<std::string, std::vector<double>, std::less<>> values_;
};

}  // namespace linkhealth
