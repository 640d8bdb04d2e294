// THE flow table: what the diagnosis counts over time, and which kernel counters say it. Drivers
// name and leave out differently; a flow takes what there is.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/counters.h"

namespace linkhealth {

enum class Indicator : std::uint8_t {
  kCorrectedBits,
  kCorrectedBlocks,
  kUncorrectableBlocks,
  kSymbolErrors,
  kFrameErrors,
  kLinkRecoveries,
  kRxOctets,
  kTxOctets,
  kCongestionMarks,
  kPauseReceived,
  kPauseSent,
  kTransmitWait,
  kHostDrops,
  kRetries,
  kForwardedErrors,
  kPcieStalls,
  kTransmitDiscards,
  kCardErrors,
  kPcieDamage,
  kModuleBusErrors,
  kModuleHeat,
};
inline constexpr std::size_t kIndicatorCount = 21;

enum class Combine : std::uint8_t {
  kSum,   ///< different events: add
  kMost,  ///< the same events by different names, some left at zero by some drivers: the largest
          ///< increase
};

inline constexpr std::size_t kMaxCountersPerIndicator = 24;

struct IndicatorInfo {
  Indicator flow;
  std::string_view name;
  Combine combine;
  /// The same thing by the names of all drivers; "#" stands for each priority, 0 to 7.
  std::array<std::string_view, kMaxCountersPerIndicator> counters;
  std::string_view meaning;
};

std::span<const IndicatorInfo, kIndicatorCount> indicator_table();
inline const IndicatorInfo& indicator_info(Indicator flow) {
  return indicator_table()[static_cast<std::size_t>(flow)];
}

/// The names of its counters, one for each priority where they have one.
std::vector<std::string> names_of(const IndicatorInfo& info);

inline constexpr double kUnknownValue = std::numeric_limits<double>::quiet_NaN();
using IndicatorValues = std::array<double, kIndicatorCount>;  ///< NaN: not known

/// Some of the flows.
class IndicatorSet {
 public:
  constexpr IndicatorSet() = default;
  constexpr IndicatorSet(std::initializer_list<Indicator> flows) {
    for (const Indicator flow : flows) add(flow);
  }
  constexpr void add(Indicator flow) { bits_ |= bit(flow); }
  constexpr void add(IndicatorSet others) { bits_ |= others.bits_; }
  [[nodiscard]] constexpr bool has(Indicator flow) const { return (bits_ & bit(flow)) != 0; }
  [[nodiscard]] constexpr bool has_any(IndicatorSet others) const {
    return (bits_ & others.bits_) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }

 private:
  static_assert(kIndicatorCount <= 32);
  static constexpr std::uint32_t bit(Indicator flow) {
    return std::uint32_t{1} << static_cast<unsigned>(flow);
  }
  std::uint32_t bits_ = 0;
};

/// What is judged by how much of it there is in a time, or in how much of the time, not by whether
/// there is any.
bool is_rate(Indicator flow);
/// Rates that a late reading spreads over all the time it is of. Not what the error ratio is made
/// of: an interval whose ratio is not known has none.
bool is_spread(Indicator flow);

/// What a counter says.
struct IndicatorUse {
  bool used = false;  ///< by a flow at all
  Indicator flow{};
  std::uint8_t unit = 1;  ///< what one of it counts
  Combine combine{};
  bool is_rate = false;
};
/// Of each counter, by its CounterId: the tables themselves are ten times as large.
std::span<const IndicatorUse> indicator_uses();

/// Whether a counter stands at the end of its width and sticks there (IBTA 16.1.3.5): it counted,
/// and now says no more. A value that the width can't hold is none that sticks.
bool is_full(const CounterInfo& info, std::uint64_t value);
/// Those that a flow or the count of losses is taken from and that are full, by name. Nearly always
/// none.
std::vector<CounterId> full_counters(const Counters& counters);
/// Whether one of them is where these flows are taken from.
bool is_full_for(std::span<const CounterId> full, IndicatorSet flows);
/// Lost symbols and packets: a link whose errors are not counted is neither well nor ill.
inline constexpr IndicatorSet kDamageCounts{Indicator::kSymbolErrors, Indicator::kFrameErrors};

}  // namespace linkhealth
