// THE signal table: the few values of a port that are remembered over weeks (storage/memory.h),
// each with its unit, how finely it is kept, and what stands for a longer step. Fewer than there
// are counters: what `history`, the page and a person who asks "since when?" need.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/indicators.h"

namespace linkhealth {

/// How a value becomes the whole number that is kept.
enum class SignalScale : std::uint8_t {
  kLinear,      ///< value / quantum
  kErrorRatio,  ///< 0 for 0, else 1 + the negative decades / quantum: 1e-8 at 0.01 is 801
};
/// What a longer step says of the shorter ones in it.
enum class SignalFold : std::uint8_t { kMean, kLeast, kMost, kSum };

enum class Signal : std::uint8_t {
  kCarrierUp,
  kSpeed,
  kCarrierDowns,
  kVoluntaryDowns,
  kPreFecBer,
  kCorrectedBits,
  kUncorrectableBlocks,
  kSymbolErrors,
  kFrameErrors,
  kLinkRecoveries,
  kForwardedErrors,
  kCongestionMarks,
  kPauseReceived,
  kPauseSent,
  kHostDrops,
  kRetries,
  kTransmitDiscards,
  kRxTraffic,
  kTxTraffic,
  kRxPower,
  kTxPower,
  kTxBias,
  kTemperature,
  kSupply,
  kMediaEsnr,
  kFarRxPower,
  kFarTxPower,
  kFarTemperature,
  kNicTemperature,
  kPcieErrors,
  kRxPowerLane1,                      ///< and the next seven
  kTxPowerLane1 = kRxPowerLane1 + 8,  ///< and the next seven
  kTxBiasLane1 = kTxPowerLane1 + 8,   ///< and the next seven
};
/// Lanes that are remembered one by one; the worst of all lanes is remembered beside them.
inline constexpr std::size_t kSignalLanes = 8;
inline constexpr std::size_t kSignalCount =
    static_cast<std::size_t>(Signal::kTxBiasLane1) + kSignalLanes;

struct SignalInfo {
  Signal signal;
  std::string_view name;  ///< with its unit: "rx_power_dbm", "rx_power_dbm.1"
  SignalScale scale;
  double quantum;  ///< how finely it is kept, in its unit or in decades
  SignalFold fold;
  std::uint8_t
      near;  ///< the signal it is mostly close to (lane to lane); itself where there is none
  std::optional<Indicator> flow;  ///< what it counts
};

/// In the order of Signal, which is part of the format of what is stored: rows are added at the
/// end.
std::span<const SignalInfo, kSignalCount> signal_table();
inline const SignalInfo& signal_info(std::size_t index) { return signal_table()[index]; }
/// nullopt: no such signal.
std::optional<Signal> find_signal(std::string_view name);

/// The values of one port in one step; NaN: nothing was seen.
class SignalValues {
 public:
  SignalValues() { values_.fill(kUnknownValue); }
  double& operator[](Signal signal) { return values_[static_cast<std::size_t>(signal)]; }
  double operator[](Signal signal) const { return values_[static_cast<std::size_t>(signal)]; }
  double& operator[](std::size_t index) { return values_[index]; }
  double operator[](std::size_t index) const { return values_[index]; }
  /// Whether nothing was seen at all.
  [[nodiscard]] bool empty() const;

 private:
  std::array<double, kSignalCount> values_{};
};

/// The values as they come back when they were kept: rounded to the table's quanta.
double kept_value(std::size_t index, double value);

}  // namespace linkhealth
