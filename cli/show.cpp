// The commands that show what the daemon knows. The daemon answers with JSON; the text is made
// here.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <functional>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/fetched.h"
#include "cli/once.h"
#include "cli/run_in_subprocess.h"
#include "cli/terminal.h"
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

namespace {

constexpr const char* kStatusPath = "/api/v1/status";
constexpr Milliseconds kRefresh{1000};

std::string port_path(const std::string& port) { return "/api/v1/ports/" + url_encoded(port); }

std::string status_of(const StatusDocument& status, const StatusOptions& options,
                      const TextStyle& style) {
  StatusView view{.now = status.daemon.now, .watching = from_seconds(status.daemon.running_s)};
  view.problems_only = options.problems;
  view.wide = options.wide;
  std::string text = status_text(status.report, style, view);
  if (status.daemon.configuration_at && !options.problems)
    text += fmt::format("\nconfiguration, {} ago: {}\n",
                        duration_words(status.daemon.now - *status.daemon.configuration_at),
                        printable(status.daemon.configuration_note));
  return text;
}

/// A text about one port.
Fetched<std::string> text_of_port(
    const Client& client, const std::string& name,
    const std::function<std::string(const StatusDocument&, const PortReport&)>& make) {
  const auto status = fetch_as(client, kStatusPath, &parse_status);
  if (!status.value) return {{}, status.message, status.exit_code};
  const auto port = find_port(status.value->report, name);
  if (!port) return {{}, port.error().message, kBadInput};
  return {make(*status.value, **port), "", kOk};
}

Fetched<std::string> explanation_of(const Client& client, const ExplainOptions& options,
                                    const TextStyle& style) {
  return text_of_port(client, options.port,
                      [&](const StatusDocument& status, const PortReport& port) {
                        return explain_text(port, style,
                                            {.now = status.daemon.now,
                                             .t = status.report.t,
                                             .symptoms = options.evidence,
                                             .physics = options.physics});
                      });
}

/// A check that cannot be made is UNKNOWN, on standard output, where Nagios reads.
int check_unknown(const CheckOptions& options, const std::string& why) {
  Check check;
  check.level = CheckLevel::kUnknown;
  check.text = why;
  if (options.json)
    std::puts(check_json(check).c_str());
  else if (!options.drain_reason)  // an unknown state is no reason to drain
    std::fputs(check_line(check, false).c_str(), stdout);
  return static_cast<int>(CheckLevel::kUnknown);
}

Fetched<std::string> watch_frame(const Client& client, const WatchOptions& options) {
  if (options.json) {
    const auto answer =
        client.get(options.port.empty() ? "/api/v1/report" : port_path(options.port));
    if (!answer) return {{}, answer.error().message, kNotReachable};
    if (answer->status != 200) return {{}, refusal_text(*answer), refusal_exit_code(*answer)};
    return {answer->body + (answer->body.ends_with('\n') ? "" : "\n"), "", kOk};
  }
  const TextStyle style = output_style();
  if (!options.port.empty()) return explanation_of(client, {.port = options.port}, style);
  const auto status = fetch_as(client, kStatusPath, &parse_status);
  if (!status.value) return {{}, status.message, status.exit_code};
  StatusOptions shown;
  shown.problems = options.problems;
  return {status_of(*status.value, shown, style), "", kOk};
}

/// nullopt: no daemon runs.
std::optional<int> doctor_of_daemon(const Context& context, const DoctorOptions& options) {
  const auto answer = context.client.get("/api/v1/doctor");
  if (!answer && (answer.error().errnum == ENOENT || answer.error().errnum == ECONNREFUSED))
    return std::nullopt;
  if (!answer || answer->status != 200) {
    (void)show(answer);  // complains
    return kBadInput;
  }
  const auto doctor = parse_doctor(answer->body);
  if (!doctor)
    return print(
        {{}, "the daemon's answer cannot be parsed: " + doctor.error().message, kBadInput});
  return print({options.json ? answer->body : doctor_text(*doctor, context.style), "",
                doctor->hidden > 0 ? kProblems : kOk});
}

}  // namespace

