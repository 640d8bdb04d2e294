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

/// Sections and keys of which the parts are made once, when the daemon starts.
constexpr std::array<std::string_view, 13> kAtTheStart = {
    "control_group", "socket_group", "listen",   "socket", "socket_mode",     "state_dir", "node",
    "record",        "sampling",     "database", "peers",  "web_config_file", "textfile"};
constexpr std::size_t kNamed = 12;  ///< in one line
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

/// The configuration as it would be written, key by key: what is written is all there is.
std::map<std::string, std::string> flat(const Config& config) {
  std::map<std::string, std::string> out;
  if (const auto root = parse_yaml(dump_config(config), "")) flatten(*root, "", out);
  return out;
}

std::string words_of(const std::string& key, const std::string& was, const std::string& is,
                     bool restart) {
  if (key.starts_with(kPorts)) {
    const std::string port = key.substr(kPorts.size());
    if (is.starts_with("[exempt: ")) return port + " is left out";
    if (was.empty()) return port + " is expected";
    return port + (is.empty() ? " is no longer expected" : " is expected otherwise");
  }
  if (restart) return key;
  const auto shown = [](const std::string& value) {
    return value.empty() ? std::string("nothing") : value;
  };
  return fmt::format("{} {} -> {}", key, shown(was), shown(is));
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), kNamed); ++i)
    text += (i == 0 ? "" : ", ") + words[i];
  return words.size() <= kNamed ? text : text + fmt::format(" and {} more", words.size() - kNamed);
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
  EngineSettings settings{config, node, config.knobs, config.site, config.dry_run};
  for (const auto& [port, expected] : recorded) settings.planned.emplace(port, expected);
  return settings;
}

std::vector<ConfigChange> config_changes(const Config& from, const Config& to) {
  const auto before = flat(from);
  const auto after = flat(to);
  std::set<std::string> keys;
  for (const auto& [key, value] : before) keys.insert(key);
  for (const auto& [key, value] : after) keys.insert(key);
  std::vector<ConfigChange> changes;
  for (const std::string& key : keys) {
    const auto old = before.find(key);
    const auto now = after.find(key);
    if (old != before.end() && now != after.end() && old->second == now->second) continue;
    const std::string was = old == before.end() ? "" : old->second;
    const std::string is = now == after.end() ? "" : now->second;
    const std::string_view section = std::string_view(key).substr(0, key.find('.'));
    const bool restart = std::ranges::find(kAtTheStart, section) != kAtTheStart.end();
    changes.push_back({key, words_of(key, was, is, restart), restart});
  }
  return changes;
}

std::string reload_words(const std::vector<ConfigChange>& taken,
                         const std::vector<ConfigChange>& waiting) {
  std::vector<std::string> now;
  std::vector<std::string> later;
  for (const ConfigChange& change : taken)
    if (!change.restart) now.push_back(change.words);
  for (const ConfigChange& change : waiting)
    if (change.restart) later.push_back(change.key);
  std::string text = now.empty() ? "nothing changed" : listed(now);
  if (!later.empty())
    text += fmt::format("; {} need{} a restart", listed(later), later.size() == 1 ? "s" : "");
  return text;
}

}  // namespace linkhealth
