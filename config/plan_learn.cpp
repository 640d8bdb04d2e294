#include "config/plan_learn.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/json_reader.h"

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

/// One member of an object whose single key is a name: {"leaf-1": {…}} or {"id": …}.
struct Neighbour {
  std::string system, port, description;
};

bool read_value_object(JsonReader& in, std::string& value, std::string& type) {
  return in.object([&](std::string_view key) {
    if (key == "value") return in.read(value);
    if (key == "type") return in.read(type);
    return in.skip();
  });
}

bool read_chassis(JsonReader& in, Neighbour& found) {
  return in.object([&](std::string_view key) {
    if (key == "id") return in.skip();  // an unnamed chassis: its MAC address is no name
    found.system = printable(key);
    return in.skip();
  });
}

bool read_port(JsonReader& in, Neighbour& found) {
  std::string type;
  return in.object([&](std::string_view key) {
    if (key == "id") return read_value_object(in, found.port, type);
    if (key == "descr") return in.read(found.description);
    return in.skip();
  });
}

bool read_interfaces(JsonReader& in, std::string_view node, std::vector<PlanRow>& rows) {
  return in.object([&](std::string_view name) {
    Neighbour found;
    const std::string port(name);
    const bool good = in.object([&](std::string_view key) {
      if (key == "chassis") return read_chassis(in, found);
      if (key == "port") return read_port(in, found);
      return in.skip();
    });
    if (!good || (found.system.empty() && found.port.empty())) return good;
    PlanRow row;
    row.node = node;
    row.port = printable(port);
    row.expected.peer_system = found.system;
    row.expected.peer_port = printable(found.port.empty() ? found.description : found.port);
    rows.push_back(std::move(row));
    return true;
  });
}

/// lldpctl gives one interface as an object and several as a list of objects.
bool read_lldp(JsonReader& in, bool list, std::string_view node, std::vector<PlanRow>& rows) {
  return in.object([&](std::string_view key) {
    if (key != "interface") return in.skip();
    return list ? in.array([&] { return read_interfaces(in, node, rows); })
                : read_interfaces(in, node, rows);
  });
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

Result<std::vector<PlanRow>> learn_from_lldpctl(std::string_view json, std::string_view node) {
  std::vector<PlanRow> rows;
  std::string why;
  for (const bool list : {true, false}) {
    rows.clear();
    JsonReader in(json);
    bool seen = false;
    const bool good = in.object([&](std::string_view key) {
      if (key != "lldp") return in.skip();
      seen = true;
      return read_lldp(in, list, node, rows);
    });
    if (good && in.at_end() && seen) return rows;
    why = in.failed() ? in.error() : "there is no \"lldp\" in it";
  }
  return Error{"it is not the output of lldpctl -f json: " + why};
}

Result<std::vector<PlanRow>> learn_plan(std::string_view text, std::string_view node) {
  return trim(text).starts_with('{') ? learn_from_lldpctl(text, node)
                                     : learn_from_ibnetdiscover(text);
}

}  // namespace linkhealth
