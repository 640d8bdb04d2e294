#include "daemon/kernel_tables.h"

#include <utility>

#include "probes/rdma_netlink.h"

namespace linkhealth {

void KernelTables::rescan() {
  if (!ethtool_) {
    if (auto family = resolve_ethtool_family(host_)) {
      ethtool_ = *family;
      ethtool_error_ = {};
      if (auto names = read_stat_names(host_, *family)) statistic_names_ = *std::move(names);
    } else {
      ethtool_error_ = family.error();
    }
  }
  rdma_indexes_.clear();
  if (const auto devices = read_rdma_devices(host_)) {
    for (const RdmaDevice& device : *devices) rdma_indexes_.emplace(device.name, device.index);
  }
}

void KernelTables::read_links() {
  auto links = linkhealth::read_links(host_);
  links_error_ = links ? Error{} : links.error();
  links_ = links ? *std::move(links) : std::map<std::uint32_t, NetdevLink>{};
}

void KernelTables::read_statistics() {
  auto statistics = read_netdev_stats(host_);
  statistics_ = statistics ? *std::move(statistics) : std::map<std::uint32_t, Counters>{};
}

const NetdevLink* KernelTables::link(int ifindex) const {
  const auto at = links_.find(static_cast<std::uint32_t>(ifindex));
  return at == links_.end() ? nullptr : &at->second;
}

const Counters* KernelTables::statistics(int ifindex) const {
  const auto at = statistics_.find(static_cast<std::uint32_t>(ifindex));
  return at == statistics_.end() ? nullptr : &at->second;
}

std::optional<std::uint32_t> KernelTables::rdma_index(const std::string& device) const {
  const auto at = rdma_indexes_.find(device);
  if (at == rdma_indexes_.end()) return std::nullopt;
  return at->second;
}

}  // namespace linkhealth
