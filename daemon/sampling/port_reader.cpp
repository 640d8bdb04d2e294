#include "daemon/sampling/port_reader.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "probes/netlink/ethtool.h"
#include "probes/sysfs/pcie.h"
#include "probes/sysfs/sysfs_text.h"

namespace linkhealth {

namespace {

// A source that fails is read again after 10 s, 20 s, … at most 10 min; one that the driver does
// not offer, every 10 min (another version of the driver may be loaded without the port
// disappearing).
constexpr Milliseconds kFirstRetry{10'000};
constexpr Milliseconds kLongestRetry{600'000};

bool has_some_of(const PortSample& sample, SourceId source) {
  if (source == SourceId::kPcie) return sample.pcie.has_value();
  if (source == SourceId::kLink)
    return sample.link && !(sample.link->state.empty() && sample.link->phys_state.empty());
  return sample.counters && has_counter_of(*sample.counters, source);
}

std::optional<Error> merge(const Result<Counters>& counters, PortSample& sample) {
  if (!counters) return counters.error();
  merge_counters(sample, *counters);
  return std::nullopt;
}

}  // namespace

void merge_counters(PortSample& sample, const Counters& counters) {
  if (!sample.counters) sample.counters.emplace();
  sample.counters->merge(counters);
}

std::string reason_of(const Error& error) {
  if (error.errnum == EOPNOTSUPP) return "EOPNOTSUPP: the driver does not offer it";
  return error.errnum != 0 ? errno_name(error.errnum) : error.message;
}

SourceId source_of(ReadGroup group) {
  return group == ReadGroup::kDevice ? SourceId::kCounters : SourceId::kEthtool;
}

PortReader::PortReader(std::unique_ptr<Host> host, InventoryPort port)
    : host_(std::move(host)), port_(std::move(port)) {}

Reading PortReader::read(ReadGroup group, SteadyTime now) {
  now_ = now;
  Reading reading;
  if (group == ReadGroup::kDevice) {
    read_counters(reading);
    if (port_.exempt_reason.empty()) {
      std::vector<Gap> gaps;
      read_pcie(*host_, port_, reading.sample, gaps);
      note_files({SourceId::kPcie, SourceId::kHwmon}, gaps, reading.sample);
    }
  } else {
    read_kernel(reading);
    if (port_.exempt_reason.empty()) read_driver(reading);
  }
  reading.sources = sources_;
  return reading;
}

template <typename Read>
void PortReader::read_source(SourceId source, Read read) {
  Retry& retry = retries_[source];
  if (now_ < retry.at) return;
  const std::optional<Error> error = read();
  sources_.erase(source);
  if (!error) {
    retry.failures = 0;
    return;
  }
  const Milliseconds doubled = kFirstRetry * (1 << std::min(retry.failures, 6));
  retry.at =
      now_ + (error->errnum == EOPNOTSUPP ? kLongestRetry : std::min(doubled, kLongestRetry));
  ++retry.failures;
  sources_.emplace(source, problem_of(source, reason_of(*error), false));
}

void PortReader::note_files(std::initializer_list<SourceId> sources, const std::vector<Gap>& gaps,
                            const PortSample& sample) {
  for (const SourceId source : sources) sources_.erase(source);
  for (const Gap& gap : gaps)
    if (const auto source = find_source(gap.probe))
      add_report(sources_, *source, problem_of(*source, gap.reason, has_some_of(sample, *source)));
}

IbPortReader* PortReader::verbs() {
  if (!port_.id.verbs) return nullptr;
  if (!verbs_) {
    auto reader = IbPortReader::open(*host_, port_);
    if (!reader) {
      sources_[SourceId::kCounters] =
          problem_of(SourceId::kCounters, reason_of(reader.error()), false);
      return nullptr;
    }
    verbs_.emplace(*std::move(reader));
  }
  return &*verbs_;
}

const EthtoolFamily* PortReader::ethtool() {
  if (family_) return &*family_;
  if (no_ethtool_) return nullptr;
  read_source(SourceId::kEthtool, [&]() -> std::optional<Error> {
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

void PortReader::read_counters(Reading& reading) {
  IbPortReader* const files = verbs();
  if (files == nullptr) return;
  std::vector<Gap> gaps;
  const ReadStatus status = files->read_port_counters(reading.sample, gaps);
  const ReadStatus hw_status = files->read_hw_counters(reading.sample, gaps);
  reading.gone = status == ReadStatus::kGone || hw_status == ReadStatus::kGone;
  note_files({SourceId::kCounters, SourceId::kHwCounters}, gaps, reading.sample);
}

void PortReader::read_kernel(Reading& reading) {
  reading.sample.link.emplace();
  if (port_.exempt_reason.empty()) read_interface(reading);
  IbPortReader* const files = verbs();
  if (files == nullptr) return;
  std::vector<Gap> gaps;
  reading.gone = files->read_state(reading.sample, gaps) == ReadStatus::kGone || reading.gone;
  note_files({SourceId::kLink}, gaps, reading.sample);
}

void PortReader::read_interface(Reading& reading) {
  if (const EthtoolFamily* family = port_.ifindex != 0 ? ethtool() : nullptr) {
    read_link_settings(*family, reading);
    read_statistics(*family, reading);
  } else {
    read_link_files(reading);
  }
}

void PortReader::read_link_settings(const EthtoolFamily& family, Reading& reading) {
  LinkSample& link = *reading.sample.link;
  read_source(SourceId::kLinkModes, [&]() -> std::optional<Error> {
    const auto modes = read_linkmodes(*host_, family, ifindex());
    if (!modes) return modes.error();
    link.speed_mbps = modes->speed_mbps;
    link.lanes = modes->lanes;
    lanes_ = modes->lanes;
    link.autoneg = modes->autoneg;
    return std::nullopt;
  });
  read_source(SourceId::kDownReason, [&]() -> std::optional<Error> {
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
  read_source(SourceId::kFec, [&]() -> std::optional<Error> {
    auto fec = read_fec(*host_, family, ifindex(), {link.speed_mbps, link.lanes});
    if (!fec) return fec.error();
    link.fec = fec->mode;
    kernel_fec_lanes_ = std::ranges::any_of(
        fec->lanes, [](const FecLane& lane) { return lane.corrected_bits.has_value(); });
    // The driver's bits per lane, if offered, are preferred to the kernel's if that has only blocks
    // (mlx5 in FC-FEC).
    if (kernel_fec_lanes_ || !driver_lanes_) reading.sample.fec_lanes = std::move(fec->lanes);
    return merge(std::move(fec->counters), reading.sample);
  });
}

void PortReader::read_statistics(const EthtoolFamily& family, Reading& reading) {
  read_source(SourceId::kEthtoolStats, [&]() -> std::optional<Error> {
    if (statistic_names_.empty()) {
      auto names = read_stat_names(*host_, family);
      if (!names) return names.error();
      statistic_names_ = *std::move(names);
    }
    return merge(read_stats(*host_, family, ifindex(), statistic_names_), reading.sample);
  });
  read_source(SourceId::kPause,
              [&] { return merge(read_pause(*host_, family, ifindex()), reading.sample); });
}

void PortReader::read_driver(Reading& reading) {
  if (port_.ifindex == 0 || port_.id.netdev.empty()) return;
  read_source(SourceId::kDriverStats, [&]() -> std::optional<Error> {
    auto read = driver_statistics_.read(*host_, port_.id.netdev);
    driver_lanes_ = driver_lanes_ && read;
    if (!read && read.error().errnum == EOPNOTSUPP) return std::nullopt;  // many drivers have none
    if (!read) return read.error();
    // The driver names four lanes on every port. Those beyond the link's width are meaningless. A
    // wider link has lanes that are not counted, so that a comparison of lanes would mislead.
    const std::size_t known = read->lane_corrected_bits.size();
    driver_lanes_ = !kernel_fec_lanes_ && lanes_ && *lanes_ > 0 && *lanes_ <= known;
    if (driver_lanes_) {
      reading.sample.fec_lanes.assign(*lanes_, {});
      for (std::size_t i = 0; i < *lanes_; ++i)
        reading.sample.fec_lanes[i].corrected_bits = read->lane_corrected_bits[i];
    }
    if (read->counters.empty()) return std::nullopt;
    return merge(std::move(read->counters), reading.sample);
  });
}

void PortReader::read_link_files(Reading& reading) {
  if (!port_.has_link_of_netdev()) return;
  std::vector<Gap> gaps;
  if (!netdev_files_) {
    auto reader = NetdevReader::open(*host_, port_);
    if (reader) {
      netdev_files_.emplace(*std::move(reader));
    } else if (reader.error().errnum != ENOENT && reader.error().errnum != ENODEV) {
      // The sampler reads the same files and reports the link; the discovery reports a netdev that
      // does not exist.
      gaps.push_back({port_.id.key(), std::string(to_string(SourceId::kNetdevStats)),
                      "net/" + port_.id.netdev + ": " + errno_name(reader.error().errnum)});
    }
  }
  if (netdev_files_) {
    reading.sample.link->speed_mbps = netdev_files_->read_speed_mbps();
    reading.gone = netdev_files_->read_statistics(reading.sample, gaps) == ReadStatus::kGone;
  }
  note_files({SourceId::kNetdevStats}, gaps, reading.sample);
}

}  // namespace linkhealth
