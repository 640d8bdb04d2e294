// What is asked of a port, from entries that may stand under any of its names: which names are one
// port's is known only when the port was found.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "model/snapshot.h"

namespace linkhealth {

/// By any name of a port. What the configuration says goes before the plan, field by field.
struct AskedByName {
  AskedByName() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): there is no plan
  AskedByName(std::map<PortKey, ExpectedPort> by_configuration,
              std::map<PortKey, ExpectedPort> by_plan = {})
      : expected(std::move(by_configuration)), planned(std::move(by_plan)) {}

  std::map<PortKey, ExpectedPort> expected;  ///< by the configuration
  std::map<PortKey, ExpectedPort> planned;   ///< by the plan, or by the recording that is played
  std::map<PortKey, std::string>
      exempt;  ///< ports that the configuration leaves out, with the reason
  std::map<PortKey, std::string> planned_exempt;
  [[nodiscard]] bool empty() const { return expected.empty() && planned.empty(); }
};

/// What all entries of one port come to.
struct AskedOfPort {
  std::optional<ExpectedPort> expected;  ///< nullopt: no entry expects anything
  std::string exempt;                    ///< why it is left out; "" when it is not
  /// Two entries of one rank that do not agree ("configuration says speed_mbps 800000 under
  /// mlx5_0/1 and …"); "" mostly.
  std::string contradiction;
};
/// `key`: its name while it has not come yet, and nothing else is known of it.
AskedOfPort asked_of(const AskedByName& all, const PortKey& key, const PortId& id);

/// Both, by their names as they are written: what a recording begins with.
std::map<PortKey, ExpectedPort> with_plan(const AskedByName& all);
/// Whether a name is waited for that no port has yet.
bool awaits(const AskedByName& all, const PortKey& name);

}  // namespace linkhealth
