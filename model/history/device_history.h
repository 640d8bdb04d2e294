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
  /// First and last of a series of commands (gaps of at most an hour) that the card's firmware did
  /// not answer. A single one may be harmless: it is a fault only if something else has stopped,
  /// too.
  std::optional<SteadyTime> no_answer_since, no_answer_at;
  std::string gone_reason;  ///< what the PCI bus showed when the device disappeared; "" unknown
  /// Separate fatal errors, newest last, at most 8. A restart of the card clears fatal_at and keeps
  /// these.
  std::vector<SteadyTime> fatal_times;
  /// The only error reported was a stuck transmit queue, which the driver resets.
  bool fatal_is_queue = false;
  std::vector<std::pair<SteadyTime, std::string>> kernel_log;  ///< newest last, at most 32
  std::optional<SteadyTime> pcie_low_since;
  std::size_t pcie_low_reads = 0;
  /// PCIe errors counted in the last hour (uncorrectable ones x100).
  std::vector<std::pair<SteadyTime, double>> pcie_errors;

  void update(const PortEvent& event);
  void update(const PcieSample& pcie, SteadyTime now);
  /// Clears a fatal error from before a restart of the card or its driver, once the link is up.
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
