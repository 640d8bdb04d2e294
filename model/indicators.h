// THE indicator table: what the diagnosis counts over time, and which kernel counters report it.
// Drivers use different names and have only some of them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/counters.h"

namespace linkhealth {

enum class Indicator : std::uint8_t {
  kCorrectedBits,        ///< by FEC: always some on PAM4
  kCorrectedBlocks,      ///< codewords that FEC corrected
  kUncorrectableBlocks,  ///< codewords lost
  kSymbolErrors,         ///< symbols that were not corrected
  kFrameErrors,          ///< frames received damaged
  kLinkRecoveries,       ///< retrained without going down, or had too many physical errors
  kLinkDowns,
  kRxOctets,
  kTxOctets,
  kCongestionMarks,   ///< ECN marks and congestion notifications
  kPauseReceived,     ///< the network cannot keep up with this host
  kPauseSent,         ///< this host cannot keep up with the network
  kTransmitWait,      ///< ticks with data and no credits
  kHostDrops,         ///< packets that this host had no buffer for
  kRetries,           ///< of the transport: packets were lost
  kForwardedErrors,   ///< packets that were already bad when the last switch sent them
  kPcieStalls,        ///< the NIC waits for PCIe credits
  kTransmitDiscards,  ///< packets dropped on the way out
  /// Packets that this card lost by its own fault: no buffer, although it had granted credits.
  kCardErrors,
  kPcieDamage,       ///< PCIe errors that the card counts
  kModuleBusErrors,  ///< reads of the module that failed
  kModuleHeat,       ///< times the card found the module too hot
  kCnpsHandled,      ///< congestion notifications that slowed this sender down
  kSlowRestarts,     ///< those that the card generated itself after a timeout
};
inline constexpr std::size_t kIndicatorCount = 24;

enum class Combine : std::uint8_t {
  kSum,  ///< different events: add
  /// The same events under different names, some always zero with some drivers: the largest
  /// increase.
  kMax,
};

/// How an increase is judged.
enum class Measure : std::uint8_t {
  kCount,  ///< by whether there are any, and how many
  kRate,   ///< by their number per time, or the share of time
};

struct IndicatorInfo {
  Indicator indicator;
  std::string_view name;
  Combine combine;
  Measure measure;
  /// The counters of all drivers that report it, by name; "#" stands for each priority, 0 to 7.
  std::string_view counters;
};

std::span<const IndicatorInfo, kIndicatorCount> indicator_table();
inline const IndicatorInfo& indicator_info(Indicator indicator) {
  return indicator_table()[static_cast<std::size_t>(indicator)];
}
inline bool is_rate(Indicator indicator) {
  return indicator_info(indicator).measure == Measure::kRate;
}

/// The names of its counters; those with "#" once per priority.
std::vector<std::string> names_of(const IndicatorInfo& info);
/// The indicator of a counter; nullopt: none.
std::optional<Indicator> indicator_of(CounterId id);
/// How many events one increment stands for.
std::uint64_t unit_of(CounterId id);

inline constexpr double kUnknownValue = std::numeric_limits<double>::quiet_NaN();

class IndicatorSet {
 public:
  constexpr IndicatorSet() = default;
  constexpr IndicatorSet(std::initializer_list<Indicator> indicators) {
    for (const Indicator indicator : indicators) add(indicator);
  }
  constexpr void add(Indicator indicator) { bits_ |= bit(indicator); }
  constexpr void add(IndicatorSet others) { bits_ |= others.bits_; }
  [[nodiscard]] constexpr bool has(Indicator indicator) const {
    return (bits_ & bit(indicator)) != 0;
  }
  [[nodiscard]] constexpr bool has_any(IndicatorSet others) const {
    return (bits_ & others.bits_) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }

 private:
  static constexpr std::uint32_t bit(Indicator indicator) {
    return std::uint32_t{1} << static_cast<unsigned>(indicator);
  }
  static_assert(kIndicatorCount <= 32);
  std::uint32_t bits_ = 0;
};

/// Whether a counter has reached the end of its width and stops there (IBTA 16.1.3.5). A value
/// beyond the width is not saturated.
bool is_saturated(const CounterInfo& info, std::uint64_t value);
/// The saturated counters that have an indicator. Nearly always empty.
std::vector<CounterId> saturated_counters(const Counters& counters);
/// Whether one of them is a source of these indicators.
bool is_saturated_for(std::span<const CounterId> saturated, IndicatorSet indicators);
/// Lost symbols and packets: without them a link is neither healthy nor faulty.
inline constexpr IndicatorSet kDamageCounts{Indicator::kSymbolErrors, Indicator::kFrameErrors};

}  // namespace linkhealth
