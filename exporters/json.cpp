#include "exporters/json.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/report_fields.h"

namespace linkhealth {

namespace {

/// A report with the name of its format before it.
template <typename ReportType>
struct Document {
  std::string schema;
  ReportType& report;
};

template <typename ReportType>
void fields(Document<ReportType>& document, auto& visit) {
  visit.always("schema", document.schema);
  fields(document.report, visit);
}
template <typename ReportType>
void fields(const Document<ReportType>& document, auto& visit) {
  visit.always("schema", document.schema);
  fields(document.report, visit);
}

template <typename T>
std::string to_json(const T& value) {
  std::string text;
  JsonWriter writer(text);
  FieldsOut(writer).value(value);
  return text;
}

}  // namespace

std::string report_json(const Report& report) {
  return to_json(Document<const Report>{std::string(kReportSchema), report});
}

std::string port_json(const PortReport& port) { return to_json(port); }

std::string module_json(const ModuleSample& module) { return to_json(module); }

std::string event_json_line(const FaultEvent& event) { return to_json(event); }

Result<FaultEvent> parse_event(std::string_view json) {
  JsonReader in(json);
  FaultEvent event;
  if (!FieldsIn(in).value(event) || !in.at_end())
    return Error{in.failed() ? in.error() : "more text than one event"};
  return event;
}

Result<Report> parse_report(std::string_view json) {
  JsonReader in(json);
  Report report;
  Document<Report> document{"", report};
  const bool ok = FieldsIn(in).value(document) && in.at_end();
  if (document.schema != kReportSchema)
    return Error{fmt::format("not a report: its \"schema\" is \"{}\", not \"{}\"",
                             printable(document.schema).substr(0, 60), kReportSchema)};
  if (!ok) return Error{in.error()};
  for (PortReport& port : report.ports)
    port.latest.id.edit().verbs = port.port.find('/') != std::string::npos;
  return report;
}

}  // namespace linkhealth
