#include "config/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "model/json_writer.h"

namespace linkhealth {

namespace {

using Kind = YamlNode::Kind;
using Member = YamlNode::Member;

/// A key of a map and where its value goes.
struct Field {
  std::string_view name;
  std::function<Result<void>(const Member&, std::string_view file)> set;
};

Result<std::string> text(const Member& member, std::string_view file) {
  const YamlNode& value = member.value;
  if (value.kind == Kind::kNull) return std::string();
  if (value.kind == Kind::kScalar && value.scalar.find('\0') == std::string::npos)
    return value.scalar;
  return error_at(file, value.line, fmt::format("\"{}\" must be text", member.key));
}

/// Text that is empty or one of what `good` takes; else "must be WHAT".
auto text_into(std::string& place, bool (*good)(std::string_view), std::string_view what) {
  return [&place, good, what](const Member& member, std::string_view file) -> Result<void> {
    auto value = text(member, file);
    if (!value) return value.error();
    if (!value->empty() && !good(*value))
      return error_at(file, member.value.line, fmt::format("\"{}\" must be {}", member.key, what));
    place = *std::move(value);
    return {};
  };
}

bool is_path(std::string_view value) { return value.starts_with('/'); }
bool is_url(std::string_view value) {
  return (value.starts_with("http://") || value.starts_with("https://")) &&
         printable(value) == value && value.find(' ') == std::string_view::npos && value.size() > 8;
}
bool is_prom_file(std::string_view value) { return is_path(value) && value.ends_with(".prom"); }
/// Who connects must be able to write: what lets a group only read lets nobody in.
bool is_socket_mode(std::string_view text) {
  return text == "0600" || text == "0660" || text == "0666";
}

bool is_name(std::string_view value) {
  return printable(value) == value && value.find(' ') == std::string_view::npos;
}

auto path_into(std::string& place) {
  return text_into(place, is_path, "a path that begins with \"/\"");
}
constexpr std::string_view kUrlWords = "a URL that begins with http:// or https://";

auto seconds_into(double& place, double min, double max) {
  return [&place, min, max](const Member& member, std::string_view file) -> Result<void> {
    const bool plain = member.value.kind == Kind::kScalar && !member.value.quoted;
    const auto value = plain ? parse_double(member.value.scalar) : std::nullopt;
    if (!value || *value < min || *value > max)
      return error_at(file, member.value.line,
                      fmt::format("\"{}\" must be a number from {} to {} s", member.key, min, max));
    place = *value;
    return {};
  };
}

Result<void> urls_into(std::vector<std::string>& urls, const Member& member,
                       std::string_view file) {
  constexpr std::size_t kMaxUrls = 8;
  urls.clear();
  if (member.value.kind == Kind::kNull) return {};
  const bool list = member.value.kind == Kind::kList && member.value.items.size() <= kMaxUrls;
  if (list)
    for (const YamlNode& item : member.value.items)
      if (item.kind == Kind::kScalar && is_url(item.scalar)) urls.push_back(item.scalar);
  if (list && urls.size() == member.value.items.size()) return {};
  return error_at(
      file, member.value.line,
      fmt::format("\"{}\" must be a list of at most {}, each {}", member.key, kMaxUrls, kUrlWords));
}

Result<void> read_map(const Member& member, std::string_view file, std::span<const Field> fields) {
  if (member.value.kind == Kind::kNull) return {};
  if (member.value.kind != Kind::kMap)
    return error_at(file, member.value.line,
                    fmt::format("\"{}\" must hold keys, each on a line of its own", member.key));
  std::vector<std::string_view> good;
  for (const Field& field : fields) good.push_back(field.name);
  for (const Member& key : member.value.members) {
    const auto field = std::ranges::find(fields, key.key, &Field::name);
    if (field == fields.end()) {
      const auto near = closest(key.key, good);
      return error_at(file, key.line,
                      fmt::format("unknown key \"{}\"{}", printable(key.key),
                                  near ? fmt::format(" (did you mean \"{}\"?)", *near) : ""));
    }
    if (auto set = field->set(key, file); !set) return set;
  }
  return {};
}

std::string quoted(std::string_view value) {
  std::string out;
  JsonWriter(out).value(value);
  return out;
}

std::string dump_access(const SinkAccess& access) {
  return fmt::format(
      "  # its first line is sent as a bearer token\n  token_file: {}\n"
      "  # certificates that the other side's is held against; \"\": the system's\n  ca_file: {}\n",
      quoted(access.token_file), quoted(access.ca_file));
}

}  // namespace

Result<void> load_output(const Member& member, std::string_view file_name, Outputs& outputs) {
  constexpr double kDay_s = 86400;
  auto& manager = outputs.alertmanager;
  auto& hook = outputs.webhook;
  if (member.key == "control_group")
    return text_into(outputs.control_group, is_name, "the name of a group")(member, file_name);
  if (member.key == "socket_group")
    return text_into(outputs.socket_group, is_name, "the name of a group")(member, file_name);
  if (member.key == "socket_mode")
    return text_into(outputs.socket_mode, is_socket_mode, "0600, 0660 or 0666")(member, file_name);
  if (member.key == "web_config_file") return path_into(outputs.web_config_file)(member, file_name);
  if (member.key == "alertmanager")
    return read_map(member, file_name,
                    std::array{Field{"urls",
                                     [&](const Member& key, std::string_view file) {
                                       return urls_into(manager.urls, key, file);
                                     }},
                               Field{"resend_s", seconds_into(manager.resend_s, 1, kDay_s)},
                               Field{"token_file", path_into(manager.access.token_file)},
                               Field{"ca_file", path_into(manager.access.ca_file)}});
  if (member.key == "webhook")
    return read_map(member, file_name,
                    std::array{Field{"url", text_into(hook.url, is_url, kUrlWords)},
                               Field{"template_file", path_into(hook.template_file)},
                               Field{"token_file", path_into(hook.access.token_file)},
                               Field{"ca_file", path_into(hook.access.ca_file)}});
  return read_map(
      member, file_name,
      std::array{Field{"path", text_into(outputs.textfile.path, is_prom_file,
                                         "a path that begins with \"/\" and ends in .prom")},
                 Field{"period_s", seconds_into(outputs.textfile.period_s, 1, kDay_s)}});
}

unsigned socket_mode(const Outputs& outputs) {
  return outputs.socket_mode == "0600" ? 0600U : outputs.socket_mode == "0660" ? 0660U : 0666U;
}

std::string dump_outputs(const Outputs& outputs) {
  const auto& manager = outputs.alertmanager;
  std::string out = fmt::format(
      "# Whose members may acknowledge and record on the Unix socket, beside root and "
      "linkhealthd's own user.\n"
      "control_group: {}\n"
      "# Who may read on the Unix socket: 0666 everybody on the node, 0660 socket_group, 0600 the "
      "daemon's user; root "
      "always.\nsocket_mode: {}\n"
      "# The group that owns the socket; \"\": the daemon's own.\nsocket_group: {}\n"
      "# TLS, passwords and client certificates of the TCP side, as Prometheus's exporters have "
      "them; read anew when "
      "it "
      "changes.\nweb_config_file: {}\n",
      quoted(outputs.control_group), quoted(outputs.socket_mode), quoted(outputs.socket_group),
      quoted(outputs.web_config_file));
  out += "# Alerts go there (API v2); an empty list is off.\nalertmanager:\n  urls: [";
  for (std::size_t i = 0; i < manager.urls.size(); ++i)
    out += (i == 0 ? "" : ", ") + quoted(manager.urls[i]);
  out += fmt::format(
      "]\n  # an alert that stands is sent again; without that it resolves after four times as "
      "long (1 to 86400 s)\n"
      "  resend_s: {}\n",
      manager.resend_s);
  out += dump_access(manager.access);
  out += fmt::format(
      "# Each event is posted there as JSON; \"\" is off.\nwebhook:\n  url: {}\n"
      "  # JSON with {{{{placeholders}}}} (docs/operations.md); \"\": the event itself\n  "
      "template_file: {}\n",
      quoted(outputs.webhook.url), quoted(outputs.webhook.template_file));
  out += dump_access(outputs.webhook.access);
  out += fmt::format(
      "# The metrics as a file for node_exporter's textfile collector; \"\" is off.\ntextfile:\n  "
      "path: {}\n"
      "  # how often it is written (1 to 86400 s)\n  period_s: {}\n",
      quoted(outputs.textfile.path), outputs.textfile.period_s);
  return out;
}

}  // namespace linkhealth
