// THE signal table: the values of a port that the history database keeps for weeks
// (storage/history/history_store.h), each with its unit, its useful precision, and how a longer
// step is computed from shorter ones.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/indicators.h"

namespace linkhealth {

/// How the value of a longer step is computed from the shorter steps in it.
enum class Aggregation : std::uint8_t { kMean, kMin, kMax, kSum };

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
/// Lanes with signals of their own, in addition to the worst of all lanes.
inline constexpr std::size_t kSignalLanes = 8;
inline constexpr std::size_t kSignalCount =
    static_cast<std::size_t>(Signal::kTxBiasLane1) + kSignalLanes;

struct SignalInfo {
  Signal signal = Signal::kCarrierUp;
  std::string name;      ///< with its unit: "rx_power_dbm", "rx_power_dbm.1"
  double precision = 0;  ///< in its unit; 0: a ratio, kept to three significant digits
  Aggregation aggregation = Aggregation::kMean;
  std::optional<Indicator> indicator;  ///< the indicator that it counts
};

/// In the order of Signal. That order is part of the format of stored rows: add rows at the end.
std::span<const SignalInfo, kSignalCount> signal_table();
inline const SignalInfo& signal_info(Signal signal) {
  return signal_table()[static_cast<std::size_t>(signal)];
}
/// nullopt: no such signal.
std::optional<Signal> find_signal(std::string_view name);
/// `value`, rounded to the precision of the signal.
double rounded(const SignalInfo& info, double value);

/// The values of one port in one step; NaN: unknown.
class SignalValues {
 public:
  SignalValues() { values_.fill(kUnknownValue); }
  double& operator[](Signal signal) { return values_[static_cast<std::size_t>(signal)]; }
  double operator[](Signal signal) const { return values_[static_cast<std::size_t>(signal)]; }
  double& operator[](std::size_t index) { return values_[index]; }
  double operator[](std::size_t index) const { return values_[index]; }
  /// Whether no value is known.
  [[nodiscard]] bool empty() const;

 private:
  std::array<double, kSignalCount> values_{};
};

/// A row as it is stored: eight bytes in which bit i stands for signal i, then each known signal as
/// a float, all in this machine's byte order.
std::string packed_signals(const SignalValues& values);
/// Empty if the bytes are not such a row.
SignalValues unpacked_signals(std::string_view bytes);

}  // namespace linkhealth
