// Makes the rows of the history database from snapshots: the values of each port in steps of 10 s,
// and longer steps from shorter ones.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "model/history/port_moves.h"
#include "model/history/rate_calculator.h"
#include "model/report.h"
#include "model/signals.h"

namespace linkhealth {

/// The lengths of a step, shortest first; each is a multiple of the one before.
inline constexpr std::array<std::uint32_t, 3> kSignalSteps_s{10, 60, 600};

/// The start of the step of this length that contains `at_s`.
constexpr std::int64_t step_start_s(std::int64_t at_s, std::uint32_t step_s) {
  const std::int64_t into = at_s % step_s;
  return at_s - (into < 0 ? into + step_s : into);
}

/// One port in one step.
struct SignalRow {
  std::string port;  ///< stable key
  std::uint32_t step_s = kSignalSteps_s[0];
  std::int64_t at_s = 0;  ///< start of the step, seconds since 1970; a multiple of its length
  SignalValues values;
};

/// Makes the rows of the shortest steps.
class SignalCollector {
 public:
  /// Adds the readings of this snapshot (not the older values that `report` repeats) and the
  /// report's figures. If the snapshot begins a new step, returns the rows of the previous one for
  /// the ports that were read.
  std::vector<SignalRow> add(const Snapshot& snapshot, const Report& report);
  /// The rows of the unfinished step.
  std::vector<SignalRow> finish();
  /// Applies changed stable keys.
  void follow(const PortMoves& moves) { move_keys(ports_, moves); }

 private:
  struct Port {
    RateCalculator rates;
    std::optional<SteadyTime> read_at;
    std::optional<std::uint64_t> involuntary_downs, voluntary_downs;
    std::array<std::optional<std::uint64_t>, 3> pcie_errors;  ///< correctable, nonfatal, fatal
    std::optional<bool> carrier;
    SignalValues values;  ///< of the step so far
  };
  static void update_link(Port& port, const LinkSample& link, const PortFigures& figures);
  static void update_counters(Port& port, const Counters& counters, const PortReport& report,
                              SteadyTime now);
  static void update_ber(Port& port, double corrected_bits_per_s, const PortReport& report);
  static void update_pcie(Port& port, const PcieSample& pcie);

  std::map<std::string, Port> ports_;  ///< by stable key
  std::int64_t at_s_ = 0;
};

/// Makes the values of a longer step from those of shorter ones.
class SignalFold {
 public:
  void add(const SignalValues& values);
  [[nodiscard]] const SignalValues& values() const { return values_; }

 private:
  SignalValues values_;
  std::array<std::uint32_t, kSignalCount> count_{};  ///< number of values that each is made of
};

}  // namespace linkhealth
