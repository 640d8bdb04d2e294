// A configuration read again (SIGHUP, systemctl reload): what can be taken over while running, and
// what cannot.
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
/// What the engine needs of it; `recorded`: what a played recording expects, which configuration
/// goes before.
EngineSettings engine_settings(const Config& config, const std::string& node,
                               const std::map<PortKey, ExpectedPort>& recorded);

/// A key of the configuration that differs.
struct ConfigChange {
  std::string key;    ///< "ledger.quiet_s", "ports.mlx5_0/1"
  std::string words;  ///< "ledger.quiet_s 300 -> 60"; values of outputs are left out: addresses can
                      ///< be secrets
  bool restart = false;  ///< it only counts at the next start
};
/// In the order of the keys.
std::vector<ConfigChange> config_changes(const Config& from, const Config& to);
/// What a reload came to, on one line. `taken`: against what was in force; `waiting`: against what
/// the daemon was started with, of which those that need a restart are named.
std::string reload_words(const std::vector<ConfigChange>& taken,
                         const std::vector<ConfigChange>& waiting);

}  // namespace linkhealth
