// How often the sampler reads what: the section "sampling" of the configuration.
#pragma once

#include <cstddef>
#include <span>

#include "base/time.h"
#include "daemon/read_worker.h"
#include "model/knobs.h"
#include "probes/module_schedule.h"

namespace linkhealth {

struct SamplerSettings {
  Milliseconds link_period{1000};
  Milliseconds counters_period{10'000};
  Milliseconds module_period{30'000};
  Milliseconds pcie_period{60'000};
  Milliseconds driver_period{60'000};
  Milliseconds rescan_period{300'000};
  /// Files of counters/ read for a port in a counters period; 0: all, each time.
  std::size_t firmware_reads = 2;
  /// A read that takes longer is reported as hung.
  Milliseconds read_patience{5'000};
  int module_pause_factor = 50;
  bool kernel_log = true;
  bool verbs_events = true;
  bool port_mads = true;
  /// Whose threads read. Not configured: who runs the daemon's loop lends them (daemon/loop.h).
  ReadWorker::Threads read_threads = ReadWorker::Threads::kOwn;
};

/// The section "sampling" of the configuration.
std::span<const KnobGroup> sampler_knob_groups();
SamplerSettings sampler_settings(const KnobTable& knobs);
/// How the module reader keeps time.
ModuleTiming module_timing(const SamplerSettings& settings);

}  // namespace linkhealth
