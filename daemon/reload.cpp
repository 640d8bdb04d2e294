#include "daemon/reload.h"

#include <algorithm>

#include "config/plan.h"
#include "daemon/daemon.h"

namespace linkhealth {

Result<Config> complete_config(const DaemonOptions& options, const std::string& node) {
  auto config = effective_config(options);
  if (!config || config->plan_path.empty()) return config;
  const auto plan = load_plan_file(config->plan_path);
  if (!plan) return plan.error();
  apply_plan(*config, *plan, node);
  return config;
}

EngineSettings engine_settings(const Config& config, const std::string& node,
                               const std::map<PortKey, ExpectedPort>& recorded) {
  EngineSettings settings{node, config.knobs, recorded, config.exempt, config.site, config.dry_run};
  for (const auto& [port, expected] : config.expected) settings.expected[port] = expected;
  return settings;
}

std::vector<std::string> needs_restart(const Config& now, const Config& next) {
  std::vector<std::string> keys;
  if (now.listen != next.listen) keys.emplace_back("listen");
  if (now.socket_path != next.socket_path) keys.emplace_back("socket");
  if (now.state_dir != next.state_dir) keys.emplace_back("state_dir");
  if (now.node != next.node) keys.emplace_back("node");
  if (now.record_path != next.record_path) keys.emplace_back("record");
  for (const std::string_view group : {"sampling", "memory", "peers"})
    if (!std::ranges::equal(now.knobs.values(group), next.knobs.values(group))) keys.emplace_back(group);
  if (now.lldpd_socket != next.lldpd_socket || now.import_dir != next.import_dir)
    if (std::ranges::find(keys, "peers") == keys.end()) keys.emplace_back("peers");
  return keys;
}

}  // namespace linkhealth
