// A driver's own statistics behind SIOCETHTOOL, for tests.
#pragma once

#include <linux/ethtool.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace linkhealth::testing {

/// A driver behind the ioctl, as net/ethtool/ioctl.c answers for it.
struct FakeDriver {
  std::vector<std::pair<std::string, std::uint64_t>> statistics;
  std::size_t appear_after_count = 0;  ///< so many more statistics once the count has been given
  int name_reads = 0, value_reads = 0;

  template <typename Head>
  static Head head_of(std::span<const std::byte> command) {
    Head head;
    std::memcpy(&head, command.data(), sizeof(Head));
    return head;
  }
  template <typename Value>
  static bool put(std::span<std::byte> command, std::size_t offset, const Value& value) {
    if (offset + sizeof(Value) > command.size()) return false;
    std::memcpy(command.data() + offset, &value, sizeof(Value));
    return true;
  }
  /// The head with the number of statistics, and one `item` of each.
  template <typename Head, typename Item>
  Result<bool> put_all(std::span<std::byte> command, __u32 Head::*count, Item item) const {
    auto head = head_of<Head>(command);
    head.*count = static_cast<std::uint32_t>(statistics.size());
    put(command, 0, head);
    std::size_t at = sizeof(head);
    for (const auto& row : statistics) {
      if (!put(command, at, item(row))) return Error{"past the end", EFAULT};
      at += sizeof(item(row));
    }
    return true;
  }
  Result<bool> operator()(std::span<std::byte> command) {
    switch (head_of<std::uint32_t>(command)) {
      case ETHTOOL_GSSET_INFO: {
        auto head = head_of<ethtool_sset_info>(command);
        if (statistics.empty()) head.sset_mask = 0;
        put(command, 0, head);
        put(command, sizeof(head), static_cast<std::uint32_t>(statistics.size()));
        for (; appear_after_count > 0; --appear_after_count) statistics.emplace_back("late", 1);
        return true;
      }
      case ETHTOOL_GSTRINGS: {
        ++name_reads;
        return put_all<ethtool_gstrings>(command, &ethtool_gstrings::len, [](const auto& row) {
          std::array<char, ETH_GSTRING_LEN> text{};
          std::copy_n(row.first.begin(), std::min(row.first.size(), text.size()), text.begin());
          return text;
        });
      }
      case ETHTOOL_GSTATS:
        ++value_reads;
        return put_all<ethtool_stats>(command, &ethtool_stats::n_stats,
                                      [](const auto& row) { return row.second; });
      default:
        return Error{"unknown command", EOPNOTSUPP};
    }
  }
};

}  // namespace linkhealth::testing
