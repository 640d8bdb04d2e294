// The commands that show what the daemon knows. The daemon answers with JSON; texts are drawn here.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <functional>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/fetched.h"
#include "cli/terminal.h"
#include "exporters/check.h"
#include "exporters/doctor.h"
#include "exporters/json.h"
#include "exporters/module_text.h"
#include "exporters/port_names.h"
#include "exporters/text.h"
#include "exporters/text_layout.h"
#include "exporters/ticket.h"
#include "exporters/timeline_json.h"
#include "exporters/timeline_text.h"

namespace linkhealth::cli {

namespace {

constexpr const char* kStatusPath = "/api/v1/status";
constexpr int kCheckUnknown = 3;

std::string port_path(const std::string& port) { return "/api/v1/ports/" + url_encoded(port); }

int print(const Fetched<std::string>& text) {
  if (!text.value) {
    complain(text.message);
    return text.exit_code;
  }
  std::fwrite(text.value->data(), 1, text.value->size(), stdout);
  return text.exit_code;
}

std::string draw_status(const StatusDocument& status, const StatusOptions& options,
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
Fetched<std::string> draw_port(
    const Client& client, const std::string& name,
    const std::function<std::string(const StatusDocument&, const PortReport&)>& draw) {
  const auto status = fetch_as(client, kStatusPath, &parse_status);
  if (!status.value) return {{}, status.message, status.exit_code};
  const auto port = find_port(status.value->report, name);
  if (!port) return {{}, port.error().message, kBadInput};
  return {draw(*status.value, **port), "", kOk};
}

Fetched<std::string> draw_explanation(const Client& client, const ExplainOptions& options,
                                      const TextStyle& style) {
  return draw_port(client, options.port, [&](const StatusDocument& status, const PortReport& port) {
    return explain_text(port, style,
                        {.now = status.daemon.now,
                         .t = status.report.t,
                         .symptoms = options.evidence,
                         .physics = options.physics});
  });
}

/// A check that cannot be made is UNKNOWN, on standard output, where the caller reads.
int check_unknown(const CheckOptions& options, const std::string& why) {
  Check check;
  check.level = CheckLevel::kUnknown;
  check.text = why;
  if (options.json)
    std::puts(check_json(check).c_str());
  else if (!options.drain_reason)  // an unknown state is no reason to drain
    std::fputs(check_line(check, false).c_str(), stdout);
  return kCheckUnknown;
}

/// JSON lines: nothing is drawn over, so that a pipe gets each of them.
int watch_json(const Client& client, const WatchOptions& options) {
  const std::string path = options.port.empty() ? "/api/v1/report" : port_path(options.port);
  if (const int shown = show(client.get(path)); shown != kOk) return shown;
  const LiveScreen screen(false);
  for (std::uint64_t shown = 1; options.frames == 0 || shown < options.frames; ++shown) {
    std::fflush(stdout);
    if (!screen.wait(options.interval)) break;
    if (std::ferror(stdout) != 0) break;
    (void)show(client.get(path));  // it complains on standard error; the daemon may come back
  }
  return kOk;
}

Fetched<std::string> watch_frame(const Client& client, const WatchOptions& options) {
  const TextStyle style = output_style();
  if (!options.port.empty()) return draw_explanation(client, {.port = options.port}, style);
  const auto status = fetch_as(client, kStatusPath, &parse_status);
  if (!status.value) return {{}, status.message, status.exit_code};
  return {draw_status(*status.value, {.problems = options.problems}, style), "", kOk};
}

}  // namespace

int run_status(const Client& client, const StatusOptions& options, const TextStyle& style) {
  const auto status = fetch_as(client, kStatusPath, &parse_status);
  if (!status.value) return print({{}, status.message, status.exit_code});
  const bool bad = options.problems && count_problems(status.value->report) > 0;
  const int exit_code = bad ? kProblems : kOk;
  if (options.json) return show(client.get("/api/v1/report"), exit_code);
  return print({draw_status(*status.value, options, style), "", exit_code});
}

int run_explain(const Client& client, const ExplainOptions& options, const TextStyle& style) {
  if (options.json) return show(client.get(port_path(options.port)));
  return print(draw_explanation(client, options, style));
}

int run_ticket(const Client& client, const TicketOptions& options) {
  if (options.json) return show(client.get("/api/v1/ticket/" + url_encoded(options.port)));
  return print(draw_port(client, options.port, [](const auto& status, const PortReport& port) {
    return ticket_markdown(make_ticket(status.report, port));
  }));
}

int run_module(const Client& client, const std::string& port, bool json, const TextStyle& style) {
  const std::string path = "/api/v1/module/" + url_encoded(port);
  if (json) return show(client.get(path));
  const auto module = fetch_as(client, path, &parse_module);
  if (!module.value) return print({{}, module.message, module.exit_code});
  return print({module_text(*module.value, style), "", kOk});
}

int run_history(const Client& client, const HistoryOptions& options, TextStyle style) {
  constexpr std::uint64_t kTenYears_s = 3650 * kDay_s;
  const auto since_s = parse_duration_s(options.since, kTenYears_s);
  if (!since_s) {
    complain("history --since: " + since_s.error().message);
    return kBadInput;
  }
  const std::string path = port_path(options.port) + "/history?since=" + std::to_string(*since_s);
  if (options.json) return show(client.get(path));
  style.ascii = style.ascii || options.ascii;
  const auto past = fetch_as(client, path, &parse_timeline);
  if (!past.value) return print({{}, past.message, past.exit_code});
  return print(draw_port(client, options.port, [&](const auto&, const PortReport& port) {
    return timeline_text(*past.value, port, style);
  }));
}

std::optional<int> run_doctor(const Client& client, const DoctorOptions& options,
                              const TextStyle& style) {
  const auto answer = client.get("/api/v1/doctor");
  if (!answer && (answer.error().errnum == ENOENT || answer.error().errnum == ECONNREFUSED))
    return std::nullopt;
  if (!answer || answer->status != 200) {
    (void)show(answer);  // complains
    return kBadInput;
  }
  const auto doctor = parse_doctor(answer->body);
  if (!doctor) {
    complain("the daemon's answer can't be read: " + doctor.error().message);
    return kBadInput;
  }
  return print({options.json ? answer->body : doctor_text(*doctor, style), "",
                doctor->hidden > 0 ? kProblems : kOk});
}

int run_check(const Client& client, const CheckOptions& options) {
  const auto status = fetch_as(client, kStatusPath, &parse_status);
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

int run_watch(const Client& client, const WatchOptions& options) {
  if (options.json) return watch_json(client, options);
  // A mistake is reported on the usual screen, not on the one that goes away.
  const auto first = watch_frame(client, options);
  if (!first.value) return print(first);
  const LiveScreen screen(output_is_terminal());
  screen.draw(*first.value);
  for (std::uint64_t shown = 1; options.frames == 0 || shown < options.frames; ++shown) {
    if (!screen.wait(options.interval)) break;
    const auto next = watch_frame(client, options);
    // The daemon may come back: go on.
    screen.draw(next.value ? *next.value : "linkhealth: " + next.message + "\n");
  }
  return kOk;
}

}  // namespace linkhealth::cli
