#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <limits>

#include "base/text.h"
#include "config/config.h"
#include "config/yaml_tree.h"

namespace linkhealth {

namespace {

using Kind = YamlNode::Kind;
constexpr std::size_t kMaxSocketPath = 107;  // sockaddr_un::sun_path with its end, unix(7)
constexpr std::size_t kMaxHostName = 253;    // RFC 1035, 2.3.4

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
/// A client that connects must be able to write: a mode that lets a group only read is useless.
bool is_socket_mode(std::string_view value) {
  return value == "0600" || value == "0660" || value == "0666";
}
bool is_any(std::string_view /*value*/) { return true; }

/// A key whose value is a text that `good` accepts.
struct TextKey {
  std::string_view name;
  std::string Config::*place;
  bool (*good)(std::string_view);
  std::string_view must_be;
};
constexpr std::string_view kPathWords = "a path that begins with \"/\"";
constexpr std::array<TextKey, 10> kTextKeys = {
    {{"socket", &Config::socket_path, is_socket_path,
      "a path that begins with \"/\", of at most 107 bytes"},
     {"state_dir", &Config::state_dir, is_path, kPathWords},
     {"node", &Config::node, is_name_or_none, "a host name"},
     {"record", &Config::record_path, is_any, ""},
     {"plan", &Config::plan_path, is_path_or_none, kPathWords},
     {"maintenance_dir", &Config::maintenance_dir, is_path_or_none, kPathWords},
     {"control_group", &Config::control_group, is_name_or_none, "the name of a group"},
     {"socket_group", &Config::socket_group, is_name_or_none, "the name of a group"},
     {"socket_mode", &Config::socket_mode, is_socket_mode, "0600, 0660 or 0666"},
     {"web_config_file", &Config::web_config_file, is_path_or_none, kPathWords}}};
/// The daemon does not send alerts.
constexpr std::array<std::string_view, 2> kAlertKeys = {"alertmanager", "webhook"};

/// Carries the file's name and the first error through the walk.
/// Sections and keys of earlier versions whose numbers are constants now.
constexpr std::array<std::string_view, 13> kConstantsNow = {
    "symptoms",      "differential", "judge",          "windows",           "intent",
    "trends",        "repairs",      "repair_watch",   "rival_evaluations", "proof_least_s",
    "admin_proof_s", "sure_odds",    "idle_patience_s"};

class Loader {
 public:
  Loader(std::string_view file_name, std::span<const KnobGroup> groups, Config& config)
      : file_name_(file_name), groups_(groups), config_(config) {}

  Result<void> load(const YamlNode& root);

 private:
  using Member = YamlNode::Member;
  using Setter = Result<void> (Loader::*)(const Member&);
  struct Key {
    std::string_view name;
    Setter set;
  };
  static const std::array<Key, 7> kKeys;

  Error wrong(std::size_t line, std::string_view what) const {
    return error_at(file_name_, line, what);
  }
  Error unknown_key(const Member& member, std::span<const std::string_view> good) const;
  Result<void> must_be_map(const Member& member) const;
  Result<std::string> text(const Member& member) const;
  Result<double> number(const Member& member) const;
  Result<std::uint32_t> whole(const Member& member, std::uint32_t min, std::uint32_t max) const;
  Result<void> read_text(const Member& member, std::string& place, bool (*good)(std::string_view),
                         std::string_view must_be) const;

  Result<void> top_key(const Member& member);
  Result<void> listen(const Member& member);
  Result<void> dry_run(const Member& member);
  Result<void> log_level(const Member& member);
  Result<void> textfile(const Member& member);
  Result<void> site(const Member& member);
  Result<void> ports(const Member& member);
  Result<void> port(const Member& member);
  Result<void> port_key(const PortKey& port, const Member& member);
  Result<void> peer(ExpectedPort& expected, const Member& member);
  Result<void> check_port_name(const Member& member) const;
  Result<void> peers(const Member& member);
  Result<void> group(const Member& member, const KnobGroup& knobs,
                     std::span<const std::string_view> others = {});

