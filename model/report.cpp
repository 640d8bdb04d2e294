#include "model/report.h"

#include <algorithm>
#include <array>

namespace linkhealth {

namespace {

constexpr std::array<std::string_view, 6> kHealthNames = {"healthy", "at_risk", "degraded",
                                                          "down",    "unknown", "exempt"};
constexpr std::array<std::string_view, 6> kEndNames = {"",     "local", "far",
                                                       "path", "node",  "fabric"};
constexpr std::array<std::string_view, 3> kSeverityNames = {"notice", "warning", "critical"};
constexpr std::array<std::string_view, 4> kStateNames = {"open", "acknowledged", "proving",
                                                         "closed"};
constexpr std::array<std::string_view, 6> kEventNames = {"opened",  "worsened", "acknowledged",
                                                         "proving", "closed",   "reopened"};

}  // namespace

std::string_view to_string(Health health) {
  return kHealthNames.at(static_cast<std::size_t>(health));
}
std::string_view to_string(End end) { return kEndNames.at(static_cast<std::size_t>(end)); }
std::string_view to_string(Severity severity) {
  return kSeverityNames.at(static_cast<std::size_t>(severity));
}
std::string_view to_string(FaultState state) {
  return kStateNames.at(static_cast<std::size_t>(state));
}
std::string_view to_string(FaultEventKind kind) {
  return kEventNames.at(static_cast<std::size_t>(kind));
}
std::optional<End> parse_end(std::string_view text) {
  const auto at = std::find(kEndNames.begin(), kEndNames.end(), text);
  if (at == kEndNames.end()) return std::nullopt;
  return static_cast<End>(at - kEndNames.begin());
}

std::set<PortKey> modules_left(const Report& report) {
  std::set<PortKey> ports;
  for (const PortReport& port : report.ports)
    if (port.maintenance && port.maintenance->module_reads == false) ports.insert(port.port);
  return ports;
}

std::string event_id(const FaultEvent& event) {
  return event.fault.id + "/" + std::string(to_string(event.kind)) + "/" +
         std::to_string(event.at.time_since_epoch().count());
}

}  // namespace linkhealth
