#include "exporters/json.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/report_fields.h"

namespace linkhealth {

namespace {

/// A report with the name of its format before it.
struct Document {
  std::string schema;
  const Report& report;
};

void fields(const Document& document, auto& visit) {
  visit.always("schema", document.schema);
  fields(document.report, visit);
}

}  // namespace

std::string report_json(const Report& report) {
  return format_fields(Document{std::string(kReportSchema), report});
}

std::string port_json(const PortReport& port) { return format_fields(port); }

std::string module_json(const ModuleSample& module) { return format_fields(module); }

std::string event_json_line(const FaultEvent& event) { return format_fields(event); }

Result<FaultEvent> parse_event(std::string_view json) { return parse_fields<FaultEvent>(json); }

Result<Report> parse_report(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return json.error();
  const std::string schema = text_member(*json, "schema");
  if (schema != kReportSchema)
    return Error{fmt::format("not a report: its \"schema\" is \"{}\", not \"{}\"",
                             printable(schema).substr(0, 60), kReportSchema)};
  Report report;
  if (auto read = read_fields(*json, report); !read) return read.error();
  for (PortReport& port : report.ports)
    port.latest.id.verbs = port.port.find('/') != std::string::npos;
  return report;
}

}  // namespace linkhealth
