#include "daemon/reload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "config/plan.h"
#include "config/yaml_tree.h"
#include "daemon/daemon.h"

namespace linkhealth {

namespace {

/// Sections and keys that are read only at the start.
constexpr std::array<std::string_view, 13> kAtTheStart = {
    "control_group", "socket_group", "listen",   "socket", "socket_mode",     "state_dir", "node",
    "record",        "sampling",     "database", "peers",  "web_config_file", "textfile"};
constexpr std::size_t kMaxListed = 12;
constexpr std::string_view kPorts = "ports.";

std::string as_text(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kScalar) return node.scalar;
  std::string text;
  for (const YamlNode& item : node.items) text += (text.empty() ? "" : ", ") + as_text(item);
  for (const YamlNode::Member& member : node.members)
    text += (text.empty() ? "" : ", ") + member.key + ": " + as_text(member.value);
  return "[" + text + "]";
}

/// A port is one entry with all its settings.
void flatten(const YamlNode& node, const std::string& path,
             std::map<std::string, std::string>& out) {
  if (node.kind != YamlNode::Kind::kMap || path.starts_with(kPorts)) {
    out[path] = as_text(node);
    return;
  }
  for (const YamlNode::Member& member : node.members)
    flatten(member.value, path.empty() ? member.key : path + "." + member.key, out);
}

/// The configuration key by key, as dump_config() writes it.
std::map<std::string, std::string> flat(const Config& config) {
  std::map<std::string, std::string> out;
  if (const auto root = parse_yaml(dump_config(config), "")) flatten(*root, "", out);
  return out;
}

std::string describe_change(const std::string& key, const std::string& was, const std::string& is,
                            bool restart) {
  if (key.starts_with(kPorts)) {
    const std::string port = key.substr(kPorts.size());
    if (is.starts_with("[exempt: ")) return port + " is excluded";
    if (was.empty()) return port + " is expected";
    return port + (is.empty() ? " is no longer expected" : " has changed expectations");
  }
  if (restart) return key;
  const auto shown = [](const std::string& value) {
    return value.empty() ? std::string("nothing") : value;
  };
  return fmt::format("{} {} -> {}", key, shown(was), shown(is));
}

std::string listed(const std::vector<std::string>& texts) {
  std::string text;
  for (std::size_t i = 0; i < std::min(texts.size(), kMaxListed); ++i)
    text += (i == 0 ? "" : ", ") + texts[i];
  return texts.size() <= kMaxListed ? text
                                    : text + fmt::format(" and {} more", texts.size() - kMaxListed);
}

}  // namespace

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
  EngineSettings settings{config, node, config.setting_table, config.site, config.dry_run};
  for (const auto& [port, expected] : recorded) settings.planned.emplace(port, expected);
  return settings;
}

std::vector<ConfigChange> config_changes(const Config& from, const Config& to) {
  auto before = flat(from);
  auto after = flat(to);
  std::set<std::string> keys;
  for (const auto* map : {&before, &after})
    for (const auto& [key, value] : *map) keys.insert(key);
  std::vector<ConfigChange> changes;
  for (const std::string& key : keys) {
    if (before.contains(key) && after.contains(key) && before[key] == after[key]) continue;
    const std::string_view section = std::string_view(key).substr(0, key.find('.'));
    const bool restart = std::ranges::find(kAtTheStart, section) != kAtTheStart.end();
    changes.push_back({key, describe_change(key, before[key], after[key], restart), restart});
  }
  return changes;
}

std::string describe_reload(const std::vector<ConfigChange>& now,
                            const std::vector<ConfigChange>& since_start) {
  std::vector<std::string> taken;
  std::vector<std::string> waiting;
  for (const ConfigChange& change : now)
    if (!change.restart) taken.push_back(change.text);
  for (const ConfigChange& change : since_start)
    if (change.restart) waiting.push_back(change.key);
  std::string text = taken.empty() ? "nothing changed" : listed(taken);
  if (!waiting.empty())
    text += fmt::format("; {} need{} a restart", listed(waiting), waiting.size() == 1 ? "s" : "");
  return text;
}

}  // namespace linkhealth
