#include "probes/netdev_sysfs.h"

#include <array>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "probes/sysfs_text.h"

namespace linkhealth {

namespace {

constexpr std::array kFileNames = {
    "flags", "carrier", "speed", "mtu", "carrier_up_count", "carrier_down_count", "operstate"};
constexpr unsigned kMaxSkip = 7;
/// Nothing is decided by the MTU: with a read each second of the others, it is read twice a minute.
constexpr unsigned kMtuEach = 30;
constexpr std::uint64_t kIffUp = 1;
constexpr std::uint64_t kMaxMbps =
    100'000'000;  // SPEED_UNKNOWN (-1, or 4294967295 of old drivers) is not a speed

}  // namespace

NetdevReader::NetdevReader(Host& host, const InventoryPort& port, Speed speed)
    : host_(&host),
      key_(port.id.key()),
      dir_(port.sysfs_netdev_dir),
      speed_(speed),
      files_(kFileNames) {}

void NetdevReader::find_statistics() {
  if (statistics_found_) return;
  const std::string dir = dir_ + "/statistics";
  const auto names = host_->list_dir(dir);
  statistics_found_ = static_cast<bool>(names);
  no_statistics_ = names ? "" : "statistics: " + errno_name(names.error().errnum);
  if (names) statistics_ = CounterFiles(dir, "netdev_", *names);
}

Result<NetdevReader> NetdevReader::open(Host& host, const InventoryPort& port, Speed speed) {
  if (port.sysfs_netdev_dir.empty()) return Error{port.id.key() + " has no netdev", ENOENT};
  if (auto names = host.list_dir(port.sysfs_netdev_dir); !names) return names.error();
  return NetdevReader(host, port, speed);
}

void NetdevReader::begin_link(LinkReads& reads) {
  ahead_ = {};
  if (gone_) return;
  link_reads_ = &reads;
  for (const File file : {may_have_stayed() ? kCarrier : kFlags, kCarrierDownCount})
    ahead_[file] = static_cast<std::uint8_t>(reads.add(*host_, files_[file], dir_));
}

/// In a copy a carrier says that the port is set up: of one that is not, the kernel gives none
/// (carrier_show).
bool NetdevReader::may_have_stayed() const { return !host_->has_kernel() && carrier_; }

std::optional<std::string_view> NetdevReader::read_text(File which, Text& buffer,
                                                        int absent_errnum) {
  KeptFile& file = files_[which];
  const auto ahead = std::exchange(ahead_[which], std::nullopt);
  const auto text = ahead ? link_reads_->text(*ahead) : file.read(*host_, dir_, buffer);
  if (!text) return std::nullopt;
  if (*text) return **text;
  const int errnum = text->error().errnum;
  gone_ = gone_ || (errnum == ENODEV && which == kFlags);
  if (errnum == absent_errnum) {
    files_.accept(which);
  } else {
    files_.reject(which, errno_name(errnum), kMaxSkip);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> NetdevReader::read_number(File which, int absent_errnum) {
  Text buffer;  // NOLINT(*-member-init): filled by the read
  const auto text = read_text(which, buffer, absent_errnum);
  if (!text) return std::nullopt;
  const auto value = parse_hex_or_decimal(*text);
  if (value || *text == "-1") {  // -1: not known, the kernel's way to say absent
    files_.accept(which);
  } else {
    files_.reject(which, unexpected_text(*text).message, kMaxSkip);
  }
  return value;
}

/// RFC 2863 as the kernel writes it (operstates in net-sysfs.c); nullopt for "unknown", of drivers
/// that have none.
static std::optional<bool> carrier_of_operstate(std::string_view text) {
  if (text == "up" || text == "dormant" || text == "testing") return true;
  if (text == "down" || text == "lowerlayerdown" || text == "notpresent") return false;
  return std::nullopt;
}

std::optional<bool> NetdevReader::follow_carrier(std::uint64_t ups, std::uint64_t downs,
                                                 bool set_down, bool now_and_then) {
  const std::optional<bool> counted = follower_.follow(ups, downs);
  if (set_down || !follower_.wants_operstate(now_and_then)) return counted;
  Text buffer;  // NOLINT(*-member-init): filled by the read
  const auto text = read_text(kOperState, buffer);
  std::optional<bool> said = text ? carrier_of_operstate(*text) : std::nullopt;
  if (text) files_.accept(kOperState);
  if (text && !said && !counted)
    if (const auto carrier = read_number(kCarrier)) said = *carrier != 0;
  return said ? follower_.learn(*said) : counted;
}

ReadStatus NetdevReader::read_link(std::optional<LinkSample>& said, std::vector<Gap>& gaps) {
  if (gone_) return ReadStatus::kGone;
  const bool live = host_->has_kernel();
  std::optional<std::uint64_t> flags;
  const bool stayed = may_have_stayed() && read_number(kCarrier, EINVAL).value_or(0) == 1;
  if (!stayed) {
    flags = read_number(kFlags);
    if (gone_) return ReadStatus::kGone;
  }
  const bool set_down = flags && (*flags & kIffUp) == 0;
  const std::uint64_t speed = speed_ == Speed::kRead ? read_number(kSpeed, EINVAL).value_or(0) : 0;
  const auto downs = read_number(kCarrierDownCount);
  // It was up and was not lost since: nor was it gained. After a change it is read once more,
  // because the carrier may have come back between the reads.
  const bool same = (live ? carrier_ : stayed) && downs && downs == downs_;
  const auto ups = same && settled_ ? ups_ : read_number(kCarrierUpCount);
  const bool rested = mtu_rests_ == 0;
  if (!same || mtu_rests_-- == 0) {
    mtu_ = read_number(kMtu);
    mtu_rests_ = kMtuEach;
  }
  std::optional<bool> carrier;
  if (stayed) {
    carrier = true;
  } else if (live && ups && downs) {
    carrier = follow_carrier(*ups, *downs, set_down, rested);
  } else if (const auto file = read_number(kCarrier, set_down ? EINVAL : 0)) {
    carrier = *file != 0;  // a kernel without the counts (before 4.16) takes no lock for it either
  }
  carrier_ = carrier.value_or(false) && !set_down;
  settled_ = same;
  ups_ = ups;
  downs_ = downs;
  if (flags || carrier || speed != 0 || mtu_ || ups || downs) {
    LinkSample& link = said ? *said : said.emplace();
    if (flags || stayed) link.admin_up = !set_down;
    if (carrier || set_down) link.carrier = carrier_;
    if (speed > 0 && speed <= kMaxMbps) link.speed_mbps = static_cast<std::uint32_t>(speed);
    if (mtu_ && *mtu_ <= 0xffffffffU) link.mtu_bytes = static_cast<std::uint32_t>(*mtu_);
    if (ups) link.carrier_up_count = *ups;
    if (downs) link.carrier_down_count = *downs;
  }
  if (auto reasons = files_.reasons(); !reasons.empty())
    gaps.push_back({key_, "link", std::move(reasons)});
  return ReadStatus::kOk;
}

bool NetdevReader::is_gone() {
  if (!gone_) read_number(kFlags);
  return gone_;
}

ReadStatus NetdevReader::read_statistics(PortSample& sample, std::vector<Gap>& gaps) {
  if (gone_) return ReadStatus::kGone;
  find_statistics();
  if (!no_statistics_.empty()) {
    gaps.push_back({key_, "netdev_stats", no_statistics_});
    return is_gone() ? ReadStatus::kGone : ReadStatus::kOk;
  }
  const auto take = [&](std::size_t index, std::uint64_t value) {
    if (!sample.counters) sample.counters.emplace();
    statistics_.put(index, value, *sample.counters);
  };
  if (statistics_.read(*host_, take, [this] { return is_gone(); }) == ReadStatus::kGone)
    return ReadStatus::kGone;
  if (auto reasons = statistics_.reasons(); !reasons.empty())
    gaps.push_back({key_, "netdev_stats", std::move(reasons)});
  return ReadStatus::kOk;
}

}  // namespace linkhealth
