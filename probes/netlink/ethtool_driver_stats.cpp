#include "probes/netlink/ethtool_driver_stats.h"

#include <linux/ethtool.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace linkhealth {
namespace {

/// Drivers with statistics for each of some hundred queues have some ten thousand; more is damage.
constexpr std::uint32_t kMaxStatistics = 1U << 17;
constexpr std::size_t kMaxStatisticLanes = 8;

template <typename Head>
Bytes command_of(const Head& head, std::size_t payload) {
  Bytes command(sizeof(Head) + payload);
  std::memcpy(command.data(), &head, sizeof(Head));
  return command;
}

template <typename Value>
Value value_at(std::span<const std::byte> bytes, std::size_t offset) {
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof(Value));
  return value;
}

Error bad_answer(const char* what) {
  return Error{std::string("ethtool statistics: ") + what, EBADMSG};
}

Result<std::uint32_t> read_count(Host& host, const std::string& netdev) {
  ethtool_sset_info head{};
  head.cmd = ETHTOOL_GSSET_INFO;
  head.sset_mask = 1ULL << ETH_SS_STATS;
  Bytes command = command_of(head, sizeof(std::uint32_t));
  if (const auto done = host.ethtool(netdev, command); !done) return done.error();
  return parse_statistics_count(command);
}

}  // namespace

Result<std::uint32_t> parse_statistics_count(std::span<const std::byte> answer) {
  if (answer.size() < sizeof(ethtool_sset_info) + sizeof(std::uint32_t))
    return bad_answer("a short count");
  const auto head = value_at<ethtool_sset_info>(answer, 0);
  if ((head.sset_mask & (1ULL << ETH_SS_STATS)) == 0)
    return Error{"the driver has no statistics", EOPNOTSUPP};
  const auto count = value_at<std::uint32_t>(answer, sizeof(ethtool_sset_info));
  if (count > kMaxStatistics) return bad_answer("too many");
  return count;
}

Result<std::vector<std::string>> parse_statistic_names(std::span<const std::byte> answer) {
  if (answer.size() < sizeof(ethtool_gstrings)) return bad_answer("short names");
  const auto head = value_at<ethtool_gstrings>(answer, 0);
  const std::size_t room = (answer.size() - sizeof(ethtool_gstrings)) / ETH_GSTRING_LEN;
  if (head.len > room) return bad_answer("more names than there is room for");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < head.len; ++i) {
    std::array<char, ETH_GSTRING_LEN + 1> text{};
    std::memcpy(text.data(), answer.data() + sizeof(ethtool_gstrings) + i * ETH_GSTRING_LEN,
                ETH_GSTRING_LEN);
    names.emplace_back(trim(text.data()));
  }
  return names;
}

Result<std::vector<std::uint64_t>> parse_statistic_values(std::span<const std::byte> answer) {
  if (answer.size() < sizeof(ethtool_stats)) return bad_answer("short values");
  const auto head = value_at<ethtool_stats>(answer, 0);
  if (head.n_stats > (answer.size() - sizeof(ethtool_stats)) / sizeof(std::uint64_t))
    return bad_answer("more values than there is room for");
  std::vector<std::uint64_t> values(head.n_stats);
  if (!values.empty())
    std::memcpy(values.data(), answer.data() + sizeof(ethtool_stats),
                values.size() * sizeof(std::uint64_t));
  return values;
}

std::optional<std::size_t> lane_of(std::string_view statistic) {
  constexpr std::string_view kBefore = "rx_err_lane_";
  constexpr std::string_view kAfter = "_phy";
  if (!statistic.starts_with(kBefore) || !statistic.ends_with(kAfter)) return std::nullopt;
  statistic.remove_prefix(kBefore.size());
  const auto lane =
      parse_u64(statistic.substr(0, statistic.size() - std::min(statistic.size(), kAfter.size())));
  if (!lane || *lane >= kMaxStatisticLanes) return std::nullopt;
  return *lane + 1;
}

Result<void> DriverStatisticsReader::read_names(Host& host, const std::string& netdev,
                                                std::uint32_t count) {
  ethtool_gstrings head{};
  head.cmd = ETHTOOL_GSTRINGS;
  head.string_set = ETH_SS_STATS;
  head.len = count;
  Bytes command = command_of(head, std::size_t{count} * ETH_GSTRING_LEN);
  if (const auto done = host.ethtool(netdev, command); !done) return done.error();
  const auto names = parse_statistic_names(command);
  if (!names) return names.error();
  if (names->size() != count) return Error{"the driver's statistics have just changed", EAGAIN};
  wanted_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto id = find_counter((*names)[i]);
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
  if (wanted_.empty()) return read;  // the driver need not collect what is not used
  ethtool_stats head{};
  head.cmd = ETHTOOL_GSTATS;
  head.n_stats = *count;
  Bytes command = command_of(head, std::size_t{*count} * sizeof(std::uint64_t));
  // EFAULT: the driver has more statistics by now, and reached the end of our memory.
  const auto done = host.ethtool(netdev, command);
  const auto values =
      done ? parse_statistic_values(command) : Result<std::vector<std::uint64_t>>(done.error());
  if (!values && values.error().errnum != EFAULT) return values.error();
  if (!values || values->size() != *count) {
    count_ = 0;
    return Error{"the driver's statistics have just changed", EAGAIN};
  }
  for (const auto& [place, id] : wanted_) {
    read.counters.set(id, (*values)[place]);
    const auto lane = lane_of(known_counters()[id].name);
    if (!lane) continue;
    if (read.lane_corrected_bits.size() < *lane) read.lane_corrected_bits.resize(*lane);
    read.lane_corrected_bits[*lane - 1] = (*values)[place];
  }
  return read;
}

}  // namespace linkhealth
