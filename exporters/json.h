// The report and the fault events as JSON (docs/recording.md, docs/schema/report.json and
// event.json). The same report gives the same bytes on any machine.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/report.h"

namespace linkhealth {

inline constexpr std::string_view kReportSchema = "linkhealth.report/1";

/// The whole report, on one line without a line end. `timings` are left out: they are the
/// monitor's, not the links'.
std::string report_json(const Report& report);
/// One port of it: what stands in the report's "ports".
std::string port_json(const PortReport& port);
/// A module alone: the `module` group of a recording.
std::string module_json(const ModuleSample& module);
/// One line of a JSON-lines event stream, without a line end.
std::string event_json_line(const FaultEvent& event);

/// Reads what event_json_line writes: an event that was kept is sent from there.
Result<FaultEvent> parse_event(std::string_view json);
/// Reads what report_json writes, for a client of the daemon. Unknown keys are ignored.
Result<Report> parse_report(std::string_view text);

}  // namespace linkhealth
