#include "daemon/port_reader.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "probes/ethtool_fec.h"
#include "probes/ethtool_link.h"
#include "probes/sysfs_text.h"

namespace linkhealth {

namespace {

// A source that fails is asked again after 10 s, 20 s, … at most 10 min; one that the driver does
// not have, each 10 min (a driver may be reloaded in another version without the port going away).
constexpr Milliseconds kFirstRetry{10'000};
constexpr Milliseconds kLongestRetry{600'000};

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

std::string_view to_string(ReadGroup group) {
  return group == ReadGroup::kDevice ? "counters" : "ethtool";
}

PortReader::PortReader(std::unique_ptr<Host> host, InventoryPort port, MadOpener mads)
    : host_(std::move(host)),
      port_(std::move(port)),
      key_(port_.id.key()),
      own_counters_(std::move(mads), port_.id) {}

Reading PortReader::read(ReadGroup group, SteadyTime now) {
  now_ = now;
  Reading reading;
  if (group == ReadGroup::kDevice) {
    read_counters(reading);
    if (port_.exempt_reason.empty()) pcie_.read(*host_, port_, reading.sample, reading.gaps);
  } else {
    read_kernel(reading);
    if (port_.exempt_reason.empty()) read_driver(reading);
  }
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

/// False: the files have to be read, which have the same values.
bool PortReader::read_own_counters(Reading& reading) {
  Retry& retry = retries_.at(kOwnCounters);
  if (!own_counters_.offered() || now_ < retry.at) return false;
  bool not_now = false;
  const auto error = attempt(retry, [&]() -> std::optional<Error> {
    const auto counters = own_counters_.read(now_);
    not_now = !counters && counters.error().errnum ==
                               ENOTCONN;  // the link is down: no failure that waits longer
    return not_now ? std::nullopt : merge(counters, reading.sample);
  });
  return !error && !not_now;
}

void PortReader::read_counters(Reading& reading) {
  IbPortReader* const files = verbs(reading.gaps);
  if (files == nullptr) return;
  const auto note = [&reading](ReadStatus status) {
    reading.gone = reading.gone || status == ReadStatus::kGone;
  };
  if (!read_own_counters(reading)) note(files->read_port_counters(reading.sample, reading.gaps));
  note(files->read_hw_counters(reading.sample, reading.gaps));
  end_gap_of_what_is_not_offered("counters", files->offers_counters(), no_counters_told_);
  end_gap_of_what_is_not_offered("hw_counters", files->offers_hw_counters(), no_hw_counters_told_);
}

/// The reader before this one may have had files that it could not read, of another driver: no
/// value will come to end that gap.
void PortReader::end_gap_of_what_is_not_offered(std::string_view probe, bool offered, bool& told) {
  if (!std::exchange(told, !offered) && !offered)
    gaps_ended_.push_back({key_, std::string(probe), ""});
}

void PortReader::read_kernel(Reading& reading) {
  reading.sample.link.emplace();
  if (port_.exempt_reason.empty()) read_interface(reading);
  IbPortReader* const files = verbs(reading.gaps);
  if (files != nullptr && files->read_state(reading.sample, reading.gaps) == ReadStatus::kGone)
    reading.gone = true;
}

void PortReader::read_interface(Reading& reading) {
  if (const EthtoolFamily* family = port_.ifindex != 0 ? ethtool(reading.gaps) : nullptr) {
    read_link_settings(*family, reading);
    read_statistics(*family, reading);
  } else {
    read_link_files(reading);
  }
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
  if (!netdev_files_) {
    auto reader = NetdevReader::open(*host_, port_);
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
  reading.sample.link->speed_mbps = netdev_files_->read_speed_mbps();
  if (netdev_files_->read_statistics(reading.sample, reading.gaps) == ReadStatus::kGone)
    reading.gone = true;
}

}  // namespace linkhealth
