#include "exporters/doctor.h"
#include "model/json.h"

namespace linkhealth {

namespace {

/// Texts that are not known have no key.
void put(OrderedJson& json, std::string_view key, const std::string& value) {
  if (!value.empty()) json[key] = value;
}

OrderedJson sources_json(const std::vector<SourceSight>& sources) {
  OrderedJson list = OrderedJson::array();
  for (const SourceSight& source : sources) {
    OrderedJson json;
    put(json, "probe", source.probe);
    put(json, "what", source.what);
    json["state"] = to_string(source.state);
    put(json, "why", source.why);
    put(json, "hint", source.hint);
    list.push_back(std::move(json));
  }
  return list;
}

OrderedJson port_json(const PortSight& port) {
  OrderedJson json;
  put(json, "port", port.port);
  put(json, "netdev", port.netdev);
  put(json, "pci", port.pci);
  put(json, "driver", port.driver);
  put(json, "driver_version", port.driver_version);
  put(json, "firmware", port.firmware);
  put(json, "exempt", port.exempt);
  json["sources"] = sources_json(port.sources);
  json["not_noticed"] = port.not_noticed;
  json["not_told_apart"] = port.not_told_apart;
  return json;
}

}  // namespace

std::string doctor_json(const DoctorReport& doctor) {
  OrderedJson json;
  json["schema"] = "linkhealth.doctor/1";
  json["node"] = doctor.node;
  put(json, "version", doctor.version);
  put(json, "kernel", doctor.kernel);
  json["of_daemon"] = doctor.of_daemon;
  json["capabilities"] = doctor.capabilities;
  json["hidden"] = doctor.hidden;
  json["sources"] = sources_json(doctor.node_sources);
  json["ports"] = OrderedJson::array();
  for (const PortSight& port : doctor.ports) json["ports"].push_back(port_json(port));
  json["costs"] = doctor.costs;
  return format_json(json);
}

}  // namespace linkhealth
