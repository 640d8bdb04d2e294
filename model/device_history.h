// What is remembered of the card behind a port: fatal errors, removals, driver reloads, lines of
// the kernel log, its PCIe link.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace linkhealth {

struct DeviceHistory {
  std::optional<SteadyTime> gone_at, fatal_at, driver_reload_at;
  std::string gone_reason;  ///< what the PCI bus showed when the device went; "" not known
  std::string fatal_text;
  /// Separate ones, newest last, at most 8: a start of the card ends fatal_at and keeps these.
  std::vector<SteadyTime> fatal_times;
  /// The only report was of a transmit queue that did not move; the driver mends that by itself.
  bool fatal_is_queue = false;
  std::vector<std::pair<SteadyTime, std::string>> kernel_log;  ///< newest last, at most 32
  std::optional<SteadyTime> pcie_low_since;
  std::size_t pcie_low_reads = 0;
  std::array<std::optional<std::uint64_t>, 3>
      aer_totals;  ///< correctable, nonfatal, fatal, as last read
  /// PCIe errors counted so far (uncorrectable x100), 1 h.
  std::vector<std::pair<SteadyTime, double>> pcie_errors;
};

}  // namespace linkhealth
