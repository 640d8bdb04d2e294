#include "probes/sysfs/netdev_sysfs.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr unsigned kMaxSkip = 7;
constexpr std::uint64_t kIffUp = 1;
// SPEED_UNKNOWN (-1, or 4294967295 of old drivers) is not a speed.
constexpr std::uint64_t kMaxMbps = 100'000'000;

/// "-1" is the kernel's text for an absent value.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  return text == "-1" ? std::uint64_t{0} : parse_hex_or_decimal(text);
}

/// RFC 2863 states as written by the kernel (operstates in net-sysfs.c); nullopt for "unknown",
/// from drivers that have none.
std::optional<bool> carrier_of_operstate(std::string_view text) {
  if (text == "up" || text == "dormant" || text == "testing") return true;
  if (text == "down" || text == "lowerlayerdown" || text == "notpresent") return false;
  return std::nullopt;
}

std::optional<std::string> as_text(std::string_view text) { return std::string(text); }

}  // namespace

std::optional<bool> CarrierFollower::update(std::uint64_t ups, std::uint64_t downs,
                                            std::optional<bool> operstate) {
  constexpr unsigned kStill = 3;
  const bool same = ups == ups_ && downs == downs_;
  still_ = same ? std::min(still_ + 1, kStill) : 0;
  if (carrier_ && !same) {
    // If it was up, the first change is a loss, otherwise a gain; after that they alternate.
    const std::uint64_t gained = ups - ups_;
    const std::uint64_t lost = downs - downs_;
    carrier_ = *carrier_ ? lost <= gained : gained > lost;
  }
  ups_ = ups;
  downs_ = downs;
  // A count that has just changed may be ahead of operstate.
  if (operstate && (!carrier_ || still_ == kStill)) carrier_ = operstate;
  return carrier_;
}

NetdevReader::NetdevReader(Host& host, std::unique_ptr<HostDir> dir, const InventoryPort& port)
    : host_(&host),
      dir_(std::move(dir)),
      key_(port.id.key()),
      path_(port.sysfs_netdev_dir),
      speed_("speed", kMaxSkip) {
  for (const char* name :
       {"flags", "carrier", "mtu", "carrier_up_count", "carrier_down_count", "operstate"})
    files_.emplace_back(name, kMaxSkip);
}

Result<NetdevReader> NetdevReader::open(Host& host, const InventoryPort& port) {
  if (port.sysfs_netdev_dir.empty()) return Error{port.id.key() + " has no netdev", ENOENT};
  auto dir = host.open_dir(port.sysfs_netdev_dir);
  if (!dir) return dir.error();
  return NetdevReader(host, *std::move(dir), port);
}

std::optional<std::uint64_t> NetdevReader::read_number(File file, int absent_errnum) {
  return files_[file].read(*dir_, parse_number, absent_errnum);
}

/// Tests by reading the flags, which every netdev has. In a copied tree a missing file does not
/// mean that it is gone.
bool NetdevReader::is_gone() {
  read_number(kFlags);
  return host_->has_kernel() && files_[kFlags].may_be_gone();
}

std::optional<bool> NetdevReader::read_carrier(std::optional<std::uint64_t> ups,
                                               std::optional<std::uint64_t> downs,
                                               bool admin_down) {
  // The kernel returns EINVAL for carrier while the port is administratively down.
  const auto from_file = [&]() -> std::optional<bool> {
    const auto carrier = read_number(kCarrier, admin_down ? EINVAL : 0);
    return carrier ? std::optional(*carrier != 0) : std::nullopt;
  };
  // A kernel without the counts (before 4.16) does not take a lock for the file either.
  if (!host_->has_kernel() || !ups || !downs) return from_file();
  if (admin_down) return follower_.update(*ups, *downs, std::nullopt);
  const auto text = files_[kOperState].read(*dir_, as_text);
  const std::optional<bool> operstate = text ? carrier_of_operstate(*text) : std::nullopt;
  const std::optional<bool> carrier = follower_.update(*ups, *downs, operstate);
  if (carrier || !text) return carrier;
  return follower_.update(*ups, *downs, from_file());
}

ReadStatus NetdevReader::read_link(std::optional<LinkSample>& link, std::vector<Gap>& gaps) {
  const auto flags = read_number(kFlags);
  if (host_->has_kernel() && files_[kFlags].may_be_gone()) return ReadStatus::kGone;
  const bool admin_down = flags && (*flags & kIffUp) == 0;
  const auto ups = read_number(kCarrierUpCount);
  const auto downs = read_number(kCarrierDownCount);
  const auto carrier = read_carrier(ups, downs, admin_down);
  const auto mtu = read_number(kMtu);
  if (flags || carrier || mtu || ups || downs) {
    LinkSample& to = link ? *link : link.emplace();
    if (flags) to.admin_up = !admin_down;
    if (carrier || admin_down) to.carrier = carrier.value_or(false) && !admin_down;
    if (mtu && *mtu <= 0xffffffffU) to.mtu_bytes = static_cast<std::uint32_t>(*mtu);
    if (ups) to.carrier_up_count = *ups;
    if (downs) to.carrier_down_count = *downs;
  }
  if (auto reasons = join_reasons(files_); !reasons.empty())
    gaps.push_back({key_, "link", std::move(reasons)});
  return ReadStatus::kOk;
}

std::optional<std::uint32_t> NetdevReader::read_speed_mbps() {
  const auto speed = speed_.read(*dir_, parse_number, EINVAL);
  if (!speed || *speed == 0 || *speed > kMaxMbps) return std::nullopt;
  return static_cast<std::uint32_t>(*speed);
}

void NetdevReader::find_statistics() {
  if (statistics_found_) return;
  const auto names = host_->list_dir(path_ + "/statistics");
  statistics_found_ = static_cast<bool>(names);
  no_statistics_ = names ? "" : "statistics: " + errno_name(names.error().errnum);
  if (names) statistics_ = SysfsCounters("statistics", "netdev_", *names);
}

ReadStatus NetdevReader::read_statistics(PortSample& sample, std::vector<Gap>& gaps) {
  find_statistics();
  const bool may_be_gone = !no_statistics_.empty() || statistics_.read(*dir_, sample.counters);
  if (may_be_gone && is_gone()) return ReadStatus::kGone;
  std::string reasons = no_statistics_.empty() ? statistics_.reasons() : no_statistics_;
  if (!reasons.empty()) gaps.push_back({key_, "netdev_stats", std::move(reasons)});
  return ReadStatus::kOk;
}

}  // namespace linkhealth
