#include "config/config.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "base/text.h"
#include "config/read_file.h"
#include "config/yaml_tree.h"
#include "model/json/json.h"

namespace linkhealth {

namespace {

using Kind = YamlNode::Kind;
constexpr std::size_t kMaxSocketPath = 107;  // sockaddr_un::sun_path with its end, unix(7)
constexpr std::size_t kMaxHostName = 253;    // RFC 1035, 2.3.4
constexpr std::uint32_t kMaxLanes = 64;
constexpr std::uint32_t kDay_s = 86400;

constexpr std::string_view kNowhere = "none";
constexpr std::array<std::string_view, 4> kLevels = {"error", "warning", "info", "debug"};

bool is_address(const std::string& host, bool bracketed) {
  in6_addr parsed{};
  if (bracketed) return inet_pton(AF_INET6, host.c_str(), &parsed) == 1;
  return host == "localhost" || inet_pton(AF_INET, host.c_str(), &parsed) == 1;
}

bool is_path(std::string_view value) { return value.starts_with('/'); }
bool is_path_or_none(std::string_view value) { return value.empty() || is_path(value); }
bool is_socket_path(std::string_view value) {
  return is_path(value) && value.size() <= kMaxSocketPath;
}
bool is_prom_file_or_none(std::string_view value) {
  return value.empty() || (is_path(value) && value.ends_with(".prom"));
}
bool is_name_or_none(std::string_view value) {
  return value.size() <= kMaxHostName && printable(value) == value &&
         value.find_first_of(" \"") == std::string_view::npos;
}
/// A client that connects needs write permission: a mode that only lets a group read is useless.
bool is_socket_mode(std::string_view value) {
  return value == "0600" || value == "0660" || value == "0666";
}
bool is_any(std::string_view /*value*/) { return true; }

/// A key whose value is a text accepted by `accept`. The tables are used for reading and writing.
struct TextKey {
  std::string_view name, comment;
  std::string Config::*field;
  bool (*accept)(std::string_view);
  std::string_view must_be;
};
constexpr std::string_view kMustBePath = "a path that begins with \"/\"";
constexpr auto kTextKeys = std::to_array<TextKey>({
    {"socket", "The Unix socket of the linkhealth command.", &Config::socket_path, is_socket_path,
     "a path that begins with \"/\", of at most 107 bytes"},
    {"socket_mode",
     "Who may read on the Unix socket: 0666 all users, 0660 socket_group, 0600 the daemon's user; "
     "root always may.",
     &Config::socket_mode, is_socket_mode, "0600, 0660 or 0666"},
    {"socket_group", "The group that owns the socket (default: the daemon's group).",
     &Config::socket_group, is_name_or_none, "the name of a group"},
    {"control_group",
     "Members of this group may acknowledge and record on the Unix socket (root and linkhealthd's "
     "user always may).",
     &Config::control_group, is_name_or_none, "the name of a group"},
    {"web_config_file",
     "TLS, passwords and client certificates for TCP, as in Prometheus exporters; reloaded when "
     "the file changes.",
     &Config::web_config_file, is_path_or_none, kMustBePath},
    {"state_dir", "Directory of the state database (faults, events, history).", &Config::state_dir,
     is_path, kMustBePath},
    {"node", "The name of this node in reports (default: the host name).", &Config::node,
     is_name_or_none, "a host name"},
    {"record", "Record every reading to this file, compressed if it ends in .gz (default: off).",
     &Config::record_path, is_any, ""},
    {"plan", "The cabling plan of the cluster: CSV, or YAML (.yaml) (default: none).",
     &Config::plan_path, is_path_or_none, kMustBePath},
    {"maintenance_dir",
     "A file in this directory, named after a port or \"all\", starts maintenance (\"\": off).",
     &Config::maintenance_dir, is_path_or_none, kMustBePath},
});
/// Paths in the section "peers".
constexpr auto kPeerKeys = std::to_array<TextKey>({
    {"lldpd_socket", "lldpd's control socket", &Config::lldpd_socket, is_path, kMustBePath},
    {"import_dir", "directory for readings of other programs (docs/import.md)", &Config::import_dir,
     is_path, kMustBePath},
});

struct PortText {
  std::string_view name;
  std::string ExpectedPort::*field;
};
constexpr std::array<PortText, 2> kPortTexts = {
    {{"rail", &ExpectedPort::rail}, {"cable", &ExpectedPort::cable}}};
constexpr std::array<PortText, 4> kPeerTexts = {{{"system", &ExpectedPort::peer_system},
                                                 {"port", &ExpectedPort::peer_port},
                                                 {"rack", &ExpectedPort::peer_rack},
                                                 {"u", &ExpectedPort::peer_u}}};

template <typename Table>
std::vector<std::string_view> names_of(const Table& table) {
  std::vector<std::string_view> names;
  std::ranges::transform(table, std::back_inserter(names),
                         [](const auto& row) { return row.name; });
  return names;
}

/// The daemon does not send alerts.
constexpr std::array<std::string_view, 2> kAlertKeys = {"alertmanager", "webhook"};
/// Keys of earlier versions whose numbers are constants now.
constexpr std::array<std::string_view, 13> kRemovedKeys = {
    "symptoms",      "differential", "judge",          "windows",           "intent",
    "trends",        "repairs",      "repair_watch",   "rival_evaluations", "proof_least_s",
    "admin_proof_s", "sure_odds",    "idle_patience_s"};

class Loader : private YamlReader {
 public:
  Loader(std::string_view file_name, std::span<const SettingGroup> groups, Config& config)
      : YamlReader(file_name), groups_(groups), config_(config) {}

