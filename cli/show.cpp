// The commands that show the daemon's data: it answers with JSON, and the text is made here.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/once.h"
#include "cli/run_in_subprocess.h"
#include "cli/status_document.h"
#include "daemon/api/cabling.h"
#include "exporters/json/doctor_json.h"
#include "exporters/json/json.h"
#include "exporters/json/timeline_json.h"
#include "exporters/text/check.h"
#include "exporters/text/doctor_text.h"
#include "exporters/text/port_names.h"
#include "exporters/text/text.h"
#include "exporters/text/text_layout.h"
#include "exporters/text/ticket.h"
#include "exporters/text/timeline_text.h"

namespace linkhealth::cli {

StatusDocument fetch_status(const Client& client) {
  return fetch_as(client, "/api/v1/status", &parse_status);
}

const PortReport& port_named(const Report& report, const std::string& name) {
  const auto port = find_port(report, name);
  if (!port) throw CommandError(kBadInput, port.error().message);
  return **port;
}

std::string status_of(const StatusDocument& status, const StatusOptions& options,
                      const TextStyle& style) {
  const DaemonStatus& daemon = status.daemon;
  std::string text = status_text(status.report, style,
                                 {.now = daemon.now,
                                  .watching = from_seconds(daemon.running_s),
                                  .sight = daemon.sight,
                                  .problems_only = options.problems,
                                  .wide = options.wide});
  if (daemon.configuration_at && !options.problems)
    text += fmt::format("\nconfiguration, {} ago: {}\n",
                        format_duration(daemon.now - *daemon.configuration_at),
                        printable(daemon.configuration_note));
  return text;
}

std::string explanation_of(const StatusDocument& status, const PortReport& port,
                           const ExplainOptions& options, const TextStyle& style) {
  if (options.json) return port_json(port) + "\n";
  return explain_text(port, style,
                      {.now = status.daemon.now,
                       .t = status.report.t,
                       .sight = status.daemon.sight,
                       .symptoms = options.evidence,
                       .physics = options.physics});
}

namespace {

/// nullopt: no daemon is running.
std::optional<DoctorReport> fetch_doctor(const Client& client) {
  const auto answer = client.get("/api/v1/doctor");
  if (!answer && (answer.error().errnum == ENOENT || answer.error().errnum == ECONNREFUSED))
    return std::nullopt;
  try {
    return parse_answer(answer, &parse_doctor);
  } catch (const CommandError& error) {
    throw CommandError(kBadInput, error.what());  // the only other exit code of doctor
  }
}

Check checked(const Client& client, const std::string& name) {
  try {
    const auto [daemon, report] = fetch_status(client);
    return check(report, name.empty() ? nullptr : &port_named(report, name),
                 {daemon.now, from_seconds(daemon.stale_after_s), daemon.sight});
  } catch (const CommandError& error) {
    // UNKNOWN, on standard output, which Nagios reads; no reason to drain.
    Check unknown;
    unknown.level = CheckLevel::kUnknown;
    unknown.text = error.what();
    return unknown;
  }
}

/// A port that needs attention, or a healthy one with a notice.
bool has_news(const PortReport& port) { return is_problem(port) || !port.faults.empty(); }

}  // namespace

int run_status(const Context& context, const StatusOptions& options) {
  if (options.once) return run_in_subprocess([&] { return status_once(context, options); });
  const StatusDocument status = fetch_status(context.client);
  const bool bad = options.problems && count_problems(status.report) > 0;
  return print(
      options.json ? report_json(status.report) : status_of(status, options, context.style),
      bad ? kProblems : kOk);
}

int run_explain(const Context& context, const ExplainOptions& options) {
  const StatusDocument status = fetch_status(context.client);
  const Report& report = status.report;
  if (!options.port.empty())
    return print(explanation_of(status, port_named(report, options.port), options, context.style));
  const auto ports = worst_first(report);
  if (ports.empty() || !has_news(*ports.front()))
    return print(options.json ? "null" : "No open faults: " + format_ports(report) + ".");
  return print(explanation_of(status, *ports.front(), options, context.style));
}

int run_ticket(const Context& context, const TicketOptions& options) {
  const Report report = fetch_status(context.client).report;
  const auto ports = worst_first(report);
  if (options.port.empty() && (ports.empty() || !has_news(*ports.front())))
    return print(options.json ? "null" : "No open faults: " + format_ports(report) + ".");
  const Ticket ticket =
      make_ticket(report, options.port.empty() ? *ports.front() : port_named(report, options.port));
  return print(options.json ? ticket_json(ticket) : ticket_markdown(ticket));
}

int run_history(const Context& context, const HistoryOptions& options) {
  const std::string path =
      fmt::format("/api/v1/ports/{}/history?since={}", url_encoded(options.port), options.since_s);
  if (options.json) return print(body_of(context.client.get(path)));
  const PortTimeline past = fetch_as(context.client, path, &parse_timeline);
  const Report report = fetch_status(context.client).report;
  TextStyle style = context.style;
  style.ascii = style.ascii || options.ascii;
  return print(timeline_text(past, port_named(report, options.port), style));
}

int run_doctor(const Context& context, const DoctorOptions& options) {
  const auto doctor = options.sysroot.empty() ? fetch_doctor(context.client) : std::nullopt;
  if (!doctor) return run_in_subprocess([&] { return doctor_once(context, options); });
  return print_doctor(*doctor, context, options);
}

int run_check(const Context& context, const CheckOptions& options) {
  const Check found = checked(context.client, options.port);
  return print(options.json           ? check_json(found)
               : options.drain_reason ? found.drain_reason
                                      : check_line(found, options.perfdata),
               static_cast<int>(found.level));
}

int run_cabling(const Context& context, const CablingOptions& options) {
  const Report report = fetch_status(context.client).report;
  const auto rows = compare_cabling(report);
  return print(
      options.json ? cabling_json(report, rows) : cabling_text(report, rows, context.style),
      count_wrong(rows) > 0 ? kProblems : kOk);
}

}  // namespace linkhealth::cli
