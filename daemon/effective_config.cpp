// The configuration that is in force: the file, or the defaults, with the flags on top.
#include "daemon/daemon.h"
#include "daemon/history_keeper.h"
#include "daemon/sampling/peer_sources.h"
#include "daemon/sampling/sampler.h"
#include "diagnosis/settings.h"
#include "exporters/metrics/metrics.h"

namespace linkhealth {

std::span<const KnobGroup> all_knob_groups() {
  static const std::vector<KnobGroup> groups = [] {
    std::vector<KnobGroup> all(sampler_knob_groups().begin(), sampler_knob_groups().end());
    all.insert(all.end(), metric_knob_groups().begin(), metric_knob_groups().end());
    all.insert(all.end(), history_knob_groups().begin(), history_knob_groups().end());
    all.insert(all.end(), peer_knob_groups().begin(), peer_knob_groups().end());
    all.insert(all.end(), diagnosis_knob_groups().begin(), diagnosis_knob_groups().end());
    return all;
  }();
  return groups;
}

Result<Config> effective_config(const DaemonOptions& options) {
  auto config = options.config_file.empty()
                    ? Result<Config>(default_config(all_knob_groups()))
                    : load_config_file(options.config_file, all_knob_groups());
  if (!config) return config;
  if (options.listen) {
    const auto address = parse_listen_address(*options.listen);
    if (!address) return Error{"--listen: " + address.error().message};
    config->listen = *address;
  }
  if (options.log_level) {
    const auto level = parse_log_level(*options.log_level);
    if (!level) return Error{"--log-level: " + level.error().message};
    config->log_level = *level;
  }
  if (options.socket) config->socket_path = *options.socket;
  if (options.state_dir) config->state_dir = *options.state_dir;
  if (options.dry_run) config->dry_run = true;
  return config;
}

}  // namespace linkhealth