  Result<void> load(const YamlNode& root) {
    if (root.kind != Kind::kNull && root.kind != Kind::kMap)
      return wrong(root.line, "a configuration consists of keys, such as \"listen: …\"");
    for (const Member& member : root.members)
      if (auto read = top_key(member); !read) return read;
    return {};
  }

 private:
  using Setter = Result<void> (Loader::*)(const Member&);
  struct Key {
    std::string_view name;
    Setter set;
  };
  static const std::array<Key, 7> kKeys;

  [[nodiscard]] Error unknown_setting(const Member& member, Keys good) const;
  [[nodiscard]] Result<double> number(const Member& member) const;
  Result<void> whole(const Member& member, std::uint32_t max,
                     std::optional<std::uint32_t>& field) const;
  Result<void> read_text(const Member& member, const TextKey& key);

  Result<void> top_key(const Member& member);
  Result<void> listen(const Member& member);
  Result<void> dry_run(const Member& member);
  Result<void> log_level(const Member& member);
  Result<void> textfile(const Member& member);
  Result<void> site(const Member& member);
  Result<void> ports(const Member& member);
  Result<void> port_key(const PortKey& port, const Member& member);
  Result<void> check_port_name(const Member& member) const;
  Result<void> peers(const Member& member);
  Result<void> group(const Member& member, const SettingGroup& group,
                     std::span<const TextKey> texts = {});

