// Everything that is read of one port by the deciding thread: which sources it has, what each last said, and when a source
// that failed is asked again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "daemon/kernel_tables.h"
#include "model/snapshot.h"
#include "probes/host.h"
#include "probes/ib_sysfs.h"
#include "probes/inventory.h"
#include "probes/netdev_sysfs.h"
#include "probes/pcie.h"

namespace linkhealth {

/// The sources that are asked less and less often while they fail.
enum class PortSource : std::uint8_t { kLinkModes, kLinkState, kFec, kStatistics, kPause, kHwCounters, kCount };

class PortReader {
 public:
  /// Opens what the port has. Gaps say what could not be opened. REQUIRES: `host` outlives the reader.
  PortReader(Host& host, InventoryPort port, std::vector<Gap>& gaps);

  [[nodiscard]] const InventoryPort& port() const { return port_; }
  /// A descriptor answered ENODEV: the port must be found anew.
  [[nodiscard]] bool gone() const { return gone_; }

  /// The link as it is now. `sample.link` is set when it differs from the last time, or `always`; what happened in
  /// between is added to `events`, one carrier event for each change that the kernel counted.
  void read_link(const KernelTables& tables, SteadyTime now, bool always, PortSample& sample,
                 std::vector<PortEvent>& events, std::vector<Gap>& gaps);
  /// Speed, lanes, FEC mode and the reason of a link that is down, into what the next read_link() gives; FEC counters
  /// into `sample`.
  void read_link_details(const KernelTables& tables, SteadyTime now, PortSample& sample, std::vector<Gap>& gaps);
  void read_counters(const KernelTables& tables, SteadyTime now, PortSample& sample, std::vector<Gap>& gaps);
  void read_pcie(PortSample& sample, std::vector<Gap>& gaps);

 private:
  /// A source that failed, and when it is asked again.
  struct Retry {
    SteadyTime at;
    int failures = 0;
  };

  /// Asks `source` unless it failed lately; a failure is a gap of `probe`. True when `read` succeeded.
  template <typename Read>
  bool ask(PortSource source, std::string_view probe, SteadyTime now, std::vector<Gap>& gaps, Read read);
  LinkSample link_now(const KernelTables& tables, PortSample& sample, std::vector<Gap>& gaps);
  void netdev_link(const KernelTables& tables, LinkSample& link, std::vector<Gap>& gaps);
  void read_hw_counters(const KernelTables& tables, SteadyTime now, PortSample& sample, std::vector<Gap>& gaps);
  [[nodiscard]] std::uint32_t ifindex() const { return static_cast<std::uint32_t>(port_.ifindex); }

  Host& host_;
  InventoryPort port_;
  std::optional<IbPortReader> verbs_;
  std::optional<NetdevReader> netdev_files_;  // only where netlink does not answer
  std::optional<PcieReader> pcie_;
  std::array<Retry, static_cast<std::size_t>(PortSource::kCount)> retries_{};
  std::optional<NetdevLink> netdev_before_;
  std::optional<LinkSample> link_before_;
  LinkSample details_;  // only what read_link_details() knows
  bool gone_ = false;
};

}  // namespace linkhealth
