#include "daemon/sampling/sampler_settings.h"

#include <algorithm>
#include <array>

namespace linkhealth {

namespace {

enum SettingIndex : std::size_t {
  kLinkPeriod,
  kCountersPeriod,
  kModulePeriod,
  kRescanPeriod,
  kReadPatience,
  kModulePauseFactor,
  kKernelLog,
  kVerbsEvents
};

constexpr auto kSettings = std::to_array<Setting>({
    {"link_period_s", 1, 0.1, 60, "s",
     "how often carrier and carrier counts are read; an event prompts an immediate read"},
    {"counters_period_s", 10, 1, 60, "s",
     "how often every counter is read, with FEC, speed, lanes, PCIe and devlink health"},
    {"module_period_s", 30, 1, 3600, "s",
     "how often a module is read; each read holds the kernel's RTNL lock"},
    {"rescan_period_s", 300, 1, 3600, "s",
     "how often ports are scanned for without a hot-plug event"},
    {"read_patience_s", 5, 0.1, 600, "s", "a read that takes longer than this is reported as hung"},
    {"module_pause_factor", 50, 0, 1000, "",
     "after reading a module, its reads pause for this multiple of the read's duration"},
    {"kernel_log", 1, 0, 1, "",
     "1: keep the kernel log's lines about ports; 0: do not open the kernel log"},
    {"verbs_events", 1, 0, 1, "",
     "1: hold a verbs context on each RDMA device for its port and fatal events; 0: open none"},
});
constexpr std::array<SettingGroup, 1> kGroups = {{{"sampling", kSettings}}};

}  // namespace

std::span<const SettingGroup> sampler_setting_groups() { return kGroups; }

SamplerSettings sampler_settings(const SettingTable& table) {
  const SettingValues values = table.values("sampling");
  SamplerSettings settings;
  settings.link_period = from_seconds(values[kLinkPeriod]);
  settings.counters_period = from_seconds(values[kCountersPeriod]);
  settings.module_period = from_seconds(values[kModulePeriod]);
  settings.rescan_period = from_seconds(values[kRescanPeriod]);
  settings.read_patience = from_seconds(values[kReadPatience]);
  settings.module_pause_factor = static_cast<int>(values[kModulePauseFactor]);
  settings.kernel_log = values[kKernelLog] >= 0.5;
  settings.verbs_events = values[kVerbsEvents] >= 0.5;
  return settings;
}

ModuleTiming module_timing(const SamplerSettings& settings) {
  ModuleTiming timing;
  timing.period = settings.module_period;
  // Rarely, because some drivers log a line for each read of an empty cage (docs/hardware.md). A
  // link event or a driver's event about a module prompts a read at once.
  timing.absent_period = std::max<Milliseconds>(settings.module_period, std::chrono::minutes(2));
  timing.slow_factor = settings.module_pause_factor;
  return timing;
}

}  // namespace linkhealth
