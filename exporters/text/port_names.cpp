#include "exporters/text/port_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"

namespace linkhealth {

namespace {

bool same_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

/// "0xb83fd20300123456", "b83f:d203:0012:3456" and "b83fd20300123456" are one GUID.
std::string guid_digits(std::string_view guid) {
  if (guid.starts_with("0x") || guid.starts_with("0X")) guid.remove_prefix(2);
  std::string digits;
  for (const char c : guid)
    if (c != ':') digits += c;
  return digits;
}

bool means(const PortReport& port, std::string_view name) {
  const PortId& id = port.latest.id;
  if (name == id.device || name == id.netdev) return true;
  if (!id.pci.empty()) {
    const std::string_view pci = id.pci;
    const std::string_view without_domain = pci.starts_with("0000:") ? pci.substr(5) : pci;
    if (same_ignoring_case(name, pci) || same_ignoring_case(name, without_domain) ||
        same_ignoring_case(name, id.stable_key()))
      return true;
  }
  return !id.guid.empty() && same_ignoring_case(guid_digits(name), guid_digits(id.guid));
}

std::string suggestion(const Report& report, std::string_view name) {
  std::vector<std::string_view> names;
  for (const PortReport& port : report.ports) {
    const PortId& id = port.latest.id;
    for (const std::string_view candidate :
         {std::string_view(id.device), std::string_view(port.port), std::string_view(id.netdev),
          std::string_view(id.pci)})
      if (!candidate.empty()) names.push_back(candidate);
  }
  const auto best = closest(name, names);
  const std::string head = fmt::format("no port \"{}\"", printable(name.substr(0, 64)));
  if (report.ports.empty()) return head + ": this node has no port";
  if (!best) return head + " (linkhealth status lists the ports)";
  return fmt::format("{}: did you mean {}? (linkhealth status lists the ports)", head, *best);
}

}  // namespace

Result<const PortReport*> find_port(const Report& report, std::string_view name) {
  name = trim(name);
  if (name.empty())
    return Error{"the name of a port is missing (linkhealth status lists the ports)"};
  std::vector<const PortReport*> found;
  for (const PortReport& port : report.ports) {
    if (port.port == name) return &port;
    if (means(port, name)) found.push_back(&port);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) return Error{suggestion(report, name.substr(0, 64))};
  std::string keys;
  for (const PortReport* port : found) keys += (keys.empty() ? "" : ", ") + port->port;
  return Error{fmt::format("\"{}\" matches more than one port: use one of {}",
                           printable(name.substr(0, 64)), keys)};
}

}  // namespace linkhealth
