// A reload of the configuration (SIGHUP, systemctl reload): which changes take effect at once, and
// which need a restart.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "daemon/engine/engine.h"
#include "daemon/options.h"

namespace linkhealth {

/// The configuration file, the plan that it names and the flags, for the node of this name. An
/// error names file and line.
Result<Config> complete_config(const DaemonOptions& options, const std::string& node);
/// The engine's part of it. `recorded`: the expectations of a played recording; the configuration's
/// take precedence.
EngineSettings engine_settings(const Config& config, const std::string& node,
                               const std::map<PortKey, ExpectedPort>& recorded);

/// A key of the configuration that differs.
struct ConfigChange {
  std::string key;       ///< "ledger.quiet_s", "ports.mlx5_0/1"
  std::string text;      ///< "ledger.quiet_s 300 -> 60"; without values if `restart`
  bool restart = false;  ///< it takes effect at the next start
};
/// Ordered by key.
std::vector<ConfigChange> config_changes(const Config& from, const Config& to);
/// The result of a reload, on one line. `now`: changes against the previous configuration;
/// `since_start`: against that of the start, from which those that need a restart are listed.
std::string describe_reload(const std::vector<ConfigChange>& now,
                            const std::vector<ConfigChange>& since_start);

}  // namespace linkhealth
