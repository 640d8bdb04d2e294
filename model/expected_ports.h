// What configuration and plan expect of a port. Entries may use any of its names; which names are
// one port's is known once the port is discovered.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "model/snapshot.h"

namespace linkhealth {

/// Limit for one node, in its configuration or the header of its recording. Every fold looks at all
/// of them each second; more than this is a hostile file.
inline constexpr std::size_t kMaxExpectedPorts = 4096;

/// Keyed by any name of a port. The configuration takes precedence over the plan, field by field.
struct ExpectedPorts {
  ExpectedPorts() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): there is no plan
  ExpectedPorts(std::map<PortKey, ExpectedPort> by_configuration,
                std::map<PortKey, ExpectedPort> by_plan = {})
      : expected(std::move(by_configuration)), planned(std::move(by_plan)) {}

  std::map<PortKey, ExpectedPort> expected;  ///< from the configuration
  std::map<PortKey, ExpectedPort> planned;  ///< from the plan, or from the recording that is played
  std::map<PortKey, std::string> exempt;  ///< ports that the configuration exempts, with the reason
  std::map<PortKey, std::string> planned_exempt;
  [[nodiscard]] bool empty() const { return expected.empty() && planned.empty(); }
};

/// All entries of one port together.
struct ExpectedConfig {
  std::optional<ExpectedPort> expected;  ///< nullopt: no entry expects anything
  std::string exempt;                    ///< why the port is exempt; "" when it is not
  /// Contradictory entries of the configuration or the plan ("configuration: speed_mbps is 800000
  /// under mlx5_0/1 and …"); usually "".
  std::string contradiction;
};
/// `key`: the port's label, which is all that is known of a port that was never seen.
ExpectedConfig expected_for(const ExpectedPorts& all, const PortKey& key, const PortId& id);

/// Configuration and plan joined, under their own names, for the header of a recording.
std::map<PortKey, ExpectedPort> with_plan(const ExpectedPorts& all);
/// Whether a port of this name is expected.
bool is_expected(const ExpectedPorts& all, const PortKey& name);

}  // namespace linkhealth
