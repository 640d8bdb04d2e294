#include "cli/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/exit_codes.h"
#include "cli/verify_text.h"
#include "exporters/json.h"
#include "exporters/port_names.h"

namespace linkhealth::cli {

namespace {

constexpr Milliseconds kLook{2'000};
constexpr Milliseconds kLineEach{60'000};
constexpr Milliseconds kPatience{600'000};  // for a daemon that went away

/// The report, however often the daemon restarts.
class Asker {
 public:
  Asker(const Client& client, const ProofWorld& world, bool json)
      : client_(client), world_(world), json_(json) {}

  /// nullopt: `exit_code` says why there is none.
  std::optional<Report> first(int& exit_code) const {
    const auto answer = client_.get("/api/v1/report");
    exit_code = kDaemonError;
    if (!answer || answer->status != 200) {
      exit_code = show(answer);
      return std::nullopt;
    }
    auto report = parse_report(answer->body);
    if (report) return *std::move(report);
    complain("the daemon's answer can't be read: " + report.error().message);
    return std::nullopt;
  }

  /// The next look; nullopt: none now. Sets `gave_up` when the daemon stays away.
  std::optional<Report> next() {
    const auto answer = client_.get("/api/v1/report");
    auto report = answer && answer->status == 200 ? parse_report(answer->body)
                                                  : Result<Report>(Error{"no answer"});
    const SteadyTime now = world_.clock.steady();
    if (!report) {
      if (!away_since_) {
        away_since_ = now;
        say("the daemon does not answer: waiting for it");
      }
      gave_up = now - *away_since_ > kPatience;
      return std::nullopt;
    }
    if (away_since_)
      say(fmt::format("the daemon is back after {}: the kernel has counted meanwhile",
                      words(now - *away_since_)));
    away_since_.reset();
    return *std::move(report);
  }

  /// One line above the progress; JSON has only its objects.
  void say(const std::string& line) const {
    if (json_) return;
    if (world_.is_terminal) world_.out << "\r\x1b[K";
    world_.out << "  " << line << "\n" << std::flush;
  }
  static std::string words(Milliseconds duration);

  bool gave_up = false;

 private:
  const Client& client_;
  const ProofWorld& world_;
  bool json_;
  std::optional<SteadyTime> away_since_;
};

std::string Asker::words(Milliseconds duration) { return long_duration(in_seconds(duration)); }

ProofLimits limits_of(const VerifyOptions& options) {
  ProofLimits limits;
  limits.ber = options.ber;
  limits.least_s = static_cast<double>(options.least_s);
  return limits;
}

const PortReport* find(const Report& report, const PortKey& key) {
  const auto at = std::ranges::find(report.ports, key, &PortReport::port);
  return at == report.ports.end() ? nullptr : &*at;
}

int exit_code_of(ProofVerdict verdict) {
  return verdict == ProofVerdict::kPass   ? kOk
         : verdict == ProofVerdict::kFail ? kProblems
                                          : kDaemonError;
}

}  // namespace

int verify(const Client& client, const VerifyOptions& options, const TextStyle& style,
           const ProofWorld& world) {
  Asker asker(client, world, options.json);
  int exit_code = kOk;
  auto report = asker.first(exit_code);
  if (!report) return exit_code;
  const auto named = find_port(*report, options.port);
  if (!named) {
    complain(named.error().message);
    return kBadInput;
  }
  const PortKey key = (*named)->port;
  if (!(*named)->exempt.empty()) {
    complain(key + " is exempt (" + (*named)->exempt + "): there is nothing to prove");
    return kBadInput;
  }
  const ProofLimits limits = limits_of(options);
  Prover prover(limits);
  PortReport latest = **named;
  if (!options.json) world.out << verify_header(latest, limits, style) << std::flush;
  std::optional<SteadyTime> line_at;
  for (;;) {
    ProofState state = prover.state();
    if (report)
      if (const PortReport* port = find(*report, key)) {
        latest = *port;
        state = prover.add(*port, report->t, report->at);
      }
    if (state.note) asker.say(*state.note);
    const bool over =
        state.verdict != ProofVerdict::kWaiting && state.verdict != ProofVerdict::kProving;
    const SteadyTime now = world.clock.steady();
    const bool line_due = !line_at || now - *line_at >= kLineEach;
    if (options.json && (over || line_due))
      world.out << verify_json(latest, state, world.clock.wall()) << "\n";
    if (!options.json && !over && world.is_terminal)
      world.out << "\r\x1b[K" << verify_progress(latest, state, style);
    if (!options.json && !over && !world.is_terminal && line_due)
      world.out << verify_progress(latest, state, style) << "\n";
    if (line_due) line_at = now;
    if (over) {
      if (!options.json)
        world.out << (world.is_terminal ? "\r\x1b[K" : "") << verify_verdict(latest, state, style);
      world.out << std::flush;
      return exit_code_of(state.verdict);
    }
    world.out << std::flush;
    if (!world.wait(kLook)) {
      if (world.is_terminal && !options.json) world.out << "\n";
      complain(fmt::format("ended at {:.0f}%: {} has not proved itself yet", 100 * state.progress(),
                           key));
      return kDaemonError;
    }
    report = asker.next();
    if (asker.gave_up) {
      complain("the daemon does not come back: " + key + " has not proved itself");
      return kNotReachable;
    }
  }
}

namespace {

/// The ports that are still at it, and what became of the others.
struct Burndown {
  std::map<PortKey, Prover> provers;
  std::vector<PortKey> order;
  std::map<PortKey, PortReport> latest;

  [[nodiscard]] std::size_t count(ProofVerdict verdict) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        provers, [&](const auto& entry) { return entry.second.state().verdict == verdict; }));
  }
  [[nodiscard]] std::size_t left() const {
    return count(ProofVerdict::kWaiting) + count(ProofVerdict::kProving);
  }
};

Burndown begin_all(const Report& report, const ProofLimits& limits) {
  Burndown all;
  for (const PortReport& port : report.ports) {
    if (port.health == Health::kExempt) continue;
    all.order.push_back(port.port);
    all.provers.emplace(port.port, Prover(limits));
    all.latest.emplace(port.port, port);
  }
  return all;
}

/// Folds a report in; prints what ended with it.
void take(Burndown& all, const Report& report, bool json, const TextStyle& style,
          const ProofWorld& world, const Asker& asker) {
  for (const PortKey& key : all.order) {
    Prover& prover = all.provers.at(key);
    const ProofVerdict before = prover.state().verdict;
    const PortReport* port = find(report, key);
    if (port == nullptr || (before != ProofVerdict::kWaiting && before != ProofVerdict::kProving))
      continue;
    all.latest[key] = *port;
    const ProofState& state = prover.add(*port, report.t, report.at);
    if (state.note) asker.say(key + ": " + *state.note);
    if (state.verdict == ProofVerdict::kWaiting || state.verdict == ProofVerdict::kProving)
      continue;
    if (json)
      world.out << verify_json(*port, state, world.clock.wall()) << "\n";
    else
      world.out << (world.is_terminal ? "\r\x1b[K" : "") << verify_verdict(*port, state, style);
  }
}

std::string burndown_line(const Burndown& all) {
  double longest = 0, progress = 1;
  for (const auto& [key, prover] : all.provers) {
    const ProofState& state = prover.state();
    if (state.verdict == ProofVerdict::kWaiting) progress = 0;
    if (state.verdict != ProofVerdict::kProving) continue;
    longest = std::max(longest, state.remaining_s);
    progress = std::min(progress, state.progress());
  }
  return fmt::format("{} of {} left, {} passed, {} failed   slowest {:.0f}%{}", all.left(),
                     all.order.size(), all.count(ProofVerdict::kPass),
                     all.count(ProofVerdict::kFail), 100 * progress,
                     longest > 0 ? ", " + long_duration(longest) + " to go" : "");
}

}  // namespace

int qualify(const Client& client, const VerifyOptions& options, const TextStyle& style,
            const ProofWorld& world) {
  Asker asker(client, world, options.json);
  int exit_code = kOk;
  auto report = asker.first(exit_code);
  if (!report) return exit_code;
  Burndown all = begin_all(*report, limits_of(options));
  if (all.order.empty()) {
    complain("there is no port to qualify: all are exempt (linkhealth status)");
    return kBadInput;
  }
  if (!options.json)
    world.out << qualify_header(*report, all.order.size(), limits_of(options), style);
  std::optional<SteadyTime> line_at;
  for (;;) {
    if (report) take(all, *report, options.json, style, world, asker);
    const SteadyTime now = world.clock.steady();
    if (all.left() == 0) break;
    if (!options.json && (world.is_terminal || !line_at || now - *line_at >= kLineEach)) {
      world.out << (world.is_terminal ? "\r\x1b[K  " : "  ") << burndown_line(all)
                << (world.is_terminal ? "" : "\n");
      line_at = now;
    }
    world.out << std::flush;
    if (!world.wait(kLook)) {
      if (world.is_terminal && !options.json) world.out << "\n";
      complain(fmt::format("ended: {} of {} ports have not proved themselves yet", all.left(),
                           all.order.size()));
      return kDaemonError;
    }
    report = asker.next();
    if (asker.gave_up) {
      complain("the daemon does not come back");
      return kNotReachable;
    }
  }
  const std::size_t failed = all.count(ProofVerdict::kFail),
                    passed = all.count(ProofVerdict::kPass);
  if (!options.json)
    world.out << fmt::format("{}  {} of {} ports passed\n",
                             passed == all.order.size() ? "PASS" : "FAIL", passed,
                             all.order.size());
  world.out << std::flush;
  return failed > 0 ? kProblems : passed == all.order.size() ? kOk : kDaemonError;
}

}  // namespace linkhealth::cli
