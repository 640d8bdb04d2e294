// How often the sampler reads each source: the section "sampling" of the configuration.
#pragma once

#include <span>

#include "base/time.h"
#include "model/setting_table.h"
#include "probes/module/module_schedule.h"

namespace linkhealth {

struct SamplerSettings {
  Milliseconds link_period{1000};
  Milliseconds counters_period{10'000};
  Milliseconds module_period{30'000};
  Milliseconds rescan_period{300'000};
  /// A read that takes longer is reported as hung.
  Milliseconds read_patience{5'000};
  int module_pause_factor = 50;
  bool kernel_log = true;
  bool verbs_events = true;
};

/// The section "sampling" of the configuration.
std::span<const SettingGroup> sampler_setting_groups();
SamplerSettings sampler_settings(const SettingTable& table);
/// The timing of the module reader.
ModuleTiming module_timing(const SamplerSettings& settings);

}  // namespace linkhealth
