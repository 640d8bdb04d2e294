#include "model/report.h"

namespace linkhealth {

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
