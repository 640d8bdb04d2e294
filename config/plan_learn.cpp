#include "config/plan_learn.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/json.h"

namespace linkhealth {

namespace {

/// What stands between the `number`-th pair of `open` and `close` (from 0) of a line; "" when there
/// is none.
std::string_view between(std::string_view line, char open, char close, std::size_t number = 0) {
  for (;; --number) {
    const auto begin = line.find(open);
    if (begin == std::string_view::npos) return {};
    line.remove_prefix(begin + 1);
    const auto end = line.find(close);
    if (end == std::string_view::npos) return {};
    if (number == 0) return line.substr(0, end);
    line.remove_prefix(end + 1);
  }
}

/// "gpu-0417 mlx5_0": the node and its device.
std::pair<std::string, std::string> node_and_device(std::string_view description) {
  const auto blank = description.find_last_of(' ');
  if (blank == std::string_view::npos) return {printable(description), ""};
  return {printable(trim(description.substr(0, blank))), printable(description.substr(blank + 1))};
}

/// The name of a chassis: {"leaf-1": {…}}. One without a name has its "id", a MAC address, there.
std::string chassis_name(const Json& chassis) {
  std::string name;
  for (const auto& entry : chassis.items())
    if (chassis.is_object() && entry.key() != "id") name = printable(entry.key());
  return name;
}

void learn_interfaces(const Json& interfaces, std::string_view node, std::vector<PlanRow>& rows) {
  for (const auto& [port, neighbour] : interfaces.items()) {
    if (!interfaces.is_object()) return;
    PlanRow row;
    row.node = node;
    row.port = printable(port);
    row.expected.peer_system = chassis_name(member(neighbour, "chassis"));
    const Json& far_port = member(neighbour, "port");
    const std::string id = text_member(member(far_port, "id"), "value");
    row.expected.peer_port = printable(id.empty() ? text_member(far_port, "descr") : id);
    if (!row.expected.peer_system.empty() || !id.empty()) rows.push_back(std::move(row));
  }
}

}  // namespace

Result<std::vector<PlanRow>> learn_from_ibnetdiscover(std::string_view text) {
  std::vector<PlanRow> rows;
  std::string node, device;
  bool adapter = false, any = false;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    const auto comment = line.find('#');
    if (line.starts_with("Switch") || line.starts_with("Ca") || line.starts_with("Rt")) {
      any = true;
      adapter = line.starts_with("Ca");
      if (comment != std::string_view::npos)
        std::tie(node, device) = node_and_device(between(line.substr(comment), '"', '"'));
    } else if (adapter && line.starts_with('[') && comment != std::string_view::npos) {
      const std::string_view link = line.substr(0, comment);
      PlanRow row;
      row.node = node;
      row.port =
          fmt::format("{}/{}", device.empty() ? node : device, printable(between(link, '[', ']')));
      row.expected.peer_system = printable(between(line.substr(comment), '"', '"'));
      row.expected.peer_port = printable(between(link, '[', ']', 1));
      if (!row.expected.peer_system.empty() && !row.expected.peer_port.empty())
        rows.push_back(std::move(row));
    }
  }
  if (!any) return Error{"it is not the output of ibnetdiscover"};
  return rows;
}

Result<std::vector<PlanRow>> learn_from_lldpctl(std::string_view text, std::string_view node) {
  const auto json = parse_json(text);
  const Json none;
  const Json& lldp = json ? member(*json, "lldp") : none;
  const Json& interfaces = member(lldp, "interface");
  // lldpctl gives one interface as an object, several as a list of objects, and none as nothing.
  std::vector<PlanRow> rows;
  if (interfaces.is_array())
    for (const Json& each : interfaces) learn_interfaces(each, node, rows);
  else if (interfaces.is_object())
    learn_interfaces(interfaces, node, rows);
  else if (!lldp.is_object() || !interfaces.is_null())
    return Error{"it is not the output of lldpctl -f json: " +
                 (json ? "no \"lldp\" with interfaces in it" : json.error().message)};
  return rows;
}

Result<std::vector<PlanRow>> learn_plan(std::string_view text, std::string_view node) {
  return trim(text).starts_with('{') ? learn_from_lldpctl(text, node)
                                     : learn_from_ibnetdiscover(text);
}

}  // namespace linkhealth
