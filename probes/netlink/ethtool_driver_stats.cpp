#include "probes/netlink/ethtool_driver_stats.h"

#include <linux/ethtool.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace linkhealth {
namespace {

/// Drivers with per-queue statistics for hundreds of queues have some ten thousand; more is damage.
constexpr std::uint32_t kMaxStatistics = 1U << 17;

/// Runs one ioctl command: `head` followed by room for `payload` bytes, which the kernel fills.
template <typename Head>
Result<Bytes> run(Host& host, const std::string& netdev, const Head& head, std::size_t payload) {
  Bytes command(sizeof(Head) + payload);
  std::memcpy(command.data(), &head, sizeof(Head));
  if (const auto done = host.ethtool(netdev, command); !done) return done.error();
  return command;
}

template <typename Value>
Value value_at(const Bytes& bytes, std::size_t offset) {
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof(Value));
  return value;
}

Error changed() { return {"the driver's statistics have just changed", EAGAIN}; }

Result<std::uint32_t> read_count(Host& host, const std::string& netdev) {
  ethtool_sset_info head{};
  head.cmd = ETHTOOL_GSSET_INFO;
  head.sset_mask = 1ULL << ETH_SS_STATS;
  const auto answer = run(host, netdev, head, sizeof(std::uint32_t));
  if (!answer) return answer.error();
  if ((value_at<ethtool_sset_info>(*answer, 0).sset_mask & head.sset_mask) == 0)
    return Error{"the driver has no statistics", EOPNOTSUPP};
  const auto count = value_at<std::uint32_t>(*answer, sizeof head);
  if (count > kMaxStatistics) return Error{"ethtool statistics: too many", EBADMSG};
  return count;
}

/// The lane, from 1, of an mlx5 per-lane statistic: "rx_err_lane_0_phy" -> 1.
std::optional<std::size_t> lane_of(std::string_view statistic) {
  constexpr std::string_view kBefore = "rx_err_lane_", kAfter = "_phy";
  if (!statistic.starts_with(kBefore) || !statistic.ends_with(kAfter)) return std::nullopt;
  statistic.remove_prefix(kBefore.size());
  statistic.remove_suffix(kAfter.size());
  const auto lane = parse_u64(statistic);
  return lane ? std::optional(*lane + 1) : std::nullopt;
}

}  // namespace

Result<void> DriverStatisticsReader::read_names(Host& host, const std::string& netdev,
                                                std::uint32_t count) {
  ethtool_gstrings head{};
  head.cmd = ETHTOOL_GSTRINGS;
  head.string_set = ETH_SS_STATS;
  head.len = count;
  const auto answer = run(host, netdev, head, std::size_t{count} * ETH_GSTRING_LEN);
  if (!answer) return answer.error();
  if (value_at<ethtool_gstrings>(*answer, 0).len != count) return changed();
  const std::string_view text(reinterpret_cast<const char*>(answer->data()) + sizeof head,
                              answer->size() - sizeof head);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view name = text.substr(std::size_t{i} * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
    const auto id = find_counter(trim(name.substr(0, name.find('\0'))));
    if (id && known_counters()[*id].source == CounterSource::kEthtoolDriver)
      wanted_.emplace_back(i, *id);
  }
  count_ = count;
  return {};
}

Result<DriverStatistics> DriverStatisticsReader::read(Host& host, const std::string& netdev) {
  const auto count = read_count(host, netdev);
  if (!count) return count.error();
  if (*count != count_) {
    count_ = 0;
    wanted_.clear();
    if (const auto names = read_names(host, netdev, *count); !names) return names.error();
  }
  DriverStatistics read;
  if (wanted_.empty()) return read;  // spare the driver from collecting what is not used
  ethtool_stats head{};
  head.cmd = ETHTOOL_GSTATS;
  head.n_stats = *count;
  const auto answer = run(host, netdev, head, std::size_t{*count} * sizeof(std::uint64_t));
  // EFAULT: the driver now has more statistics, and reached the end of our memory.
  if (!answer && answer.error().errnum != EFAULT) return answer.error();
  if (!answer || value_at<ethtool_stats>(*answer, 0).n_stats != *count) {
    count_ = 0;
    return changed();
  }
  for (const auto& [place, id] : wanted_) {
    const auto value =
        value_at<std::uint64_t>(*answer, sizeof head + place * sizeof(std::uint64_t));
    read.counters.set(id, value);
    const auto lane = lane_of(known_counters()[id].name);
    if (!lane) continue;
    if (read.lane_corrected_bits.size() < *lane) read.lane_corrected_bits.resize(*lane);
    read.lane_corrected_bits[*lane - 1] = value;
  }
  return read;
}

}  // namespace linkhealth
