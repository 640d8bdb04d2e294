#include "config/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "model/json.h"

namespace linkhealth {

namespace {

using Kind = YamlNode::Kind;

bool is_path(std::string_view value) { return value.starts_with('/'); }
bool is_prom_file(std::string_view value) { return is_path(value) && value.ends_with(".prom"); }
/// A client that connects must be able to write: a mode that lets a group only read is useless.
bool is_socket_mode(std::string_view value) {
  return value == "0600" || value == "0660" || value == "0666";
}
bool is_name(std::string_view value) {
  return printable(value) == value && value.find(' ') == std::string_view::npos;
}

/// A key whose value is a text: "" or what `good` accepts.
struct TextKey {
  std::string_view name;
  std::string Outputs::*place;
  bool (*good)(std::string_view);
  std::string_view must_be;
};
constexpr std::array<TextKey, 4> kTextKeys = {
    {{"control_group", &Outputs::control_group, is_name, "the name of a group"},
     {"socket_group", &Outputs::socket_group, is_name, "the name of a group"},
     {"socket_mode", &Outputs::socket_mode, is_socket_mode, "0600, 0660 or 0666"},
     {"web_config_file", &Outputs::web_config_file, is_path, "a path that begins with \"/\""}}};

Error wrong(const YamlNode::Member& member, std::string_view file, std::string_view must_be) {
  return error_at(file, member.value.line, fmt::format("\"{}\" must be {}", member.key, must_be));
}

Result<void> read_text(const YamlNode::Member& member, std::string_view file, std::string& place,
                       bool (*good)(std::string_view), std::string_view must_be) {
  const YamlNode& value = member.value;
  const bool is_text = value.kind == Kind::kScalar && value.scalar.find('\0') == std::string::npos;
  if (!is_text && value.kind != Kind::kNull) return wrong(member, file, "text");
  if (!value.scalar.empty() && !good(value.scalar)) return wrong(member, file, must_be);
  place = value.scalar;
  return {};
}

Result<void> read_textfile(const YamlNode::Member& member, std::string_view file,
                           TextfileOutput& textfile) {
  constexpr double kDay_s = 86400;
  if (member.value.kind == Kind::kNull) return {};
  if (member.value.kind != Kind::kMap)
    return error_at(file, member.value.line,
                    fmt::format("\"{}\" must hold keys, each on a line of its own", member.key));
  for (const YamlNode::Member& key : member.value.members) {
    if (key.key == "path") {
      if (auto read = read_text(key, file, textfile.path, is_prom_file,
                                "a path that begins with \"/\" and ends in .prom");
          !read)
        return read;
    } else if (key.key == "period_s") {
      const auto period_s = parse_double(key.value.scalar);
      if (key.value.quoted || !period_s || *period_s < 1 || *period_s > kDay_s)
        return wrong(key, file, fmt::format("a number from 1 to {} s", kDay_s));
      textfile.period_s = *period_s;
    } else {
      const auto near = closest(key.key, std::vector<std::string_view>{"path", "period_s"});
      return error_at(file, key.line,
                      fmt::format("unknown key \"{}\"{}", printable(key.key),
                                  near ? fmt::format(" (did you mean \"{}\"?)", *near) : ""));
    }
  }
  return {};
}

}  // namespace

Result<void> load_output(const YamlNode::Member& member, std::string_view file_name,
                         Outputs& outputs) {
  if (std::ranges::find(kRefusedOutputKeys, member.key) != kRefusedOutputKeys.end())
    return error_at(file_name, member.line,
                    fmt::format("\"{}\": linkhealthd sends no alerts itself; load dashboards/rules "
                                "into Prometheus, whose Alertmanager notifies",
                                member.key));
  const auto* const text = std::ranges::find(kTextKeys, member.key, &TextKey::name);
  return text != kTextKeys.end()
             ? read_text(member, file_name, outputs.*text->place, text->good, text->must_be)
             : read_textfile(member, file_name, outputs.textfile);
}

unsigned socket_mode(const Outputs& outputs) {
  return outputs.socket_mode == "0600" ? 0600U : outputs.socket_mode == "0660" ? 0660U : 0666U;
}

std::string dump_outputs(const Outputs& outputs) {
  constexpr std::string_view kText =
      R"(# Members of this group may acknowledge and record on the Unix socket, beside root and
# linkhealthd's own user.
control_group: {}
# Who may read on the Unix socket: 0666 all users, 0660 socket_group, 0600 the daemon's user; root
# always.
socket_mode: {}
# The group that owns the socket; "": the daemon's own.
socket_group: {}
# TLS, passwords and client certificates of the TCP side, as in Prometheus's exporters; read again
# when it changes.
web_config_file: {}
# The metrics as a file for node_exporter's textfile collector; "" is off.
textfile:
  path: {}
  # how often it is written (1 to 86400 s)
  period_s: {}
)";
  return fmt::format(kText, quoted_json(outputs.control_group), quoted_json(outputs.socket_mode),
                     quoted_json(outputs.socket_group), quoted_json(outputs.web_config_file),
                     quoted_json(outputs.textfile.path), outputs.textfile.period_s);
}

}  // namespace linkhealth
