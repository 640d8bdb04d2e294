#include "cli/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <vector>

#include "cli/terminal.h"
#include "cli/verify_text.h"
#include "exporters/json/json.h"
#include "exporters/text/port_names.h"

namespace linkhealth::cli {

namespace {

constexpr Milliseconds kReadEvery{2'000};
constexpr Milliseconds kLineEvery{60'000};
constexpr Milliseconds kLongestAbsence{600'000};  // tolerated absence of the daemon

struct TestedPort {
  PortReport latest;
  RepairVerifier verifier;
};

class Verification {
 public:
  Verification(const Client& client, const VerifyOptions& options, const TextStyle& style,
               const VerifyEnvironment& environment)
      : client_(client), options_(options), style_(style), environment_(environment) {
    limits_.ber = options.ber;
    limits_.least_s = static_cast<double>(options.least_s);
  }

  int run() {
    Report report = fetch_report();
    select_ports(report);
    if (!options_.json)
      environment_.out << (is_single() ? verify_header(ports_[0].latest, limits_, style_)
                                       : qualify_header(report, ports_.size(), limits_, style_));
    for (;;) {
      if (!absent_since_) add(report);
      if (count_unfinished() == 0) return finish();
      show_progress();
      environment_.out << std::flush;
      if (!environment_.wait(kReadEvery)) interrupted();
      try {
        report = fetch_report();
        note_return();
      } catch (const CommandError&) {
        note_absence();
      }
    }
  }

 private:
  [[nodiscard]] Report fetch_report() const {
    return fetch_as(client_, "/api/v1/report", &parse_report);
  }
  [[nodiscard]] bool is_single() const { return !options_.port.empty(); }
  [[nodiscard]] std::size_t count(VerifyVerdict verdict) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        ports_, [&](const TestedPort& port) { return port.verifier.state().verdict == verdict; }));
  }
  [[nodiscard]] std::size_t count_unfinished() const {
    return count(VerifyVerdict::kWaiting) + count(VerifyVerdict::kTesting);
  }

  void select_ports(const Report& report) {
    if (is_single()) {
      const auto named = find_port(report, options_.port);
      if (!named) throw CommandError(kBadInput, named.error().message);
      const PortReport& port = **named;
      if (port.health == Health::kExempt)
        throw CommandError(
            kBadInput, fmt::format("{} is exempt ({}): nothing to verify", port.port, port.exempt));
      ports_.push_back({port, RepairVerifier(limits_)});
      return;
    }
    for (const PortReport& port : report.ports)
      if (port.health != Health::kExempt) ports_.push_back({port, RepairVerifier(limits_)});
    if (ports_.empty())
      throw CommandError(kBadInput, "all ports are exempt: nothing to verify (linkhealth status)");
  }

  /// Adds a report and prints the verdicts that it decides.
  void add(const Report& report) {
    for (TestedPort& tested : ports_) {
      const auto port = std::ranges::find(report.ports, tested.latest.port, &PortReport::port);
      if (port == report.ports.end() || tested.verifier.state().finished()) continue;
      tested.latest = *port;
      const VerifyState& state = tested.verifier.add(*port, report.t, report.at);
      if (!state.note.empty()) print(fmt::format("  {}: {}\n", port->port, state.note));
      if (!state.finished()) continue;
      if (options_.json)
        environment_.out << verify_json(*port, state, environment_.clock.wall()) << "\n";
      else
        print(verify_verdict(*port, state, style_));
    }
  }

  /// Prints a line above the progress; JSON output contains documents only.
  void print(const std::string& text) {
    if (options_.json) return;
    environment_.out << (environment_.is_terminal ? "\r\x1b[K" : "") << text;
  }

  void show_progress() {
    const SteadyTime now = environment_.clock.steady();
    const bool due = !line_at_ || now - *line_at_ >= kLineEvery;
    if (due) line_at_ = now;
    const TestedPort& first = ports_.front();
    if (options_.json) {
      if (due && is_single())
        environment_.out << verify_json(first.latest, first.verifier.state(),
                                        environment_.clock.wall())
                         << "\n";
      return;
    }
    if (!due && !environment_.is_terminal) return;
    print((is_single() ? verify_progress(first.latest, first.verifier.state(), style_)
                       : progress_of_all()) +
          (environment_.is_terminal ? "" : "\n"));
  }

  [[nodiscard]] std::string progress_of_all() const {
    double longest_s = 0, progress = 1;
    for (const TestedPort& port : ports_) {
      const VerifyState& state = port.verifier.state();
      if (state.finished()) continue;
      longest_s = std::max(longest_s, state.remaining_s);
      progress = std::min(progress, state.progress());
    }
    return fmt::format("  {} of {} left, {} passed, {} failed   slowest {:.0f}%{}",
                       count_unfinished(), ports_.size(), count(VerifyVerdict::kPass),
                       count(VerifyVerdict::kFail), 100 * progress,
                       longest_s > 0 ? ", " + long_duration(longest_s) + " left" : "");
  }

  void note_return() {
    if (!absent_since_) return;
    print(fmt::format("  the daemon answers again after {}; the kernel kept counting\n",
                      long_duration(in_seconds(environment_.clock.steady() - *absent_since_))));
    absent_since_.reset();
  }
  void note_absence() {
    const SteadyTime now = environment_.clock.steady();
    if (!absent_since_) print("  the daemon does not answer: waiting\n");
    if (!absent_since_) absent_since_ = now;
    if (now - *absent_since_ > kLongestAbsence)
      throw CommandError(kNotReachable,
                         fmt::format("the daemon has not answered for {}: not verified",
                                     long_duration(in_seconds(kLongestAbsence))));
  }

  [[noreturn]] void interrupted() {
    if (environment_.is_terminal && !options_.json) environment_.out << "\n";
    throw CommandError(kDaemonError,
                       is_single() ? fmt::format("interrupted at {:.0f}%: {} is not verified",
                                                 100 * ports_[0].verifier.state().progress(),
                                                 ports_[0].latest.port)
                                   : fmt::format("interrupted: {} of {} ports are not verified",
                                                 count_unfinished(), ports_.size()));
  }

  int finish() {
    const std::size_t passed = count(VerifyVerdict::kPass);
    if (!is_single() && !options_.json)
      print(fmt::format("{}  {} of {} ports passed\n", passed == ports_.size() ? "PASS" : "FAIL",
                        passed, ports_.size()));
    environment_.out << std::flush;
    if (count(VerifyVerdict::kFail) > 0) return kProblems;
    return passed == ports_.size() ? kOk : kDaemonError;
  }

  const Client& client_;
  const VerifyOptions& options_;
  const TextStyle& style_;
  const VerifyEnvironment& environment_;
  VerifyLimits limits_;
  std::vector<TestedPort> ports_;
  std::optional<SteadyTime> absent_since_, line_at_;
};

}  // namespace

int verify(const Client& client, const VerifyOptions& options, const TextStyle& style,
           const VerifyEnvironment& environment) {
  return Verification(client, options, style, environment).run();
}

int run_verify(const Context& context, const VerifyOptions& options) {
  LiveScreen screen(false);  // Ctrl-C ends the waiting
  return verify(context.client, options, context.style,
                {context.clock, [&](Milliseconds wait) { return screen.wait(wait); }, std::cout,
                 output_is_terminal()});
}

}  // namespace linkhealth::cli
