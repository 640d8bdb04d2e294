#include "cli/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "exporters/text_layout.h"

namespace linkhealth::cli {

namespace {

constexpr std::array<std::string_view, 5> kVerdicts = {"waiting", "proving", "pass", "fail",
                                                       "unknown"};
// Counters are read every 10 s: what happened in the last seconds must have come before the
// verdict.
constexpr double kSettle_s = 20;
// A fault that still shows so long after the proof began is not repaired; the ledger waits 300 s
// itself.
constexpr double kStillThere_s = 600;
// What was seen so long ago does not show any more.
constexpr double kStillGone_s = 60;
// Without the kernel's count of losses a pause in the samples says nothing.
constexpr double kLongestBlind_s = 30;

/// What counts errors after FEC, or all of them where there is no FEC.
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

bool fell(const std::optional<std::uint64_t>& now, const std::optional<std::uint64_t>& before) {
  return now && before && *now < *before;
}

std::uint64_t more(const std::optional<std::uint64_t>& now,
                   const std::optional<std::uint64_t>& before) {
  return now && before && *now > *before ? *now - *before : 0;
}

}  // namespace

std::string_view to_string(ProofVerdict verdict) {
  return kVerdicts.at(static_cast<std::size_t>(verdict));
}

double poisson_above(std::uint64_t errors, double mean) {
  if (mean <= 0) return 0;
  double at_most = 0;
  for (std::uint64_t i = 0; i <= errors; ++i)
    at_most += std::exp(static_cast<double>(i) * std::log(mean) - mean -
                        std::lgamma(static_cast<double>(i) + 1));
  return std::clamp(1 - at_most, 0.0, 1.0);
}

Prover::Look Prover::look(const PortReport& port, SteadyTime t) {
  Look now;
  now.t = t;
  if (const auto& link = port.latest.link) {
    now.up = link->carrier == true;
    now.set_down = link->admin_up == false;
    now.downs = link->carrier_down_count;
    now.rate_bps = link->speed_mbps.value_or(0) * 1e6;
  }
  if (const auto& counters = port.latest.counters) {
    now.uncorrectable = counters->get("fec_uncorrectable_blocks");
    if (!now.uncorrectable) now.errors = count_errors(*counters);
    if (!now.downs) now.downs = counters->get("link_downed");
  }
  // Who has announced that he works here wants to know of every loss.
  if (!port.maintenance) now.voluntary = port.figures.voluntary_downs_total;
  return now;
}

void Prover::begin(const Look& now, std::string why) {
  begun_ = now.t;
  enough_since_.reset();
  state_.bits = 0;
  state_.errors = 0;
  state_.verdict = ProofVerdict::kProving;
  if (!why.empty()) state_.note = std::move(why) + ": the proof begins anew";
}

void Prover::fail(std::string reason) {
  state_.verdict = ProofVerdict::kFail;
  state_.reason = std::move(reason);
}

bool Prover::link_is_wrong(const PortReport& port, const Look& now) {
  const auto& link = port.latest.link;
  const auto& expected = port.expected;
  if (!link || !now.up) return false;
  if (port.health == Health::kDown && is_unmanaged(*link)) fail(port.note);
  if (expected.speed_mbps && link->speed_mbps && *link->speed_mbps < *expected.speed_mbps)
    fail(fmt::format("it runs at {}, {} is expected", speed_words(*link->speed_mbps),
                     speed_words(*expected.speed_mbps)));
  else if (expected.lanes && link->lanes && *link->lanes < *expected.lanes)
    fail(fmt::format("it runs on {} lanes, {} are expected", *link->lanes, *expected.lanes));
  return state_.verdict == ProofVerdict::kFail;
}

/// What happened since the last look. False: it failed, or began anew.
bool Prover::count(const PortReport& port, const Look& now) {
  if (fell(now.downs, last_.downs) || fell(now.uncorrectable, last_.uncorrectable) ||
      fell(now.errors, last_.errors) || now.t < last_.t) {
    begin(now, "the counters were reset");
    return false;
  }
  const std::uint64_t drops = std::max<std::uint64_t>(more(now.downs, last_.downs), now.up ? 0 : 1);
  if (drops > 0 && (now.voluntary > last_.voluntary || now.set_down)) {
    begun_.reset();
    first_ = now.t;
    state_.verdict = ProofVerdict::kWaiting;
    state_.note = "the port was set down or reset: the proof begins anew when it is up";
    return false;
  }
  if (drops > 0) {
    std::string why = "the carrier was lost";
    if (drops > 1) why += fmt::format(" {} times", drops);
    if (!port.faults.empty()) why += fmt::format(" ({})", name_words(port.faults.front().fault));
    fail(why);
    return false;
  }
  if (const auto blocks = more(now.uncorrectable, last_.uncorrectable); blocks > 0) {
    fail(fmt::format("{} uncorrectable block{}", blocks, blocks == 1 ? "" : "s"));
    return false;
  }
  state_.errors += more(now.errors, last_.errors);
  const double seconds = in_seconds(now.t - last_.t);
  if (now.downs || seconds <= kLongestBlind_s) state_.bits += now.rate_bps * seconds;
  return true;
}

void Prover::judge(const PortReport& port, const Look& now, WallTime at) {
  const double mean = state_.bits * limits_.ber;
  state_.elapsed_s = in_seconds(now.t - *begun_);
  state_.confidence = poisson_above(state_.errors, mean);
  // Bits until the confidence is reached, if no more errors come.
  double needed_mean = mean;
  while (poisson_above(state_.errors, needed_mean) < limits_.confidence) needed_mean += 0.01;
  const double by_bits = now.rate_bps > 0 ? (needed_mean - mean) / (limits_.ber * now.rate_bps) : 0;
  state_.remaining_s = std::max({limits_.least_s - state_.elapsed_s, by_bits, 0.0});
  state_.needed_s = state_.elapsed_s + state_.remaining_s;
  if (!now.uncorrectable && !now.errors && state_.elapsed_s > kSettle_s) {
    state_.verdict = ProofVerdict::kUnknown;
    state_.reason = "no error counter of this port can be read (linkhealth doctor says why)";
    return;
  }
  // So many errors are too many for the limit, with the same confidence.
  if (state_.errors > 1 && poisson_above(state_.errors - 1, mean) < 1 - limits_.confidence &&
      state_.bits > 0) {
    fail(fmt::format("{} errors in {:.1e} bits: the error ratio is above {:.0e}", state_.errors,
                     state_.bits, limits_.ber));
    return;
  }
  for (const FaultReport& fault : port.faults) {
    const bool shows = fault.state != FaultState::kProving && fault.severity != Severity::kNotice &&
                       in_seconds(at - fault.last_seen_at) < kStillGone_s;
    if (!shows) continue;
    if (state_.elapsed_s < std::min(kStillThere_s, limits_.least_s)) continue;
    // Right after a repair the last ten minutes still hold what was before it: however short the
    // proof is to be, the fault has that time to go. Where nothing was done it has not.
    const double left_s =
        fault.repairs.empty() ? 0 : kStillThere_s - in_seconds(at - fault.repairs.back().at);
    if (left_s > 0) {
      if (!std::exchange(told_that_it_shows_, true))
        state_.note = name_words(fault.fault) + " still shows: it has " +
                      duration_words(from_seconds(left_s)) + " to go";
      state_.remaining_s = std::max(state_.remaining_s, kStillGone_s);
      state_.needed_s = state_.elapsed_s + state_.remaining_s;
      continue;
    }
    fail(name_words(fault.fault) + " still shows" +
         (fault.summary.empty() ? "" : ": " + fault.summary));
    return;
  }
  if (state_.remaining_s > 0) return;
  if (!enough_since_) enough_since_ = now.t;
  if (in_seconds(now.t - *enough_since_) >= kSettle_s) state_.verdict = ProofVerdict::kPass;
}

namespace {

/// The last thing that somebody did here, where it changed the light.
const RepairRecord* last_repair(const PortReport& port) {
  for (const FaultReport& fault : port.faults)
    for (auto at = fault.repairs.rbegin(); at != fault.repairs.rend(); ++at)
      if (at->rx_power_before_dbm && at->rx_power_after_dbm) return &*at;
  return nullptr;
}

}  // namespace

const ProofState& Prover::add(const PortReport& port, SteadyTime t, WallTime at) {
  state_.note.reset();
  if (const RepairRecord* repair = last_repair(port)) state_.repair = *repair;
  if (state_.verdict != ProofVerdict::kWaiting && state_.verdict != ProofVerdict::kProving)
    return state_;
  const Look now = look(port, t);
  if (!first_) first_ = t;
  if (link_is_wrong(port, now)) return state_;
  if (state_.verdict == ProofVerdict::kWaiting) {
    if (now.up)
      begin(now, "");
    else if (in_seconds(t - *first_) > limits_.link_wait_s)
      fail(now.set_down
               ? "the port is set down"
               : "the link does not come up" +
                     (port.faults.empty() ? ""
                                          : " (" + name_words(port.faults.front().fault) + ")"));
  } else if (!count(port, now)) {
    last_ = now;
    return state_;
  }
  last_ = now;
  if (state_.verdict == ProofVerdict::kProving) judge(port, now, at);
  return state_;
}

}  // namespace linkhealth::cli
