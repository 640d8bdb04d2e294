// A configuration read again (SIGHUP, systemctl reload): what can be taken over while running, and what cannot.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "daemon/engine.h"
#include "daemon/options.h"

namespace linkhealth {

/// The configuration file, the plan that it names and the flags, for the node of this name. An error names file and
/// line.
Result<Config> complete_config(const DaemonOptions& options, const std::string& node);
/// What the engine needs of it; `recorded`: what a played recording expects, which configuration goes before.
EngineSettings engine_settings(const Config& config, const std::string& node,
                               const std::map<PortKey, ExpectedPort>& recorded);
/// The keys that differ and only count at the next start: "listen", "sampling", …
std::vector<std::string> needs_restart(const Config& now, const Config& next);

}  // namespace linkhealth
