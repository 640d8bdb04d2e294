// THE counter table: every counter that this program knows, with its width and its behaviour at
// overflow (the rows are in model/counter_table.cpp), and the counter values of a sample.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace linkhealth {

/// Where the kernel offers a counter.
enum class CounterSource : std::uint8_t {
  kIbPort,      ///< /sys/class/infiniband/DEV/ports/N/counters (drivers/infiniband/core/sysfs.c)
  kIbHw,        ///< …/hw_counters, or RDMA netlink RDMA_NLDEV_CMD_STAT_GET
  kEthtoolFec,  ///< ETHTOOL_MSG_FEC_GET with statistics
  kEthtoolStd,  ///< ETHTOOL_MSG_STATS_GET: eth-phy, eth-mac, eth-ctrl, rmon; ETHTOOL_MSG_PAUSE_GET
  kEthtoolDriver,  ///< `ethtool -S`, by the driver's own names
  kNetdev,         ///< rtnl_link_stats64
};

/// What a counter does when it is full. This decides what a decrease means.
enum class CounterEnd : std::uint8_t {
  kWraps,      ///< continues at zero: a decrease from near its maximum is a wrap, any other a reset
  kSaturates,  ///< sticks at all-ones until it is cleared (PMA counters, IBTA 16.1.3.5)
  kUnknown,    ///< width not known: a decrease is a reset
  kLevel,      ///< not a counter: it rises and falls
};

/// What resets a counter, apart from a power loss of the card: where to look when one decreased.
/// RateCalculator treats all alike.
enum class CounterReset : std::uint8_t {
  kByMad,         ///< any MAD client, at any time, one by one (IBTA 16.1.3.5, CounterSelect)
  kWithDriver,    ///< a driver reload: the driver keeps it, or subtracts the value it found
  kWithCard,      ///< a restart of the card's firmware
  kUndocumented,  ///< a reload or a restart: drivers differ, or their sources do not show it
  kNever,         ///< a level
};

/// Where the counted damage happened.
enum class CounterPlace : std::uint8_t {
  kHere,       ///< this port's receiver: the far-to-local direction
  kForwarded,  ///< upstream of the far end, only reported here
  kEgress,     ///< on the way out of this port
  kHost,       ///< NIC, PCIe or software of this node
  kEndToEnd,   ///< transport layer: anywhere on the path
  kTraffic,    ///< not damage: packets, octets
};

struct CounterInfo {
  std::string name;  ///< the recording's key
  CounterSource source;
  std::uint8_t width_bits;
  CounterEnd end;
  CounterReset reset;
  CounterPlace place;
  std::string meaning;
};

/// Ordered by name.
std::span<const CounterInfo> known_counters();

/// An index into known_counters().
using CounterId = std::uint16_t;
/// The row of `name`; nullopt: not in the table, and passed through under its own name.
std::optional<CounterId> find_counter(std::string_view name);

/// The counters of one port at one time. Absent is not zero: a counter that could not be read has
/// no entry.
class Counters {
 public:
  void set(std::string_view name, std::uint64_t value);
  void set(CounterId id, std::uint64_t value);
  /// Overwrites the values that `newer` has, keeps the others.
  void merge(const Counters& newer);
  /// Keeps only the table's counters for which `wanted(id)` holds.
  template <typename Wanted>
  void forget_known_if(Wanted wanted) {
    std::erase_if(known_, [&](const auto& entry) { return wanted(entry.first); });
  }
  /// Keeps only the other counters for which `wanted(name)` holds.
  template <typename Wanted>
  void forget_other_if(Wanted wanted) {
    std::erase_if(other_, [&](const auto& entry) { return wanted(entry.first); });
  }
  [[nodiscard]] std::optional<std::uint64_t> get(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint64_t> get(CounterId id) const;
  [[nodiscard]] bool empty() const { return known_.empty() && other_.empty(); }
  [[nodiscard]] std::size_t size() const { return known_.size() + other_.size(); }
  /// Values of the table's counters, in the table's order.
  [[nodiscard]] const std::vector<std::pair<CounterId, std::uint64_t>>& known() const {
    return known_;
  }
  /// Values of counters that the table does not know, by name.
  [[nodiscard]] const std::vector<std::pair<std::string, std::uint64_t>>& other() const {
    return other_;
  }
  bool operator==(const Counters&) const = default;

 private:
  std::vector<std::pair<CounterId, std::uint64_t>> known_;
  std::vector<std::pair<std::string, std::uint64_t>> other_;
};

}  // namespace linkhealth
