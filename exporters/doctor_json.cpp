#include "exporters/doctor.h"
#include "model/json_writer.h"

namespace linkhealth {

namespace {

void write_list(JsonWriter& json, std::string_view name, const std::vector<std::string>& values) {
  json.key(name);
  json.begin_array();
  for (const std::string& value : values) json.value(value);
  json.end_array();
}

/// Texts that are not known have no key.
void write_text(JsonWriter& json, std::string_view name, const std::string& value) {
  if (value.empty()) return;
  json.key(name);
  json.value(value);
}

void write_sources(JsonWriter& json, const std::vector<SourceSight>& sources) {
  json.key("sources");
  json.begin_array();
  for (const SourceSight& source : sources) {
    json.begin_object();
    write_text(json, "probe", source.probe);
    write_text(json, "what", source.what);
    json.key("state");
    json.value(to_string(source.state));
    write_text(json, "why", source.why);
    write_text(json, "hint", source.hint);
    json.end_object();
  }
  json.end_array();
}

void write_port(JsonWriter& json, const PortSight& port) {
  json.begin_object();
  write_text(json, "port", port.port);
  write_text(json, "netdev", port.netdev);
  write_text(json, "pci", port.pci);
  write_text(json, "driver", port.driver);
  write_text(json, "driver_version", port.driver_version);
  write_text(json, "firmware", port.firmware);
  write_text(json, "exempt", port.exempt);
  write_sources(json, port.sources);
  write_list(json, "not_noticed", port.not_noticed);
  write_list(json, "not_told_apart", port.not_told_apart);
  json.end_object();
}

}  // namespace

std::string doctor_json(const DoctorReport& doctor) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.key("schema");
  json.value("linkhealth.doctor/1");
  json.key("node");
  json.value(doctor.node);
  write_text(json, "version", doctor.version);
  write_text(json, "kernel", doctor.kernel);
  json.key("of_daemon");
  json.value(doctor.of_daemon);
  write_list(json, "capabilities", doctor.capabilities);
  json.key("hidden");
  json.value(doctor.hidden);
  write_sources(json, doctor.node_sources);
  json.key("ports");
  json.begin_array();
  for (const PortSight& port : doctor.ports) write_port(json, port);
  json.end_array();
  write_list(json, "costs", doctor.costs);
  json.end_object();
  return out;
}

}  // namespace linkhealth