  std::span<const SettingGroup> groups_;
  Config& config_;
};

const std::array<Loader::Key, 7> Loader::kKeys = {{{"listen", &Loader::listen},
                                                   {"dry_run", &Loader::dry_run},
                                                   {"log_level", &Loader::log_level},
                                                   {"textfile", &Loader::textfile},
                                                   {"site", &Loader::site},
                                                   {"ports", &Loader::ports},
                                                   {"peers", &Loader::peers}}};

Error Loader::unknown_setting(const Member& member, Keys good) const {
  if (std::ranges::find(kRemovedKeys, member.key) == kRemovedKeys.end())
    return unknown_key(member, good);
  return wrong(member.line,
               fmt::format("\"{}\" is no longer a setting: its values are now constants (see "
                           "\"diagnosis\" and \"ledger\" for the settings)",
                           member.key));
}

Result<double> Loader::number(const Member& member) const {
  const bool plain = member.value.kind == Kind::kScalar && !member.value.quoted;
  if (const auto value = plain ? parse_double(member.value.scalar) : std::nullopt) return *value;
  return wrong(member.value.line, fmt::format("\"{}\" must be a number, not \"{}\"", member.key,
                                              printable(member.value.scalar).substr(0, 60)));
}

Result<void> Loader::whole(const Member& member, std::uint32_t max,
                           std::optional<std::uint32_t>& field) const {
  const bool plain = member.value.kind == Kind::kScalar && !member.value.quoted;
  const auto value = plain ? parse_u64(member.value.scalar) : std::nullopt;
  if (!value || *value == 0 || *value > max)
    return wrong(member.value.line,
                 fmt::format("\"{}\" must be a whole number from 1 to {}, not \"{}\"", member.key,
                             max, printable(member.value.scalar).substr(0, 60)));
  field = static_cast<std::uint32_t>(*value);
  return {};
}

Result<void> Loader::read_text(const Member& member, const TextKey& key) {
  auto value = text(member);
  if (!value) return value.error();
  if (!key.accept(*value))
    return wrong(member.value.line, fmt::format("\"{}\" must be {}", key.name, key.must_be));
  config_.*key.field = *std::move(value);
  return {};
}

Result<void> Loader::listen(const Member& member) {
  const auto value = text(member);
  if (!value) return value.error();
  auto address = parse_listen_address(*value);
  if (!address) return wrong(member.value.line, address.error().message);
  config_.listen = *std::move(address);
  return {};
}

Result<void> Loader::dry_run(const Member& member) {
  const auto value = flag(member);
  if (!value) return value.error();
  config_.dry_run = *value;
  return {};
}

Result<void> Loader::log_level(const Member& member) {
  const auto word = text(member);
  if (!word) return word.error();
  const auto level = parse_log_level(*word);
  if (!level) return wrong(member.value.line, level.error().message);
  config_.log_level = *level;
  return {};
}

Result<void> Loader::textfile(const Member& member) {
  constexpr std::array<std::string_view, 2> kGood = {"path", "period_s"};
  return each_key(member, kGood, [&](const Member& key) -> Result<void> {
    if (key.key == "period_s") {
      std::optional<std::uint32_t> period_s;
      if (auto read = whole(key, kDay_s, period_s); !read) return read;
      config_.textfile.period_s = *period_s;
      return {};
    }
    auto path = text(key);
    if (!path) return path.error();
    if (!is_prom_file_or_none(*path))
      return wrong(key.value.line,
                   "\"path\" must be a path that begins with \"/\" and ends in .prom");
    config_.textfile.path = *std::move(path);
    return {};
  });
}

Result<void> Loader::site(const Member& member) {
  return each(member, [&](const Member& label) -> Result<void> {
    const auto value = text(label);
    if (!value) return value.error();
    config_.site[label.key] = *value;
    return {};
  });
}

Result<void> Loader::ports(const Member& member) {
  constexpr std::array<std::string_view, 6> kGood = {"speed_mbps", "lanes", "peer",
                                                     "rail",       "cable", "exempt"};
  if (member.value.members.size() > kMaxExpectedPorts)
    return wrong(member.line, fmt::format("more than {} ports: no node has them (a plan holds "
                                          "those of other nodes)",
                                          kMaxExpectedPorts));
  return each(member, [&](const Member& port) -> Result<void> {
    if (auto name = check_port_name(port); !name) return name;
    return each_key(port, kGood, [&](const Member& key) { return port_key(port.key, key); });
  });
}

/// "mlx5_0/1", or a netdev's name.
Result<void> Loader::check_port_name(const Member& member) const {
  const auto slash = member.key.rfind('/');
  const auto number = slash == std::string::npos ? std::optional<std::uint64_t>(1)
                                                 : parse_u64(member.key.substr(slash + 1));
  if (slash != 0 && number && *number >= 1 && *number <= 255) return {};
  return wrong(
      member.line,
      fmt::format("\"{}\" is not a port: write DEVICE/PORT with a port number from 1 to 255, such "
                  "as mlx5_0/1, or a network device's name",
                  printable(member.key)));
}

Result<void> Loader::port_key(const PortKey& port, const Member& member) {
  const auto set = [&](const PortText& key, const Member& from) -> Result<void> {
    auto value = text(from);
    if (!value) return value.error();
    config_.expected[port].*key.field = *std::move(value);
    return {};
  };
  if (member.key == "speed_mbps")
    return whole(member, std::numeric_limits<std::uint32_t>::max(),
                 config_.expected[port].speed_mbps);
  if (member.key == "lanes") return whole(member, kMaxLanes, config_.expected[port].lanes);
  if (member.key == "peer") {
    config_.expected[port];
    return each_key(member, names_of(kPeerTexts), [&](const Member& key) {
      return set(*std::ranges::find(kPeerTexts, key.key, &PortText::name), key);
    });
  }
  if (const auto* key = std::ranges::find(kPortTexts, member.key, &PortText::name);
      key != kPortTexts.end())
    return set(*key, member);
  auto reason = text(member);
  if (!reason) return reason.error();
  if (reason->empty()) return wrong(member.line, "\"exempt\" needs the reason as its value");
  config_.exempt[port] = *std::move(reason);
  return {};
}

/// `texts`: keys of the same map that are not numbers.
Result<void> Loader::group(const Member& member, const SettingGroup& group,
                           std::span<const TextKey> texts) {
  std::vector<std::string_view> good = names_of(texts);
  for (const Setting& setting : group.settings) good.push_back(setting.name);
  return each(member, [&](const Member& key) -> Result<void> {
    if (const auto found = std::ranges::find(texts, key.key, &TextKey::name); found != texts.end())
      return read_text(key, *found);
    const auto setting =
        std::ranges::find(group.settings, std::string_view(key.key), &Setting::name);
    if (setting == group.settings.end()) return unknown_setting(key, good);
    const std::string& word = key.value.scalar;
    const bool is_switch = setting->min == 0 && setting->max == 1;
    const bool is_word =
        is_switch && key.value.kind == Kind::kScalar && (word == "on" || word == "off");
    const auto value = is_word ? Result<double>(word == "on" ? 1.0 : 0.0) : number(key);
    if (!value) return value.error();
    if (auto set = config_.setting_table.set(group.name, key.key, *value); !set)
      return wrong(key.value.line, set.error().message);
    return {};
  });
}

Result<void> Loader::peers(const Member& member) {
  const auto found = std::ranges::find(groups_, std::string_view("peers"), &SettingGroup::name);
  return group(member, found == groups_.end() ? SettingGroup{"peers", {}} : *found, kPeerKeys);
}

Result<void> Loader::top_key(const Member& member) {
  const auto has_name = [&](const auto& row) { return row.name == member.key; };
  if (const auto key = std::ranges::find_if(kKeys, has_name); key != kKeys.end())
    return (this->*key->set)(member);
  if (const auto key = std::ranges::find_if(kTextKeys, has_name); key != kTextKeys.end())
    return read_text(member, *key);
  if (const auto found = std::ranges::find_if(groups_, has_name); found != groups_.end())
    return group(member, *found);
  if (std::ranges::find(kAlertKeys, member.key) != kAlertKeys.end())
    return wrong(member.line,
                 fmt::format("\"{}\": linkhealthd sends no alerts itself; load dashboards/rules "
                             "into Prometheus, whose Alertmanager notifies",
                             member.key));
  std::vector<std::string_view> good = names_of(kKeys);
  for (const auto& names : {names_of(kTextKeys), names_of(groups_)})
    good.insert(good.end(), names.begin(), names.end());
  return unknown_setting(member, good);
}

void dump_map(std::string& out, std::string_view key,
              const std::map<std::string, std::string>& map) {
  out += fmt::format("{}:{}\n", key, map.empty() ? " {}" : "");
  for (const auto& [name, value] : map)
    out += fmt::format("  {}: {}\n", quoted_json(name), quoted_json(value));
}

void dump_texts(std::string& out, std::span<const TextKey> keys, const Config& config,
                std::string_view indent = "") {
  for (const TextKey& key : keys)
    out += fmt::format("{0}# {1}\n{0}{2}: {3}\n", indent, key.comment, key.name,
                       quoted_json(config.*key.field));
}

void dump_expected(std::string& out, const ExpectedPort& expected) {
  if (expected.speed_mbps) out += fmt::format("    speed_mbps: {}\n", *expected.speed_mbps);
  if (expected.lanes) out += fmt::format("    lanes: {}\n", *expected.lanes);
  const auto put = [&](const PortText& key, std::string_view indent) {
    if (const std::string& value = expected.*key.field; !value.empty())
      out += fmt::format("{}{}: {}\n", indent, key.name, quoted_json(value));
  };
  for (const PortText& key : kPortTexts) put(key, "    ");
  if (std::ranges::all_of(kPeerTexts,
                          [&](const auto& key) { return (expected.*key.field).empty(); }))
    return;
  out += "    peer:\n";
  for (const PortText& key : kPeerTexts) put(key, "      ");
}

void dump_ports(std::string& out, const Config& config) {
  std::map<PortKey, ExpectedPort> all = with_plan(config);
  std::map<PortKey, std::string> exempt = config.exempt;
  for (const auto& [port, reason] : config.planned_exempt)
    if (!config.expected.contains(port)) exempt.emplace(port, reason);
  for (const auto& [port, reason] : exempt) all[port];
  out += fmt::format("ports:{}\n", all.empty() ? " {}" : "");
  for (const auto& [port, expected] : all) {
    out += fmt::format("  {}:\n", quoted_json(port));
    dump_expected(out, expected);
    if (const auto reason = exempt.find(port); reason != exempt.end())
      out += fmt::format("    exempt: {}\n", quoted_json(reason->second));
  }
}

void dump_group(std::string& out, const SettingGroup& group, const Config& config) {
  out += fmt::format("\n{}:\n", group.name);
  if (group.name == "peers") dump_texts(out, kPeerKeys, config, "  ");
  const SettingValues values = config.setting_table.values(group.name);
  for (std::size_t i = 0; i < group.settings.size(); ++i) {
    const Setting& setting = group.settings[i];
    out +=
        fmt::format("  # {} ({} to {}{}{})\n  {}: {}\n", setting.meaning, setting.min, setting.max,
                    setting.unit.empty() ? "" : " ", setting.unit, setting.name, values[i]);
  }
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  if (text == kNowhere) return ListenAddress{"", 0};
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return Error{fmt::format("\"{}\" is not ADDRESS:PORT, such as 127.0.0.1:9942 or [::1]:9942",
                             printable(text))};
  std::string_view host = text.substr(0, colon);
  if (host.empty()) host = "[::]";  // ":9942": all addresses
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.find('\0') != std::string_view::npos || !is_address(std::string(host), bracketed))
    return Error{fmt::format(
        "\"{}\" is not an address: use an IPv4 address, an IPv6 address in brackets, or localhost",
        printable(host))};
  const auto port = parse_u64(text.substr(colon + 1));
  if (!port || *port > std::numeric_limits<std::uint16_t>::max())
    return Error{fmt::format("\"{}\" is not a port: use a number from 0 to 65535",
                             printable(text.substr(colon + 1)))};
  return ListenAddress{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string to_string(const ListenAddress& address) {
  if (address.host.empty()) return std::string(kNowhere);
  const bool ipv6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", address.host, ipv6 ? "]" : "", address.port);
}

std::string_view to_string(LogLevel level) { return kLevels.at(static_cast<std::size_t>(level)); }

Result<LogLevel> parse_log_level(std::string_view text) {
  for (std::size_t i = 0; i < kLevels.size(); ++i)
    if (kLevels[i] == text) return static_cast<LogLevel>(i);
  return Error{
      fmt::format("\"{}\" is not a log level: use error, warning, info or debug", printable(text))};
}

Config default_config(std::span<const SettingGroup> groups) {
  Config config;
  config.setting_table = SettingTable(groups);
  return config;
}

Result<Config> load_config(std::string_view text, std::string_view file_name,
                           std::span<const SettingGroup> groups) {
  if (text.size() > kMaxConfigBytes)
    return error_at(file_name, 1,
                    fmt::format("more than {} bytes: not a configuration", kMaxConfigBytes));
  const auto root = parse_yaml(text, file_name);
  if (!root) return root.error();
  Config config = default_config(groups);
  if (auto loaded = Loader(file_name, groups, config).load(*root); !loaded) return loaded.error();
  return config;
}

Result<Config> load_config_file(const std::string& path, std::span<const SettingGroup> groups) {
  const auto text = read_small_file(path, kMaxConfigBytes);
  return text ? load_config(*text, path, groups) : text.error();
}

std::string dump_config(const Config& config) {
  std::string out = fmt::format(
      R"(# The configuration of linkhealthd. Every key is optional; check a file with linkhealthd --check-config.
# A package has the documents that are named here (docs/...) in /usr/share/doc/linkhealth.

# Where metrics and the API listen: ADDRESS:PORT, or none.
listen: {}
)",
      quoted_json(to_string(config.listen)));
  dump_texts(out, kTextKeys, config);
  out += fmt::format(
      R"(# Diagnoses and shows, but writes no journal entry.
dry_run: {}
# error, warning, info or debug
log_level: {}
# The metrics as a file for node_exporter's textfile collector; "": off.
textfile:
  path: {}
  # how often it is written (1 to {} s)
  period_s: {}
# Labels of the place: events, alerts and tickets have them all, metrics only pod, row, rack, u and rail.
)",
      config.dry_run, to_string(config.log_level), quoted_json(config.textfile.path), kDay_s,
      config.textfile.period_s);
  dump_map(out, "site", config.site);
  out +=
      R"(# What is expected of a port: speed_mbps, lanes, peer (system, port, rack, u), rail, cable; or exempt, with the
# reason. A port is named as mlx5_0/1, mlx5_0, ens1np0 or by its PCI address ("0000:1b:00.0"), which no reboot
# changes.
)";
  dump_ports(out, config);
  for (const SettingGroup& group : config.setting_table.groups()) dump_group(out, group, config);
  return out;
}

}  // namespace linkhealth