int print(const Fetched<std::string>& text) {
  if (!text.value)
    complain(text.message);
  else
    std::fwrite(text.value->data(), 1, text.value->size(), stdout);
  return text.exit_code;
}

int run_status(const Context& context, const StatusOptions& options) {
  if (options.once) return run_in_subprocess([&] { return status_once(context, options); });
  const auto status = fetch_as(context.client, kStatusPath, &parse_status);
  if (!status.value) return print({{}, status.message, status.exit_code});
  const bool bad = options.problems && count_problems(status.value->report) > 0;
  const int exit_code = bad ? kProblems : kOk;
  if (options.json) return show(context.client.get("/api/v1/report"), exit_code);
  return print({status_of(*status.value, options, context.style), "", exit_code});
}

int run_explain(const Context& context, const ExplainOptions& options) {
  if (options.json) return show(context.client.get(port_path(options.port)));
  return print(explanation_of(context.client, options, context.style));
}

int run_ticket(const Context& context, const TicketOptions& options) {
  if (options.json) return show(context.client.get("/api/v1/ticket/" + url_encoded(options.port)));
  return print(text_of_port(context.client, options.port,
                            [](const StatusDocument& status, const PortReport& port) {
                              return ticket_markdown(make_ticket(status.report, port));
                            }));
}

int run_history(const Context& context, const HistoryOptions& options) {
  const std::string path =
      port_path(options.port) + "/history?since=" + std::to_string(options.since_s);
  if (options.json) return show(context.client.get(path));
  const auto past = fetch_as(context.client, path, &parse_timeline);
  if (!past.value) return print({{}, past.message, past.exit_code});
  TextStyle style = context.style;
  style.ascii = style.ascii || options.ascii;
  return print(text_of_port(context.client, options.port,
                            [&](const StatusDocument&, const PortReport& port) {
                              return timeline_text(*past.value, port, style);
                            }));
}

int run_doctor(const Context& context, const DoctorOptions& options) {
  if (options.sysroot.empty())
    if (const auto exit_code = doctor_of_daemon(context, options)) return *exit_code;
  return run_in_subprocess([&] { return doctor_once(context, options); });
}

int run_check(const Context& context, const CheckOptions& options) {
  const auto status = fetch_as(context.client, kStatusPath, &parse_status);
  if (!status.value) return check_unknown(options, status.message);
  const auto& [daemon, report] = *status.value;
  const PortReport* only = nullptr;
  if (!options.port.empty()) {
    const auto port = find_port(report, options.port);
    if (!port) return check_unknown(options, port.error().message);
    only = *port;
  }
  const Check found = check(report, only, {daemon.now, from_seconds(daemon.stale_after_s)});
  std::string text = options.json           ? check_json(found) + "\n"
                     : options.drain_reason ? found.drain_reason
                                            : check_line(found, options.perfdata);
  if (options.drain_reason && !text.empty()) text += "\n";
  return print({text, "", static_cast<int>(found.level)});
}

int run_cabling(const Context& context, const CablingOptions& options) {
  const auto report = fetch_as(context.client, "/api/v1/report", &parse_report);
  if (!report.value) return print({{}, report.message, report.exit_code});
  const auto rows = compare_cabling(*report.value);
  return print({options.json ? cabling_json(*report.value, rows) + "\n"
                             : cabling_text(*report.value, rows, context.style),
                "", count_wrong(rows) > 0 ? kProblems : kOk});
}

int run_watch(const Context& context, const WatchOptions& options) {
  // Before the alternate screen, where an error would disappear.
  const auto first = watch_frame(context.client, options);
  if (!first.value) return print(first);
  const LiveScreen screen(output_is_terminal() && !options.json);
  screen.draw(*first.value);
  for (std::uint64_t shown = 1; options.frames == 0 || shown < options.frames; ++shown) {
    if (!screen.wait(kRefresh) || std::ferror(stdout) != 0) break;
    const auto next = watch_frame(context.client, options);
    // The daemon may come back: continue.
    if (next.value || !options.json)
      screen.draw(next.value ? *next.value : "linkhealth: " + next.message + "\n");
    else
      complain(next.message);
  }
  return kOk;
}

}  // namespace linkhealth::cli
