// The report and the fault events as JSON (docs/recording.md, docs/schema/report.json and
// event.json). The same report gives the same bytes on any machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/doctor.h"
#include "model/report.h"

namespace linkhealth {

inline constexpr std::string_view kReportSchema = "linkhealth.report/1";

/// The whole report, on one line without a line end. `timings` are omitted: they are about the
/// monitor, not the links.
std::string report_json(const Report& report);
/// One port, as an element of the report's "ports".
std::string port_json(const PortReport& port);
/// A module alone: the `module` group of a recording.
std::string module_json(const ModuleSample& module);
/// One line of a JSON-lines event stream, without a line end.
std::string event_json_line(const FaultEvent& event);

/// Reads what report_json writes, for a client of the daemon. Unknown keys are ignored.
Result<Report> parse_report(std::string_view text);
/// Reads what module_json writes.
Result<ModuleSample> parse_module(std::string_view text);

/// The state of the daemon, for the texts of `linkhealth`.
struct DaemonStatus {
  WallTime now;  ///< for a played recording, the time of its latest snapshot
  double running_s = 0;
  double stale_after_s = 0;        ///< an older report does not show the current state
  std::string configuration_note;  ///< result of the last reload; "" without one
  std::optional<WallTime> configuration_at;
  std::optional<SightCount> sight;  ///< nullopt: from an older daemon
};
struct StatusDocument {
  DaemonStatus daemon;
  Report report;
};
std::string status_json(const DaemonStatus& daemon, const Report& report);
Result<StatusDocument> parse_status(std::string_view text);

}  // namespace linkhealth
