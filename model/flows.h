// THE flow table: what the diagnosis counts over time, and which kernel counters say it. Drivers name and leave out
// differently; a flow takes what there is.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string_view>

#include "model/counters.h"

namespace linkhealth {

enum class Flow : std::uint8_t {
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
inline constexpr std::size_t kFlowCount = 21;

enum class Combine : std::uint8_t {
  kSum,    ///< different events: add
  kFirst,  ///< the same events by different names: the first that is there
  kMost,   ///< the same events, some drivers leave one at zero: the largest increase
};

inline constexpr std::size_t kMostCountersOfAFlow = 24;

struct FlowInfo {
  Flow flow;
  std::string_view name;
  Combine combine;
  std::array<std::string_view, kMostCountersOfAFlow> counters;  ///< the same thing by the names of all drivers
  std::string_view meaning;
};

std::span<const FlowInfo, kFlowCount> flow_table();
inline const FlowInfo& flow_info(Flow flow) { return flow_table()[static_cast<std::size_t>(flow)]; }

inline constexpr double kUnknownValue = std::numeric_limits<double>::quiet_NaN();
using FlowValues = std::array<double, kFlowCount>;  ///< NaN: not known

/// The increases between two readings of one port. Unknown where a counter was not there both times, stands at the
/// all-ones of a saturating counter, or when any counter of the port went down (then all were reset).
struct FlowIncrease {
  FlowValues values;
  FlowValues rates;  ///< the same, but of one interval: see CounterSpan
  bool reset = false;
};
/// Whether a classic counter of bad symbols or packets is full (IBTA 16.1.3.5): it counted, and now says no more.
bool errors_are_full(const Counters& counters);
/// How long ago a counter's value in `before` was read, in intervals of the port: 1 for one that is read each time.
using CounterSpan = std::function<double(CounterId)>;
/// A counter that is read less often than others has counted for longer than an interval. In `rates` what is judged as
/// a rate (bits corrected, traffic, time spent waiting) is scaled to one interval; damage counts whole, where it was
/// noticed. Null: everything is read each time.
FlowIncrease flow_increase(const Counters& before, const Counters& after, const CounterSpan& span = nullptr);

}  // namespace linkhealth
