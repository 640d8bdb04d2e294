// From what is seen each second to what is remembered: the values of each port in steps of 10 s,
// and longer steps out of those. Pure: time enters with the snapshots and rows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/port_moves.h"
#include "model/rate_calculator.h"
#include "model/report.h"
#include "model/signals.h"

namespace linkhealth {

/// The lengths of a step, shortest first; each is a whole number of the one before.
inline constexpr std::array<std::uint32_t, 3> kSignalSteps_s{10, 60, 600};

/// One port in one step.
struct SignalRow {
  std::string port;  ///< stable key
  std::uint32_t step_s = kSignalSteps_s[0];
  std::int64_t at_s = 0;  ///< when the step began, seconds since 1970; a whole number of steps
  SignalValues values;
};

/// Fills the shortest steps.
class SignalCollector {
 public:
  /// Takes what was read for this snapshot (not what `report` remembers of earlier ones) and what
  /// was concluded. The rows of the former step when this snapshot begins a new one; only of ports
  /// of which something was seen.
  std::vector<SignalRow> add(const Snapshot& snapshot, const Report& report);
  /// The rows of the step that is not over.
  std::vector<SignalRow> finish();
  /// Ports have other stable keys now.
  void follow(const PortMoves& moves) { move_keys(ports_, moves); }

 private:
  /// What is told as a rate, of readings that come closer together than kLeastRate_s.
  struct Rate {
    double sum = 0, seconds = 0;
    void add(double value, double over_s);
    /// NaN: nothing was read. Begins anew.
    double take();
  };
  struct Counted {
    RateCalculator rates;
    std::optional<SteadyTime> read_at;
    Rate rx_octets, tx_octets, corrected_bits;
    double rates_over_s = 0;
    std::optional<std::uint64_t> involuntary_downs, voluntary_downs;
    std::array<std::optional<std::uint64_t>, 3> pcie_errors;  ///< correctable, nonfatal, fatal
    std::optional<bool> carrier;
    SignalValues values;  ///< of the step so far
  };
  static void take_link(Counted& port, const PortSample& sample, const PortReport& report);
  static void take_counters(Counted& port, const PortSample& sample, const PortReport& report,
                            SteadyTime now);
  static void take_rates(Counted& port, const Increase& increase, const PortReport& report,
                         double seconds);
  static void take_pcie(Counted& port, const PcieSample& pcie);

  std::map<std::string, Counted> ports_;  ///< by stable key
  std::int64_t at_s_ = 0;
};

/// Folds rows of the shortest step into longer ones.
class SignalFolder {
 public:
  /// The longer steps that `row` completes: it belongs to later ones. REQUIRES: step_s is the
  /// shortest.
  std::vector<SignalRow> add(const SignalRow& row);
  /// The steps that are not over, of all ports.
  [[nodiscard]] std::vector<SignalRow> unfinished() const;
  /// Ports have other stable keys now.
  void follow(const PortMoves& moves);

 private:
  struct Fold {
    SignalRow row;
    std::array<std::uint16_t, kSignalCount> seen{};
    void add(const SignalValues& values);
  };
  std::map<std::string, std::array<std::optional<Fold>, kSignalSteps_s.size() - 1>> ports_;
};

/// Adds a value to what a step says already; `seen` is how many values it is made of, NaN is no
/// value.
void fold_value(SignalFold fold, double& into, std::uint16_t& seen, double value);

}  // namespace linkhealth
