#include "model/report.h"

#include "base/text.h"

namespace linkhealth {

std::set<PortKey> modules_left(const Report& report) {
  std::set<PortKey> ports;
  for (const PortReport& port : report.ports)
    if (port.maintenance && port.maintenance->module_reads == false) ports.insert(port.port);
  return ports;
}

std::string format_lanes(std::vector<std::uint32_t> lanes) {
  std::ranges::sort(lanes);
  std::vector<std::string> numbers;
  for (const std::uint32_t lane : lanes) numbers.push_back(std::to_string(lane));
  return lanes.empty() ? "" : (lanes.size() == 1 ? "lane " : "lanes ") + format_list(numbers);
}

std::string event_id(const FaultEvent& event) {
  return event.fault.id + "/" + std::string(to_string(event.kind)) + "/" +
         std::to_string(event.at.time_since_epoch().count());
}

}  // namespace linkhealth