  std::string_view file_name_;
  std::span<const KnobGroup> groups_;
  Config& config_;
};

const std::array<Loader::Key, 7> Loader::kKeys = {{{"listen", &Loader::listen},
                                                   {"dry_run", &Loader::dry_run},
                                                   {"log_level", &Loader::log_level},
                                                   {"textfile", &Loader::textfile},
                                                   {"site", &Loader::site},
                                                   {"ports", &Loader::ports},
                                                   {"peers", &Loader::peers}}};

Error Loader::unknown_key(const Member& member, std::span<const std::string_view> good) const {
  if (std::ranges::find(kConstantsNow, member.key) != kConstantsNow.end())
    return wrong(member.line,
                 fmt::format("\"{}\" is no setting any more: its numbers are constants of the "
                             "diagnosis; \"diagnosis\" and \"ledger\" hold what can be set",
                             member.key));
  const auto near = closest(member.key, good);
  return wrong(member.line, fmt::format("unknown key \"{}\"{}", printable(member.key),
                                        near ? fmt::format(" (did you mean \"{}\"?)", *near) : ""));
}

Result<void> Loader::must_be_map(const Member& member) const {
  if (member.value.kind == Kind::kMap || member.value.kind == Kind::kNull) return {};
  return wrong(member.value.line,
               fmt::format("\"{}\" must hold keys, each on a line of its own", member.key));
}

Result<std::string> Loader::text(const Member& member) const {
  if (member.value.kind == Kind::kNull) return std::string();
  if (member.value.kind != Kind::kScalar)
    return wrong(member.value.line, fmt::format("\"{}\" must be text", member.key));
  if (member.value.scalar.find('\0') != std::string::npos)
    return wrong(member.value.line, fmt::format("\"{}\" holds a NUL byte", member.key));
  return member.value.scalar;
}

Result<double> Loader::number(const Member& member) const {
  const bool plain = member.value.kind == Kind::kScalar && !member.value.quoted;
  if (const auto value = plain ? parse_double(member.value.scalar) : std::nullopt) return *value;
  return wrong(member.value.line, fmt::format("\"{}\" must be a number, not \"{}\"", member.key,
                                              printable(member.value.scalar).substr(0, 60)));
}

Result<std::uint32_t> Loader::whole(const Member& member, std::uint32_t min,
                                    std::uint32_t max) const {
  const bool plain = member.value.kind == Kind::kScalar && !member.value.quoted;
  const auto value = plain ? parse_u64(member.value.scalar) : std::nullopt;
  if (value && *value >= min && *value <= max) return static_cast<std::uint32_t>(*value);
  return wrong(member.value.line,
               fmt::format("\"{}\" must be a whole number from {} to {}, not \"{}\"", member.key,
                           min, max, printable(member.value.scalar).substr(0, 60)));
}

Result<void> Loader::read_text(const Member& member, std::string& place,
                               bool (*good)(std::string_view), std::string_view must_be) const {
  auto value = text(member);
  if (!value) return value.error();
  if (!good(*value))
    return wrong(member.value.line, fmt::format("\"{}\" must be {}", member.key, must_be));
  place = *std::move(value);
  return {};
}

Result<void> Loader::listen(const Member& member) {
  auto value = text(member);
  if (!value) return value.error();
  auto address = parse_listen_address(*value);
  if (!address) return wrong(member.value.line, address.error().message);
  config_.listen = *address;
  return {};
}

Result<void> Loader::dry_run(const Member& member) {
  const std::string& word = member.value.scalar;
  if (member.value.kind != Kind::kScalar || member.value.quoted ||
      (word != "true" && word != "false"))
    return wrong(member.value.line,
                 fmt::format("\"dry_run\" must be true or false, not \"{}\"", printable(word)));
  config_.dry_run = word == "true";
  return {};
}

Result<void> Loader::log_level(const Member& member) {
  auto word = text(member);
  if (!word) return word.error();
  auto level = parse_log_level(*word);
  if (!level) return wrong(member.value.line, level.error().message);
  config_.log_level = *level;
  return {};
}

Result<void> Loader::textfile(const Member& member) {
  constexpr std::array<std::string_view, 2> kGood = {"path", "period_s"};
  constexpr std::uint32_t kDay_s = 86400;
  if (auto map = must_be_map(member); !map) return map;
  for (const Member& key : member.value.members) {
    if (key.key == "path") {
      if (auto read = read_text(key, config_.textfile.path, is_prom_file_or_none,
                                "a path that begins with \"/\" and ends in .prom");
          !read)
        return read;
    } else if (key.key == "period_s") {
      const auto period_s = whole(key, 1, kDay_s);
      if (!period_s) return period_s.error();
      config_.textfile.period_s = *period_s;
    } else {
      return unknown_key(key, kGood);
    }
  }
  return {};
}

Result<void> Loader::site(const Member& member) {
  if (auto map = must_be_map(member); !map) return map;
  for (const Member& label : member.value.members) {
    auto value = text(label);
    if (!value) return value.error();
    config_.site[label.key] = *value;
  }
  return {};
}

Result<void> Loader::ports(const Member& member) {
  if (auto map = must_be_map(member); !map) return map;
  for (const Member& one : member.value.members)
    if (auto read = port(one); !read) return read;
  return {};
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

Result<void> Loader::port(const Member& member) {
  if (auto name = check_port_name(member); !name) return name;
  if (auto map = must_be_map(member); !map) return map;
  for (const Member& key : member.value.members)
    if (auto read = port_key(member.key, key); !read) return read;
  return {};
}

Result<void> Loader::port_key(const PortKey& port, const Member& member) {
  constexpr std::array<std::string_view, 6> kGood = {"speed_mbps", "lanes", "peer",
                                                     "rail",       "cable", "exempt"};
  if (member.key == "speed_mbps") {
    auto value = whole(member, 1, std::numeric_limits<std::uint32_t>::max());
    if (!value) return value.error();
    config_.expected[port].speed_mbps = *value;
  } else if (member.key == "lanes") {
    auto value = whole(member, 1, 64);
    if (!value) return value.error();
    config_.expected[port].lanes = *value;
  } else if (member.key == "peer") {
    return peer(config_.expected[port], member);
  } else if (member.key == "rail" || member.key == "cable") {
    auto value = text(member);
    if (!value) return value.error();
    (member.key == "rail" ? config_.expected[port].rail : config_.expected[port].cable) = *value;
  } else if (member.key == "exempt") {
    auto reason = text(member);
    if (!reason) return reason.error();
    if (reason->empty()) return wrong(member.line, "\"exempt\" needs the reason as its value");
    config_.exempt[port] = *reason;
  } else {
    return unknown_key(member, kGood);
  }
  return {};
}

Result<void> Loader::peer(ExpectedPort& expected, const Member& member) {
  constexpr std::array<std::string_view, 4> kGood = {"system", "port", "rack", "u"};
  if (auto map = must_be_map(member); !map) return map;
  for (const Member& key : member.value.members) {
    const auto at = std::ranges::find(kGood, key.key);
    if (at == kGood.end()) return unknown_key(key, kGood);
    auto value = text(key);
    if (!value) return value.error();
    constexpr std::array kParts = {&ExpectedPort::peer_system, &ExpectedPort::peer_port,
                                   &ExpectedPort::peer_rack, &ExpectedPort::peer_u};
    expected.*kParts.at(static_cast<std::size_t>(at - kGood.begin())) = *value;
  }
  return {};
}

/// `others`: keys of the same map that are read elsewhere.
Result<void> Loader::group(const Member& member, const KnobGroup& knobs,
                           std::span<const std::string_view> others) {
  if (auto map = must_be_map(member); !map) return map;
  for (const Member& key : member.value.members) {
    if (std::ranges::find(others, key.key) != others.end()) continue;
    std::vector<std::string_view> good(others.begin(), others.end());
    for (const Knob& knob : knobs.knobs) good.push_back(knob.name);
    if (std::find(good.begin(), good.end(), key.key) == good.end()) return unknown_key(key, good);
    const std::string& word = key.value.scalar;
    const bool is_word = key.value.kind == Kind::kScalar && (word == "on" || word == "off");
    auto value = is_word ? Result<double>(word == "on" ? 1.0 : 0.0) : number(key);
    if (!value) return value.error();
    const auto knob = std::ranges::find(knobs.knobs, std::string_view(key.key), &Knob::name);
    if (is_word && (knob->min != 0 || knob->max != 1))
      return wrong(key.value.line,
                   fmt::format("\"{}\" must be a number, not \"{}\"", key.key, word));
    if (auto set = config_.knobs.set(knobs.name, key.key, *value); !set)
      return wrong(key.value.line, set.error().message);
  }
  return {};
}

/// The paths of the far end's sources stand among their knobs.
Result<void> Loader::peers(const Member& member) {
  constexpr std::array<std::string_view, 2> kPaths = {"lldpd_socket", "import_dir"};
  for (const Member& key : member.value.members) {
    if (std::ranges::find(kPaths, key.key) == kPaths.end()) continue;
    std::string& place = key.key == "lldpd_socket" ? config_.lldpd_socket : config_.import_dir;
    if (auto read = read_text(key, place, is_path, kPathWords); !read) return read;
  }
  const auto knobs = std::ranges::find(groups_, std::string_view("peers"), &KnobGroup::name);
  return group(member, knobs == groups_.end() ? KnobGroup{"peers", {}} : *knobs, kPaths);
}

Result<void> Loader::top_key(const Member& member) {
  std::vector<std::string_view> good;
  for (const Key& key : kKeys) {
    if (key.name == member.key) return (this->*key.set)(member);
    good.push_back(key.name);
  }
  for (const TextKey& key : kTextKeys) {
    if (key.name == member.key) return read_text(member, config_.*key.place, key.good, key.must_be);
    good.push_back(key.name);
  }
  if (std::ranges::find(kAlertKeys, member.key) != kAlertKeys.end())
    return wrong(member.line,
                 fmt::format("\"{}\": linkhealthd sends no alerts itself; load dashboards/rules "
                             "into Prometheus, whose Alertmanager notifies",
                             member.key));
  for (const KnobGroup& candidate : groups_) {
    if (candidate.name == member.key) return group(member, candidate);
    good.push_back(candidate.name);
  }
  return unknown_key(member, good);
}

Result<void> Loader::load(const YamlNode& root) {
  if (root.kind == Kind::kNull) return {};
  if (root.kind != Kind::kMap)
    return wrong(root.line, "a configuration is made of keys, such as \"listen: …\"");
  for (const Member& member : root.members)
    if (auto read = top_key(member); !read) return read;
  return {};
}

}  // namespace

Config default_config(std::span<const KnobGroup> groups) {
  Config config;
  config.knobs = KnobTable(groups);
  return config;
}

Result<Config> load_config(std::string_view text, std::string_view file_name,
                           std::span<const KnobGroup> groups) {
  if (text.size() > kMaxConfigBytes)
    return error_at(file_name, 1,
                    fmt::format("more than {} bytes: not a configuration", kMaxConfigBytes));
  auto root = parse_yaml(text, file_name);
  if (!root) return root.error();
  Config config = default_config(groups);
  if (auto loaded = Loader(file_name, groups, config).load(*root); !loaded) return loaded.error();
  return config;
}

Result<Config> load_config_file(const std::string& path, std::span<const KnobGroup> groups) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return errno_error(path, errno);
  std::string text(kMaxConfigBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return errno_error(path, errno);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return load_config(text, path, groups);
}

}  // namespace linkhealth
