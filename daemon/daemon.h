// Connects the parts: a source of snapshots, the engine, and the outputs of its reports.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "daemon/log.h"
#include "daemon/options.h"

namespace linkhealth {

/// The settings of the sampler, the metrics, the database, the far ends and the diagnosis.
std::span<const SettingGroup> all_setting_groups();

/// The configuration file (or the defaults), overridden by the flags.
Result<Config> effective_config(const DaemonOptions& options);

/// Runs until a signal ends it. An error when it could not start: an address in use, a state
/// directory that can't be created, a bad recording.
Result<void> run_daemon(Config config, const DaemonOptions& options, const Clock& clock, Log& log);

}  // namespace linkhealth
