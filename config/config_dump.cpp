#include <fmt/format.h>

#include "config/config.h"
#include "model/json/json.h"

namespace linkhealth {

namespace {

void dump_map(std::string& out, std::string_view key,
              const std::map<std::string, std::string>& map) {
  out += fmt::format("{}:{}\n", key, map.empty() ? " {}" : "");
  for (const auto& [name, value] : map)
    out += fmt::format("  {}: {}\n", quoted_json(name), quoted_json(value));
}

void dump_expected(std::string& out, const ExpectedPort& expected) {
  if (expected.speed_mbps) out += fmt::format("    speed_mbps: {}\n", *expected.speed_mbps);
  if (expected.lanes) out += fmt::format("    lanes: {}\n", *expected.lanes);
  if (!expected.rail.empty()) out += fmt::format("    rail: {}\n", quoted_json(expected.rail));
  if (!expected.cable.empty()) out += fmt::format("    cable: {}\n", quoted_json(expected.cable));
  const bool placed = !expected.peer_rack.empty() || !expected.peer_u.empty();
  if (expected.peer_system.empty() && expected.peer_port.empty() && !placed) return;
  out += "    peer:\n";
  if (!expected.peer_system.empty())
    out += fmt::format("      system: {}\n", quoted_json(expected.peer_system));
  if (!expected.peer_port.empty())
    out += fmt::format("      port: {}\n", quoted_json(expected.peer_port));
  if (!expected.peer_rack.empty())
    out += fmt::format("      rack: {}\n", quoted_json(expected.peer_rack));
  if (!expected.peer_u.empty()) out += fmt::format("      u: {}\n", quoted_json(expected.peer_u));
}

void dump_ports(std::string& out, const Config& config) {
  std::map<PortKey, ExpectedPort> all = with_plan(config);
  std::map<PortKey, std::string> left_out = config.exempt;
  for (const auto& [port, reason] : config.planned_exempt)
    if (!config.expected.contains(port)) left_out.emplace(port, reason);
  for (const auto& [port, reason] : left_out) all[port];
  out += fmt::format("ports:{}\n", all.empty() ? " {}" : "");
  for (const auto& [port, expected] : all) {
    out += fmt::format("  {}:\n", quoted_json(port));
    dump_expected(out, expected);
    if (const auto exempt = left_out.find(port); exempt != left_out.end())
      out += fmt::format("    exempt: {}\n", quoted_json(exempt->second));
  }
}

/// The paths of the far end's sources stand among their knobs.
std::string peer_paths(const Config& config) {
  return fmt::format(
      "  # lldpd's control socket\n  lldpd_socket: {}\n"
      "  # where other programs put readings (docs/import.md)\n  import_dir: {}\n",
      quoted_json(config.lldpd_socket), quoted_json(config.import_dir));
}

void dump_group(std::string& out, const KnobGroup& group, KnobValues values,
                const std::string& paths) {
  out += fmt::format("\n{}:\n", group.name) + paths;
  for (std::size_t i = 0; i < group.knobs.size(); ++i) {
    const Knob& knob = group.knobs[i];
    out += fmt::format("  # {} ({} to {}{}{})\n", knob.meaning, knob.min, knob.max,
                       knob.unit.empty() ? "" : " ", knob.unit);
    out += fmt::format("  {}: {}\n", knob.name, values[i]);
  }
}

std::string access_and_textfile(const Config& config) {
  constexpr std::string_view kText =
      R"(# Members of this group may acknowledge and record on the Unix socket, as root and linkhealthd's
# own user may.
control_group: {}
# Readers on the Unix socket: 0666 all users, 0660 socket_group, 0600 the daemon's user; root
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
  return fmt::format(kText, quoted_json(config.control_group), quoted_json(config.socket_mode),
                     quoted_json(config.socket_group), quoted_json(config.web_config_file),
                     quoted_json(config.textfile.path), config.textfile.period_s);
}

}  // namespace

std::string dump_config(const Config& config) {
  std::string out =
      "# The configuration of linkhealthd. Every key is optional; check a file with linkhealthd "
      "--check-config.\n\n";
  out += fmt::format("# Where metrics and the API listen: ADDRESS:PORT, or none.\nlisten: {}\n",
                     quoted_json(to_string(config.listen)));
  out += fmt::format("# The Unix socket of the linkhealth command.\nsocket: {}\n",
                     quoted_json(config.socket_path));
  out +=
      fmt::format("# What must survive a restart.\nstate_dir: {}\n", quoted_json(config.state_dir));
  out += fmt::format("# The name of this node in reports; \"\" is the host's name.\nnode: {}\n",
                     quoted_json(config.node));
  out += fmt::format(
      "# Writes a recording of everything seen, packed when it ends in .gz; \"\" is none.\nrecord: "
      "{}\n",
      quoted_json(config.record_path));
  out += fmt::format(
      "# The cabling plan of the cluster: CSV, or YAML (.yaml); \"\" is none.\n"
      "plan: {}\n",
      quoted_json(config.plan_path));
  out += fmt::format(
      "# A file in this directory puts a port (its name) or the node (all) into maintenance; "
      "\"\" is none.\n"
      "maintenance_dir: {}\n",
      quoted_json(config.maintenance_dir));
  out += fmt::format("# Diagnoses and shows, but writes no journal entry.\ndry_run: {}\n",
                     config.dry_run);
  out +=
      fmt::format("# error, warning, info or debug\nlog_level: {}\n", to_string(config.log_level));
  out +=
      "# Labels of the place: events, alerts and tickets have them all, metrics only pod, row, "
      "rack, u and rail.\n";
  dump_map(out, "site", config.site);
  out +=
      "# What is expected of a port: speed_mbps, lanes, peer (system, port, rack, u), rail, cable; "
      "or "
      "exempt, with the\n"
      "# reason. A port is named as mlx5_0/1, mlx5_0, ens1np0 or by its PCI address "
      "(\"0000:1b:00.0\"), which no "
      "reboot\n"
      "# changes.\n";
  dump_ports(out, config);
  out += access_and_textfile(config);
  for (const KnobGroup& group : config.knobs.groups())
    dump_group(out, group, config.knobs.values(group.name),
               group.name == "peers" ? peer_paths(config) : "");
  return out;
}

}  // namespace linkhealth
