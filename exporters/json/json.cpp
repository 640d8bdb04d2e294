#include "exporters/json/json.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/json/report_fields.h"

namespace linkhealth {

namespace {

constexpr std::string_view kStatusSchema = "linkhealth.status/1";

/// A report preceded by the name of its format.
struct Document {
  std::string schema;
  const Report& report;
};

void fields(const Document& document, auto& visit) {
  visit.always("schema", document.schema);
  fields(document.report, visit);
}

Result<void> check_schema(const Json& json, std::string_view expected) {
  const std::string schema = text_member(json, "schema");
  if (schema == expected) return {};
  return Error{fmt::format("its \"schema\" is \"{}\", not \"{}\"", printable(schema).substr(0, 60),
                           expected)};
}

Result<Report> read_report(const Json& json) {
  if (const auto checked = check_schema(json, kReportSchema); !checked)
    return Error{"not a report: " + checked.error().message};
  Report report;
  if (auto read = read_fields(json, report); !read) return read.error();
  for (PortReport& port : report.ports)
    port.latest.id.verbs = port.port.find('/') != std::string::npos;
  return report;
}

}  // namespace

void fields(Is<SightCount> auto& sight, auto& visit) {
  visit.always("unreadable", sight.unreadable);
  visit.always("sources", sight.sources);
}

void fields(Is<DaemonStatus> auto& daemon, auto& visit) {
  visit.always("now", daemon.now);
  visit.always("running_s", daemon.running_s);
  visit.always("stale_after_s", daemon.stale_after_s);
  visit("configuration_note", daemon.configuration_note);
  visit("configuration_at", daemon.configuration_at);
  visit("sight", daemon.sight);
}

std::string report_json(const Report& report) {
  return format_fields(Document{std::string(kReportSchema), report});
}

std::string port_json(const PortReport& port) { return format_fields(port); }

std::string module_json(const ModuleSample& module) { return format_fields(module); }

std::string event_json_line(const FaultEvent& event) { return format_fields(event); }

Result<Report> parse_report(std::string_view text) {
  const auto json = parse_json(text);
  return json ? read_report(*json) : json.error();
}

Result<ModuleSample> parse_module(std::string_view text) {
  return parse_fields<ModuleSample>(text);
}

std::string status_json(const DaemonStatus& daemon, const Report& report) {
  // The report is an embedded document, as in /api/v1/report.
  return fmt::format(R"({{"schema":"{}","daemon":{},"report":{}}})", kStatusSchema,
                     format_fields(daemon), report_json(report));
}

Result<StatusDocument> parse_status(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return json.error();
  if (auto checked = check_schema(*json, kStatusSchema); !checked) return checked.error();
  StatusDocument document;
  if (auto read = read_fields(member(*json, "daemon"), document.daemon); !read) return read.error();
  auto report = read_report(member(*json, "report"));
  if (!report) return report.error();
  document.report = *std::move(report);
  return document;
}

}  // namespace linkhealth
