#include "exporters/json/doctor_json.h"
#include "model/json/json_fields.h"

namespace linkhealth {

static bool parse_word(std::string_view text, Visibility& out) {
  using enum Visibility;
  for (const Visibility state : {kSeen, kPartly, kHidden, kNotOffered, kNoWord, kNotUsed}) {
    if (to_string(state) != text) continue;
    out = state;
    return true;
  }
  return false;
}

void fields(Is<SourceSight> auto& source, auto& visit) {
  visit("probe", source.probe);
  visit("what", source.what);
  visit.always("state", source.state);
  visit("why", source.why);
  visit("hint", source.hint);
}

void fields(Is<PortSight> auto& port, auto& visit) {
  visit("port", port.port);
  visit("netdev", port.netdev);
  visit("pci", port.pci);
  visit("driver", port.driver);
  visit("driver_version", port.driver_version);
  visit("firmware", port.firmware);
  visit("exempt", port.exempt);
  visit.always("sources", port.sources);
  visit.always("not_noticed", port.not_noticed);
  visit.always("not_told_apart", port.not_told_apart);
}

void fields(Is<DoctorReport> auto& doctor, auto& visit) {
  std::string schema = "linkhealth.doctor/1";
  visit.always("schema", schema);
  visit.always("node", doctor.node);
  visit("version", doctor.version);
  visit("kernel", doctor.kernel);
  visit.always("of_daemon", doctor.of_daemon);
  visit.always("played", doctor.played);
  visit.always("capabilities", doctor.capabilities);
  visit.always("hidden", doctor.hidden);
  visit.always("sources", doctor.node_sources);
  visit.always("ports", doctor.ports);
}

std::string doctor_json(const DoctorReport& doctor) { return format_fields(doctor); }

Result<DoctorReport> parse_doctor(std::string_view text) {
  return parse_fields<DoctorReport>(text);
}

}  // namespace linkhealth
