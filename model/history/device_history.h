// The history of the card behind a port: fatal errors, removals, driver reloads, lines of the
// kernel log, its PCIe link.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/history/carrier_history.h"
#include "model/history/interval.h"
#include "model/snapshot.h"

namespace linkhealth {

class DeviceHistory {
 public:
  std::optional<SteadyTime> gone_at, fatal_at, driver_reload_at;
  /// The first and the last command of a run (an hour at most between two) that the card's firmware
  /// did not answer. It may be one that failed alone: only what else stands still makes it a fault.
  std::optional<SteadyTime> no_answer_since, no_answer_at;
  std::string gone_reason;  ///< what the PCI bus showed when the device went; "" not known
  /// Separate fatal errors, newest last, at most 8: a start of the card ends fatal_at and keeps
  /// these.
  std::vector<SteadyTime> fatal_times;
  /// The only report was of a stuck transmit queue, which the driver resets.
  bool fatal_is_queue = false;
  std::vector<std::pair<SteadyTime, std::string>> kernel_log;  ///< newest last, at most 32
  std::optional<SteadyTime> pcie_low_since;
  std::size_t pcie_low_reads = 0;
  /// PCIe errors counted so far (uncorrectable x100), 1 h.
  std::vector<std::pair<SteadyTime, double>> pcie_errors;

  void update(const PortEvent& event);
  void update(const PcieSample& pcie, SteadyTime now);
  /// Ends a fatal error from before a start of the card or its driver, once the link is up.
  void end_fatal_before_start(const CarrierHistory& carrier);
  /// Ends a fatal error when the card counted traffic or corrected bits in `interval`.
  void end_fatal_if_alive(const Interval& interval, const CarrierHistory& carrier,
                          bool is_infiniband, const std::deque<Interval>& intervals);
  /// The counters start at zero again.
  void forget_counts() { aer_totals_ = {}; }

 private:
  void add_fatal(SteadyTime t);
  void end_fatal();
  void update_aer(const PcieSample& pcie, SteadyTime now);

  /// Whether traffic ran before the fatal error; nullopt: not looked up yet.
  std::optional<bool> ran_before_fatal_;
  std::array<std::optional<std::uint64_t>, 3> aer_totals_;  ///< correctable, nonfatal, fatal
};

}  // namespace linkhealth
