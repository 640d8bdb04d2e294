// Puts the parts together: a source of snapshots, the engine, and everything that listens to its
// reports.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "daemon/log.h"
#include "daemon/options.h"

namespace linkhealth {

/// Every knob there is: those of the engine and of the sampler.
std::span<const KnobGroup> all_knob_groups();

/// The configuration file (or the defaults) with the flags on top.
Result<Config> effective_config(const DaemonOptions& options);

/// Runs until a signal ends it. An Error when it could not start: a bad address, a state directory
/// that can't be made, a recording that is none.
Result<void> run_daemon(Config config, const DaemonOptions& options, const Clock& clock, Log& log);

}  // namespace linkhealth
