#include "cli/repair_verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "exporters/text/text_layout.h"

namespace linkhealth::cli {

namespace {

// Counters are read every 10 s: PASS waits until the events of the last seconds have been read.
constexpr double kSettle_s = 20;
// Error ratios are measured over ten minutes: a symptom may remain for this long after a repair.
constexpr double kSymptomWindow_s = 600;
// A fault whose symptoms were last present this long ago does not count as present.
constexpr double kGone_s = 60;
// Without the kernel's count of carrier losses, a longer pause between reports proves nothing.
constexpr double kLongestPause_s = 30;

/// The counter of errors after FEC, or of all errors if there is no FEC.
std::optional<std::uint64_t> count_errors(const Counters& counters) {
  constexpr std::array<std::string_view, 6> kNames = {"symbol_error",
                                                      "port_rcv_errors",
                                                      "phy_SymbolErrorDuringCarrier",
                                                      "mac_FrameCheckSequenceErrors",
                                                      "netdev_rx_crc_errors",
                                                      "netdev_rx_errors"};
  std::optional<std::uint64_t> most;
  for (const std::string_view name : kNames)
    if (const auto value = counters.get(name)) most = std::max(most.value_or(0), *value);
  return most;
}

bool was_reset(const std::optional<std::uint64_t>& now, const std::optional<std::uint64_t>& last) {
  return now && last && *now < *last;
}

std::uint64_t increase(const std::optional<std::uint64_t>& now,
                       const std::optional<std::uint64_t>& last) {
  return now && last && *now > *last ? *now - *last : 0;
}

std::string first_fault(const PortReport& port) {
  return port.faults.empty() ? "" : " (" + format_name(port.faults.front().fault) + ")";
}

const RepairRecord* last_repair_of_light(const PortReport& port) {
  for (const FaultReport& fault : port.faults)
    for (auto at = fault.repairs.rbegin(); at != fault.repairs.rend(); ++at)
      if (at->rx_power_before_dbm && at->rx_power_after_dbm) return &*at;
  return nullptr;
}

}  // namespace

std::string_view to_string(VerifyVerdict verdict) {
  constexpr std::array<std::string_view, 5> kWords = {"waiting", "proving", "pass", "fail",
                                                      "unknown"};
  return kWords.at(static_cast<std::size_t>(verdict));
}

double poisson_above(std::uint64_t errors, double mean) {
  if (mean <= 0) return 0;
  double at_most = 0;
  for (std::uint64_t i = 0; i <= errors; ++i)
    at_most += std::exp(static_cast<double>(i) * std::log(mean) - mean -
                        std::lgamma(static_cast<double>(i) + 1));
  return std::clamp(1 - at_most, 0.0, 1.0);
}

RepairVerifier::Reading RepairVerifier::read(const PortReport& port, SteadyTime t) {
  Reading now;
  now.t = t;
  if (const auto& link = port.latest.link) {
    now.up = link->carrier == true;
    now.admin_down = link->admin_up == false;
    now.downs = link->carrier_down_count;
    now.rate_bps = link->speed_mbps.value_or(0) * 1e6;
  }
  if (const auto& counters = port.latest.counters) {
    now.uncorrectable = counters->get("fec_uncorrectable_blocks");
    if (!now.uncorrectable) now.errors = count_errors(*counters);
    if (!now.downs) now.downs = counters->get("link_downed");
  }
  // During maintenance every loss counts: the daemon regards all of them as planned.
  if (!port.maintenance) now.planned_downs = port.figures.voluntary_downs_total;
  return now;
}

void RepairVerifier::start(SteadyTime t) {
  started_ = t;
  enough_since_.reset();
  state_.bits = 0;
  state_.errors = 0;
  state_.verdict = VerifyVerdict::kTesting;
}

void RepairVerifier::fail(std::string reason) {
  state_.verdict = VerifyVerdict::kFail;
  state_.reason = std::move(reason);
}

void RepairVerifier::wait_for_link(const PortReport& port, const Reading& now) {
  if (!waiting_since_) waiting_since_ = now.t;
  if (now.up)
    start(now.t);
  else if (in_seconds(now.t - *waiting_since_) > limits_.link_wait_s)
    fail(now.admin_down ? "the port is administratively down"
                        : "the link does not come up" + first_fault(port));
}

/// False: the link is up, but not as it should be.
bool RepairVerifier::check_speed(const PortReport& port, const Reading& now) {
  const auto& link = port.latest.link;
  const auto& expected = port.expected;
  if (!link || !now.up) return true;
  if (port.health == Health::kDown && is_unmanaged(*link)) fail(port.note);
  if (expected.speed_mbps && link->speed_mbps && *link->speed_mbps < *expected.speed_mbps)
    fail(fmt::format("running at {}, expected {}", format_speed(*link->speed_mbps),
                     format_speed(*expected.speed_mbps)));
  else if (expected.lanes && link->lanes && *link->lanes < *expected.lanes)
    fail(fmt::format("running on {} lanes, expected {}", *link->lanes, *expected.lanes));
  return state_.verdict != VerifyVerdict::kFail;
}

/// Counts what happened since the last report. False: the test failed or restarted.
bool RepairVerifier::check_counters(const PortReport& port, const Reading& now) {
  if (was_reset(now.downs, last_.downs) || was_reset(now.uncorrectable, last_.uncorrectable) ||
      was_reset(now.errors, last_.errors) || now.t < last_.t) {
    start(now.t);
    state_.note = "the counters were reset: the test restarts";
    return false;
  }
  const std::uint64_t losses =
      std::max<std::uint64_t>(increase(now.downs, last_.downs), now.up ? 0 : 1);
  if (losses > 0 && (now.planned_downs > last_.planned_downs || now.admin_down)) {
    waiting_since_ = now.t;
    state_.verdict = VerifyVerdict::kWaiting;
    state_.note = "the port was disabled or reset: the test restarts when the link is up";
    return false;
  }
  if (losses > 0)
    fail("the carrier was lost" + (losses > 1 ? fmt::format(" {} times", losses) : "") +
         first_fault(port));
  else if (const auto blocks = increase(now.uncorrectable, last_.uncorrectable); blocks > 0)
    fail(count_of(blocks, "uncorrectable block"));
  if (state_.verdict == VerifyVerdict::kFail) return false;
  state_.errors += increase(now.errors, last_.errors);
  const double seconds = in_seconds(now.t - last_.t);
  if (now.downs || seconds <= kLongestPause_s) state_.bits += now.rate_bps * seconds;
  return true;
}

/// False: a fault is still present although it has had time to disappear after a repair.
bool RepairVerifier::check_faults(const PortReport& port, WallTime at) {
  if (state_.elapsed_s < std::min(kSymptomWindow_s, limits_.least_s)) return true;
  for (const FaultReport& fault : port.faults) {
    const bool present = fault.state != FaultState::kProving &&
                         fault.severity != Severity::kNotice &&
                         in_seconds(at - fault.last_seen_at) < kGone_s;
    if (!present) continue;
    const std::string shows = format_name(fault.fault) + " still shows";
    const double left_s =
        fault.repairs.empty() ? 0 : kSymptomWindow_s - in_seconds(at - fault.repairs.back().at);
    if (left_s <= 0) {
      fail(shows + (fault.summary.empty() ? "" : ": " + fault.summary));
      return false;
    }
    if (!std::exchange(fault_noted_, true))
      state_.note = fmt::format("{}: waiting up to {} for its symptoms to disappear", shows,
                                format_duration(from_seconds(left_s)));
    state_.remaining_s = std::max(state_.remaining_s, kGone_s);
  }
  return true;
}

void RepairVerifier::judge(const PortReport& port, const Reading& now, WallTime at) {
  const double mean = state_.bits * limits_.ber;
  state_.elapsed_s = in_seconds(now.t - started_);
  state_.confidence = poisson_above(state_.errors, mean);
  // The number of bits needed if there are no more errors.
  double needed_mean = mean;
  while (poisson_above(state_.errors, needed_mean) < limits_.confidence) needed_mean += 0.01;
  const double by_bits = now.rate_bps > 0 ? (needed_mean - mean) / (limits_.ber * now.rate_bps) : 0;
  state_.remaining_s = std::max({limits_.least_s - state_.elapsed_s, by_bits, 0.0});
  if (!now.uncorrectable && !now.errors && state_.elapsed_s > kSettle_s) {
    state_.verdict = VerifyVerdict::kUnknown;
    state_.reason = "no error counter of this port is readable (linkhealth doctor shows why)";
    return;
  }
  // This many errors exclude a ratio below the limit, with the same confidence.
  if (state_.errors > 1 && state_.bits > 0 &&
      poisson_above(state_.errors - 1, mean) < 1 - limits_.confidence)
    return fail(fmt::format("{} errors in {:.1e} bits: the error ratio is above {:.0e}",
                            state_.errors, state_.bits, limits_.ber));
  if (!check_faults(port, at) || state_.remaining_s > 0) return;
  if (!enough_since_) enough_since_ = now.t;
  if (in_seconds(now.t - *enough_since_) >= kSettle_s) state_.verdict = VerifyVerdict::kPass;
}

const VerifyState& RepairVerifier::add(const PortReport& port, SteadyTime t, WallTime at) {
  state_.note.clear();
  if (const RepairRecord* repair = last_repair_of_light(port)) state_.repair = *repair;
  if (state_.finished()) return state_;
  const Reading now = read(port, t);
  if (!check_speed(port, now)) return state_;
  bool counted = true;
  if (state_.verdict == VerifyVerdict::kWaiting)
    wait_for_link(port, now);
  else
    counted = check_counters(port, now);
  last_ = now;
  if (counted && state_.verdict == VerifyVerdict::kTesting) judge(port, now, at);
  return state_;
}

}  // namespace linkhealth::cli
