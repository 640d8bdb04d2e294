// What the kernel tells about all ports at once, by netlink: asked once a cycle, looked up port by port. On a copied /sys
// tree there is no netlink: then every table is empty and `available()` is false.
#pragma once

#include <cerrno>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/counters.h"
#include "probes/ethtool_family.h"
#include "probes/ethtool_stats.h"
#include "probes/host.h"
#include "probes/rtnl_link.h"

namespace linkhealth {

class KernelTables {
 public:
  explicit KernelTables(Host& host) : host_(host) {}

  /// What never changes while the kernel runs (families, names of statistics); and the verbs devices, which come and go.
  void rescan();
  /// RTM_GETLINK of all devices. The error is kept: a port without a row asks why().
  void read_links();
  /// RTM_GETSTATS of all devices.
  void read_statistics();

  [[nodiscard]] bool available() const { return links_error_.errnum != EOPNOTSUPP; }
  [[nodiscard]] const NetdevLink* link(int ifindex) const;
  [[nodiscard]] const Counters* statistics(int ifindex) const;
  [[nodiscard]] const std::optional<EthtoolFamily>& ethtool() const { return ethtool_; }
  [[nodiscard]] const EthtoolStatNames& statistic_names() const { return statistic_names_; }
  /// The kernel's number of a verbs device, for RDMA netlink.
  [[nodiscard]] std::optional<std::uint32_t> rdma_index(const std::string& device) const;
  [[nodiscard]] const Error& links_error() const { return links_error_; }
  [[nodiscard]] const Error& ethtool_error() const { return ethtool_error_; }

 private:
  Host& host_;
  std::map<std::uint32_t, NetdevLink> links_;
  std::map<std::uint32_t, Counters> statistics_;
  std::map<std::string, std::uint32_t, std::less<>> rdma_indexes_;
  std::optional<EthtoolFamily> ethtool_;
  EthtoolStatNames statistic_names_;
  Error links_error_;
  Error ethtool_error_;
};

}  // namespace linkhealth
