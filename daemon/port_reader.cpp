#include "daemon/port_reader.h"

#include <algorithm>
#include <utility>

#include "probes/ethtool_fec.h"
#include "probes/ethtool_link.h"
#include "probes/module_schedule.h"
#include "probes/rdma_netlink.h"

namespace linkhealth {

namespace {

// A source that fails is asked again after 10 s, 20 s, … at most 10 min; one that the driver does not have, each 10 min
// (a driver may be reloaded in another version without the port going away).
constexpr Milliseconds kFirstRetry{10'000};
constexpr Milliseconds kLongestRetry{600'000};

std::string reason_of(const Error& error) {
  if (error.errnum == EOPNOTSUPP) return "EOPNOTSUPP: the driver does not offer it";
  return error.errnum != 0 ? errno_name(error.errnum) : error.message;
}

bool same_link(const LinkSample& a, const LinkSample& b) { return a == b; }

}  // namespace

PortReader::PortReader(Host& host, InventoryPort port, std::vector<Gap>& gaps) : host_(host), port_(std::move(port)) {
  const PortKey key = port_.id.key();
  if (port_.id.verbs) {
    if (auto reader = IbPortReader::open(host_, port_)) {
      verbs_.emplace(*std::move(reader));
    } else {
      gaps.push_back({key, "link", reason_of(reader.error())});
    }
  }
  if (!port_.sysfs_pci_dir.empty()) {
    if (auto reader = PcieReader::open(host_, port_)) {
      pcie_.emplace(*std::move(reader));
    } else {
      gaps.push_back({key, "pcie", reason_of(reader.error())});
    }
  }
}

template <typename Read>
bool PortReader::ask(PortSource source, std::string_view probe, SteadyTime now, std::vector<Gap>& gaps, Read read) {
  Retry& retry = retries_.at(static_cast<std::size_t>(source));
  if (now < retry.at) return false;
  const std::optional<Error> error = read();
  if (!error) {
    retry = {};
    return true;
  }
  const auto doubled = kFirstRetry * (1 << std::min(retry.failures, 6));
  retry.at = now + (error->errnum == EOPNOTSUPP ? kLongestRetry : std::min<Milliseconds>(doubled, kLongestRetry));
  ++retry.failures;
  gaps.push_back({port_.id.key(), std::string(probe), reason_of(*error)});
  return false;
}

void PortReader::netdev_link(const KernelTables& tables, LinkSample& link, std::vector<Gap>& gaps) {
  if (port_.ifindex == 0) return;
  if (const NetdevLink* now = tables.link(port_.ifindex)) {
    link.admin_up = now->admin_up;
    link.carrier = now->carrier;
    link.mtu_bytes = now->mtu_bytes;
    link.carrier_up_count = now->carrier_up_count;
    link.carrier_down_count = now->carrier_down_count;
    return;
  }
  if (tables.available()) {
    const Error& error = tables.links_error();
    gone_ = gone_ || error.errnum == 0;  // the dump worked and does not have it
    gaps.push_back({port_.id.key(), "link", error.errnum == 0 ? "ENODEV" : reason_of(error)});
    return;
  }
  if (!netdev_files_) {
    if (auto reader = NetdevReader::open(host_, port_)) netdev_files_.emplace(*std::move(reader));
  }
  if (netdev_files_) {
    PortSample sample;
    sample.link = link;
    gone_ = netdev_files_->read_link(sample, gaps) == ReadStatus::kGone || gone_;
    link = *sample.link;
  }
}

LinkSample PortReader::link_now(const KernelTables& tables, PortSample& sample, std::vector<Gap>& gaps) {
  LinkSample link = details_;
  netdev_link(tables, link, gaps);
  if (!link.carrier.value_or(true)) {  // what was true while it was up is not true now
    link.speed_mbps.reset();
    link.lanes.reset();
  } else {
    link.down_reason.reset();
  }
  if (verbs_) {
    PortSample verbs;
    verbs.id = sample.id;
    verbs.link = std::move(link);
    gone_ = verbs_->read(IbGroup::kState, verbs, gaps) == ReadStatus::kGone || gone_;
    link = *std::move(verbs.link);
  }
  return link;
}

void PortReader::read_link(const KernelTables& tables, SteadyTime now, bool always, PortSample& sample,
                           std::vector<PortEvent>& events, std::vector<Gap>& gaps) {
  LinkSample link = link_now(tables, sample, gaps);
  const PortKey key = port_.id.key();
  const bool changed_state = link_before_ && (link_before_->carrier != link.carrier ||
                                              link_before_->admin_up != link.admin_up);
  if (changed_state) {
    read_link_details(tables, now, sample, gaps);
    link = link_now(tables, sample, gaps);
  }
  if (const NetdevLink* netdev = tables.link(port_.ifindex)) {
    if (netdev_before_) {
      const auto changes = link_changes(key, *netdev_before_, *netdev, now);
      events.insert(events.end(), changes.begin(), changes.end());
    }
    netdev_before_ = *netdev;
  } else if (changed_state && link.carrier) {
    events.push_back({now, key, *link.carrier ? PortEventKind::kCarrierUp : PortEventKind::kCarrierDown, ""});
  }
  if (always || !link_before_ || !same_link(*link_before_, link)) sample.link = link;
  link_before_ = std::move(link);
}

void PortReader::read_link_details(const KernelTables& tables, SteadyTime now, PortSample& sample,
                                   std::vector<Gap>& gaps) {
  if (!tables.ethtool() || port_.ifindex == 0) return;
  const EthtoolFamily family = *tables.ethtool();
  details_ = {};
  ask(PortSource::kLinkModes, "link_modes", now, gaps, [&]() -> std::optional<Error> {
    const auto modes = read_linkmodes(host_, family, ifindex());
    if (!modes) return modes.error();
    details_.speed_mbps = modes->speed_mbps;
    details_.lanes = modes->lanes;
    details_.autoneg = modes->autoneg;
    return std::nullopt;
  });
  ask(PortSource::kLinkState, "down_reason", now, gaps, [&]() -> std::optional<Error> {
    const auto state = read_linkstate(host_, family, ifindex());
    if (!state) return state.error();
    details_.down_reason = state->down_reason;
    return std::nullopt;
  });
  ask(PortSource::kFec, "fec", now, gaps, [&]() -> std::optional<Error> {
    auto fec = read_fec(host_, family, ifindex(), {details_.speed_mbps, details_.lanes});
    if (!fec) return fec.error();
    details_.fec = fec->mode;
    if (!sample.counters) sample.counters.emplace();
    sample.counters->merge(fec->counters);
    sample.fec_lanes = std::move(fec->lanes);
    return std::nullopt;
  });
}

void PortReader::read_hw_counters(const KernelTables& tables, SteadyTime now, PortSample& sample,
                                  std::vector<Gap>& gaps) {
  const auto index = tables.rdma_index(port_.id.device);
  bool by_netlink = false;
  if (index) {
    std::vector<Gap> unsaid;  // the files say the same: only when they fail too is it a gap
    by_netlink = ask(PortSource::kHwCounters, "hw_counters", now, unsaid, [&]() -> std::optional<Error> {
      const auto counters = read_rdma_counters(host_, *index, port_.id.port);
      if (!counters) return counters.error();
      sample.counters->merge(*counters);
      return std::nullopt;
    });
  }
  if (!by_netlink) gone_ = verbs_->read(IbGroup::kHw, sample, gaps) == ReadStatus::kGone || gone_;
}

void PortReader::read_counters(const KernelTables& tables, SteadyTime now, PortSample& sample,
                               std::vector<Gap>& gaps) {
  if (!sample.counters) sample.counters.emplace();
  if (verbs_) {
    for (const IbGroup group : {IbGroup::kErrors, IbGroup::kTraffic})
      gone_ = verbs_->read(group, sample, gaps) == ReadStatus::kGone || gone_;
    read_hw_counters(tables, now, sample, gaps);
  }
  if (const Counters* statistics = tables.statistics(port_.ifindex)) {
    sample.counters->merge(*statistics);
  } else if (netdev_files_) {
    gone_ = netdev_files_->read_statistics(sample, gaps) == ReadStatus::kGone || gone_;
  }
  if (tables.ethtool() && port_.ifindex != 0) {
    const EthtoolFamily family = *tables.ethtool();
    const auto merge = [&](const Result<Counters>& counters) -> std::optional<Error> {
      if (!counters) return counters.error();
      sample.counters->merge(*counters);
      return std::nullopt;
    };
    ask(PortSource::kStatistics, "ethtool_stats", now, gaps,
        [&] { return merge(read_stats(host_, family, ifindex(), tables.statistic_names())); });
    ask(PortSource::kPause, "pause", now, gaps, [&] { return merge(read_pause(host_, family, ifindex())); });
  }
  if (sample.counters->empty()) sample.counters.reset();
}

void PortReader::read_pcie(PortSample& sample, std::vector<Gap>& gaps) {
  if (pcie_) gone_ = pcie_->read(sample, gaps) == ReadStatus::kGone || gone_;
}

}  // namespace linkhealth
