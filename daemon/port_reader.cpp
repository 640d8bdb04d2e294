#include "daemon/port_reader.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "probes/ethtool_fec.h"
#include "probes/ethtool_link.h"
#include "probes/rdma_netlink.h"
#include "probes/rtnl_link.h"
#include "probes/sysfs_text.h"

namespace linkhealth {

namespace {

// A source that fails is asked again after 10 s, 20 s, … at most 10 min; one that the driver does
// not have, each 10 min (a driver may be reloaded in another version without the port going away).
constexpr Milliseconds kFirstRetry{10'000};
constexpr Milliseconds kLongestRetry{600'000};

std::string reason_of(const Error& error) {
  if (error.errnum == EOPNOTSUPP) return "EOPNOTSUPP: the driver does not offer it";
  return error.errnum != 0 ? errno_name(error.errnum) : error.message;
}

std::optional<Error> merge(const Result<Counters>& counters, PortSample& sample) {
  if (!counters) return counters.error();
  if (!sample.counters) sample.counters.emplace();
  sample.counters->merge(*counters);
  return std::nullopt;
}

}  // namespace

PortReader::PortReader(std::unique_ptr<Host> host, InventoryPort port, std::size_t firmware_reads,
                       MadOpener mads, std::uint64_t number)
    : host_(std::move(host)),
      number_(number),
      key_(port.id.key()),
      firmware_reads_(firmware_reads),
      own_counters_(std::move(mads), port.id),
      port_(std::move(port)) {}

Reading PortReader::read(ReadGroup group, SteadyTime now) {
  now_ = now;
  Reading reading;
  reading.port = key_;
  reading.group = group;
  reading.reader = number_;
  StateReads state;
  if (group == ReadGroup::kCounters) read_counters(reading, state);
  if (group == ReadGroup::kKernel || (group == ReadGroup::kCounters && reads_all_at_once()))
    read_kernel(reading, state);
  if (group == ReadGroup::kDriver) read_driver(reading);
  if (group == ReadGroup::kPcie) pcie_.read(*host_, port_, reading.sample, reading.gaps);
  reading.gaps_ended = std::exchange(gaps_ended_, {});
  return reading;
}

template <typename Read>
bool PortReader::ask(Source source, std::string_view probe, std::vector<Gap>& gaps, Read read) {
  Retry& retry = retries_.at(source);
  if (now_ < retry.at) return false;
  const std::optional<Error> error = attempt(retry, read);
  if (error) gaps.push_back({key_, std::string(probe), reason_of(*error)});
  if (std::exchange(retry.gap_may_stand, error.has_value()) && !error)
    gaps_ended_.push_back({key_, std::string(probe), ""});
  return !error;
}

template <typename Read>
bool PortReader::ask_before_files(Source source, Read read) {
  Retry& retry = retries_.at(source);
  return now_ >= retry.at && !attempt(retry, read);
}

template <typename Read>
std::optional<Error> PortReader::attempt(Retry& retry, Read read) {
  std::optional<Error> error = read();
  if (!error) {
    retry.failures = 0;
    return std::nullopt;
  }
  const Milliseconds doubled = kFirstRetry * (1 << std::min(retry.failures, 6));
  retry.at =
      now_ + (error->errnum == EOPNOTSUPP ? kLongestRetry : std::min(doubled, kLongestRetry));
  ++retry.failures;
  return error;
}

IbPortReader* PortReader::verbs(std::vector<Gap>& gaps) {
  if (!port_.id.verbs) return nullptr;
  if (!verbs_) {
    auto reader = IbPortReader::open(*host_, port_);
    if (!reader) {
      gaps.push_back({key_, "counters", reason_of(reader.error())});
      return nullptr;
    }
    verbs_.emplace(*std::move(reader));
  }
  return &*verbs_;
}

const EthtoolFamily* PortReader::ethtool(std::vector<Gap>& gaps) {
  if (family_) return &*family_;
  if (no_ethtool_) return nullptr;
  ask(kEthtool, "ethtool", gaps, [&]() -> std::optional<Error> {
    const auto family = resolve_ethtool_family(*host_);
    if (family) {
      family_ = *family;
      return std::nullopt;
    }
    no_ethtool_ = family.error().errnum == EOPNOTSUPP;
    if (no_ethtool_) return std::nullopt;
    if (family.error().errnum == ENOENT)
      return Error{"EOPNOTSUPP: the kernel has no ethtool netlink", 0};
    return family.error();
  });
  return family_ ? &*family_ : nullptr;
}

/// The kernel's number of the device, by which RDMA netlink is asked. nullopt: files have to say
/// the same.
std::optional<std::uint32_t> PortReader::rdma_index() {
  if (rdma_index_known_) return rdma_index_;
  ask_before_files(kRdmaDevices, [&]() -> std::optional<Error> {
    const auto devices = read_rdma_devices(*host_);
    if (!devices) return devices.error();
    rdma_index_known_ = true;
    for (const RdmaDevice& device : *devices)
      if (device.name == port_.id.device) rdma_index_ = device.index;
    return std::nullopt;
  });
  return rdma_index_;
}

void PortReader::read_hw_counters(IbPortReader& verbs, Reading& reading) {
  if (const auto device = rdma_index()) {
    const bool by_netlink = ask_before_files(kRdmaCounters, [&] {
      return merge(read_rdma_counters(*host_, *device, port_.id.port), reading.sample);
    });
    if (by_netlink) return;
  }
  reading.gone =
      verbs.read(IbGroup::kHw, reading.sample, reading.gaps) == ReadStatus::kGone || reading.gone;
}

/// By files: netlink's request is one for a port (drivers/infiniband/core/nldev.c,
/// stat_get_doit_default_counter).
void PortReader::read_device_counters(IbPortReader& verbs, Reading& reading) {
  if (verbs.has_device_counters()) ++reading.firmware_reads;
  reading.gone = verbs.read(IbGroup::kDevice, reading.sample, reading.gaps) == ReadStatus::kGone ||
                 reading.gone;
}

/// False: the files have to be read.
bool PortReader::read_own_counters(Reading& reading) {
  if (!own_counters_.offered()) return false;
  bool not_now = false;
  const bool asked = ask_before_files(kOwnCounters, [&]() -> std::optional<Error> {
    const auto counters = own_counters_.read(now_);
    not_now = !counters && counters.error().errnum ==
                               ENOTCONN;  // the link is down: no failure that waits longer
    return not_now ? std::nullopt : merge(counters, reading.sample);
  });
  return asked && !not_now;
}

void PortReader::read_counters(Reading& reading, StateReads& state) {
  IbPortReader* const files = verbs(reading.gaps);
  if (files == nullptr) return;
  const std::uint64_t before = files->costly_reads() + own_counters_.mads();
  if (!read_own_counters(reading)) {
    StateReads* const beside = reads_all_at_once() && !rdma_index() ? &state : nullptr;
    reading.gone = files->read_due(firmware_reads_, now_, reading.sample, reading.gaps, beside) ==
                   ReadStatus::kGone;
  }
  // hw_counters: one request, or one burst of files
  reading.firmware_reads = files->costly_reads() + own_counters_.mads() - before + 1;
  read_hw_counters(*files, reading);
  read_device_counters(*files, reading);
  end_gap_of_what_is_not_offered("counters", files->offers_counters(), no_counters_told_);
  end_gap_of_what_is_not_offered("hw_counters", files->offers_hw_counters(), no_hw_counters_told_);
}

/// The reader before this one may have had files that it could not read, of another driver: no
/// value will come to end that gap.
void PortReader::end_gap_of_what_is_not_offered(std::string_view probe, bool offered, bool& told) {
  if (!std::exchange(told, !offered) && !offered)
    gaps_ended_.push_back({key_, std::string(probe), ""});
}

void PortReader::read_kernel(Reading& reading, const StateReads& state) {
  reading.sample.link.emplace();
  if (port_.exempt_reason.empty()) read_interface(reading);
  if (IbPortReader* const files = verbs(reading.gaps)) read_verbs_state(*files, reading, state);
}

void PortReader::read_interface(Reading& reading) {
  if (const EthtoolFamily* family = port_.ifindex != 0 ? ethtool(reading.gaps) : nullptr) {
    read_link_settings(*family, reading);
    read_statistics(*family, reading);
  } else {
    read_link_files(reading);
  }
}

/// Netlink's answer is one query of the port (ib_query_port in drivers/infiniband/core/nldev.c,
/// fill_port_info), each of the files is another.
void PortReader::read_verbs_state(IbPortReader& verbs, Reading& reading, const StateReads& state) {
  if (const auto device = rdma_index()) {
    const bool by_netlink = ask_before_files(kRdmaState, [&]() -> std::optional<Error> {
      auto port = read_rdma_port(*host_, *device, port_.id.port);
      if (!port) return port.error();
      if (port->state.empty() || port->phys_state.empty()) return Error{"a state without a word"};
      verbs.put_state(std::move(port->state), std::move(port->phys_state), reading.sample,
                      reading.gaps);
      return std::nullopt;
    });
    if (by_netlink) return;
  }
  reading.gone =
      verbs.read_state(state, reading.sample, reading.gaps) == ReadStatus::kGone || reading.gone;
}

void PortReader::read_link_settings(const EthtoolFamily& family, Reading& reading) {
  LinkSample& link = *reading.sample.link;
  ask(kLinkModes, "link_modes", reading.gaps, [&]() -> std::optional<Error> {
    const auto modes = read_linkmodes(*host_, family, ifindex());
    if (!modes) return modes.error();
    link.speed_mbps = modes->speed_mbps;
    link.lanes = modes->lanes;
    lanes_ = modes->lanes;
    link.autoneg = modes->autoneg;
    return std::nullopt;
  });
  ask(kLinkState, "down_reason", reading.gaps, [&]() -> std::optional<Error> {
    const auto state = read_linkstate(*host_, family, ifindex(), link_statistics_);
    if (!state) return state.error();
    link.down_reason = state->down_reason;
    if (state->link_down_count) {
      if (!reading.sample.counters) reading.sample.counters.emplace();
      reading.sample.counters->set("link_ext_down_count", *state->link_down_count);
    }
    link.sqi = state->sqi;
    link.sqi_max = state->sqi_max;
    return std::nullopt;
  });
  ask(kFec, "fec", reading.gaps, [&]() -> std::optional<Error> {
    auto fec = read_fec(*host_, family, ifindex(), {link.speed_mbps, link.lanes});
    if (!fec) return fec.error();
    link.fec = fec->mode;
    kernel_fec_lanes_ = std::any_of(fec->lanes.begin(), fec->lanes.end(), [](const FecLane& lane) {
      return lane.corrected_bits.has_value();
    });
    // Blocks alone (mlx5 in FC-FEC) say less than the driver's bits by lane, where it has them.
    if (kernel_fec_lanes_ || !driver_lanes_) reading.sample.fec_lanes = std::move(fec->lanes);
    return merge(std::move(fec->counters), reading.sample);
  });
}

void PortReader::read_statistics(const EthtoolFamily& family, Reading& reading) {
  ask(kStandardStatistics, "ethtool_stats", reading.gaps, [&]() -> std::optional<Error> {
    if (statistic_names_.empty()) {
      auto names = read_stat_names(*host_, family);
      if (!names) return names.error();
      statistic_names_ = *std::move(names);
    }
    return merge(read_stats(*host_, family, ifindex(), statistic_names_), reading.sample);
  });
  ask(kPause, "pause", reading.gaps,
      [&] { return merge(read_pause(*host_, family, ifindex()), reading.sample); });
}

void PortReader::read_driver(Reading& reading) {
  if (port_.ifindex == 0 || port_.id.netdev.empty()) return;
  ask(kDriverStatistics, "driver_stats", reading.gaps, [&]() -> std::optional<Error> {
    auto read = driver_statistics_.read(*host_, port_.id.netdev);
    driver_lanes_ = driver_lanes_ && read;
    if (!read && read.error().errnum == EOPNOTSUPP)
      return std::nullopt;  // nothing is missing: many have none
    if (!read) return read.error();
    // The driver names four lanes on every port: those beyond the link's width say nothing, and of
    // a wider link the others are not known, so that comparing lanes would mislead.
    const std::size_t known = read->lane_corrected_bits.size();
    driver_lanes_ = !kernel_fec_lanes_ && lanes_ && *lanes_ > 0 && *lanes_ <= known;
    if (driver_lanes_) {
      reading.sample.fec_lanes.resize(*lanes_);
      for (std::size_t i = 0; i < *lanes_; ++i)
        reading.sample.fec_lanes[i].corrected_bits = read->lane_corrected_bits[i];
    }
    if (read->counters.empty()) return std::nullopt;
    return merge(std::move(read->counters), reading.sample);
  });
}

void PortReader::read_link_files(Reading& reading) {
  if (!port_.has_link_of_netdev()) return;
  if (!netdev_files_) {
    auto reader = NetdevReader::open(*host_, port_, NetdevReader::Speed::kRead);
    if (!reader) {
      // Of the link the sampler says so, whose files are the same; of one that is not there the
      // search does.
      const int errnum = reader.error().errnum;
      if (errnum != ENOENT && errnum != ENODEV)
        reading.gaps.push_back(
            {key_, "netdev_stats", "net/" + port_.id.netdev + ": " + errno_name(errnum)});
      return;
    }
    netdev_files_.emplace(*std::move(reader));
  }
  std::vector<Gap> said_already;
  std::optional<LinkSample> link;
  reading.gone = netdev_files_->read_link(link, said_already) == ReadStatus::kGone || reading.gone;
  if (link) reading.sample.link->speed_mbps = link->speed_mbps;
  reading.gone =
      netdev_files_->read_statistics(reading.sample, reading.gaps) == ReadStatus::kGone ||
      reading.gone;
}

Reading read_health(Host& host, HealthReporters& reporters) {
  Reading reading;
  reading.group = ReadGroup::kHealth;
  auto health = reporters.read(host);
  if (health) {
    for (const HealthReporter& reporter : *health)
      if (reporter.unsaid)
        reading.gaps.push_back({"", "devlink",
                                "what reporter " + reporter.name + " of " + reporter.device +
                                    " has found: " + reason_of(*reporter.unsaid)});
    reading.node.emplace().health = *std::move(health);
  } else if (health.error().errnum != EOPNOTSUPP && health.error().errnum != ENOENT) {
    reading.gaps.push_back({"", "devlink", reason_of(health.error())});
  }
  return reading;
}

Reading read_statistics(Host& host) {
  Reading reading;
  reading.group = ReadGroup::kStatistics;
  auto statistics = read_netdev_stats(host);
  if (statistics) {
    reading.node.emplace().statistics = *std::move(statistics);
  } else if (statistics.error().errnum != EOPNOTSUPP) {
    reading.gaps.push_back({"", "netdev_stats", reason_of(statistics.error())});
  }
  return reading;
}

}  // namespace linkhealth
