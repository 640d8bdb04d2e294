#include "model/signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/text.h"

namespace linkhealth {

namespace {

using enum Signal;
using enum Aggregation;

constexpr double kRatio = 0;

/// Precision: modules report power in 0.1 uW, and 0.1 dB matters; laser current in 2 uA, and 1 %
/// matters; SFF-8636 gives temperature in 1/256 C with an accuracy of 3 C. Counters are whole
/// numbers.
std::array<SignalInfo, kSignalCount> make_table() {
  std::array<SignalInfo, kSignalCount> table{{
      {kCarrierUp, "carrier_up", 1, kMin, {}},
      {kSpeed, "speed_mbps", 100, kMin, {}},
      {kCarrierDowns, "carrier_downs", 1, kSum, {}},
      {kVoluntaryDowns, "voluntary_downs", 1, kSum, {}},
      {kPreFecBer, "pre_fec_ber", kRatio, kMax, {}},
      {kCorrectedBits, "corrected_bits", 1, kSum, Indicator::kCorrectedBits},
      {kUncorrectableBlocks, "uncorrectable_blocks", 1, kSum, Indicator::kUncorrectableBlocks},
      {kSymbolErrors, "symbol_errors", 1, kSum, Indicator::kSymbolErrors},
      {kFrameErrors, "frame_errors", 1, kSum, Indicator::kFrameErrors},
      {kLinkRecoveries, "link_recoveries", 1, kSum, Indicator::kLinkRecoveries},
      {kForwardedErrors, "forwarded_errors", 1, kSum, Indicator::kForwardedErrors},
      {kCongestionMarks, "congestion_marks", 1, kSum, Indicator::kCongestionMarks},
      {kPauseReceived, "pause_received", 1, kSum, Indicator::kPauseReceived},
      {kPauseSent, "pause_sent", 1, kSum, Indicator::kPauseSent},
      {kHostDrops, "host_drops", 1, kSum, Indicator::kHostDrops},
      {kRetries, "retries", 1, kSum, Indicator::kRetries},
      {kTransmitDiscards, "transmit_discards", 1, kSum, Indicator::kTransmitDiscards},
      {kRxTraffic, "rx_traffic_mbps", 1, kMean, {}},
      {kTxTraffic, "tx_traffic_mbps", 1, kMean, {}},
      {kRxPower, "rx_power_dbm", 0.01, kMin, {}},
      {kTxPower, "tx_power_dbm", 0.01, kMin, {}},
      {kTxBias, "tx_bias_ma", 0.01, kMax, {}},
      {kTemperature, "temperature_c", 0.1, kMax, {}},
      {kSupply, "supply_v", 0.001, kMin, {}},
      {kMediaEsnr, "media_esnr_db", 0.01, kMin, {}},
      {kFarRxPower, "far_rx_power_dbm", 0.01, kMin, {}},
      {kFarTxPower, "far_tx_power_dbm", 0.01, kMin, {}},
      {kFarTemperature, "far_temperature_c", 0.1, kMax, {}},
      {kNicTemperature, "nic_temperature_c", 0.1, kMax, {}},
      {kPcieErrors, "pcie_errors", 1, kSum, {}},
  }};
  for (std::size_t lane = 0; lane < kSignalLanes; ++lane)
    for (const auto& [first, name] : {std::pair(kRxPowerLane1, "rx_power_dbm"),
                                      {kTxPowerLane1, "tx_power_dbm"},
                                      {kTxBiasLane1, "tx_bias_ma"}}) {
      const std::size_t index = static_cast<std::size_t>(first) + lane;
      table[index] = {
          static_cast<Signal>(index), fmt::format("{}.{}", name, lane + 1), 0.01, kMean, {}};
    }
  return table;
}

static_assert(kSignalCount <= 64, "a stored row has a map of 64 bits");

}  // namespace

std::span<const SignalInfo, kSignalCount> signal_table() {
  static const auto kTable = make_table();
  return kTable;
}

std::optional<Signal> find_signal(std::string_view name) {
  const auto at = std::ranges::find(signal_table(), name, &SignalInfo::name);
  return at == signal_table().end() ? std::nullopt : std::optional(at->signal);
}

bool SignalValues::empty() const {
  return std::all_of(values_.begin(), values_.end(),
                     [](double value) { return std::isnan(value); });
}

double rounded(const SignalInfo& info, double value) {
  if (!std::isfinite(value)) return value;
  if (info.precision == kRatio) return parse_double(fmt::format("{:.3g}", value)).value_or(value);
  if (info.precision >= 1) return std::round(value / info.precision) * info.precision;
  // 0.01 is not exact as a double: dividing by the number of steps in 1 gives the nearest one.
  const double steps = std::round(1 / info.precision);
  return std::round(value * steps) / steps;
}

std::string packed_signals(const SignalValues& values) {
  std::uint64_t known = 0;
  std::string out(sizeof known, '\0');
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    const auto value = static_cast<float>(values[i]);
    if (!std::isfinite(value)) continue;
    known |= std::uint64_t{1} << i;
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::memcpy(out.data(), &known, sizeof known);
  return out;
}

SignalValues unpacked_signals(std::string_view bytes) {
  SignalValues values;
  std::uint64_t known = 0;
  if (bytes.size() < sizeof known) return values;
  std::memcpy(&known, bytes.data(), sizeof known);
  bytes.remove_prefix(sizeof known);
  const auto count = static_cast<std::size_t>(std::popcount(known));
  if (bytes.size() != count * sizeof(float) ||
      static_cast<std::size_t>(std::bit_width(known)) > kSignalCount)
    return values;
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    if ((known >> i & 1U) == 0) continue;
    float value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
    values[i] = value;
  }
  return values;
}

}  // namespace linkhealth
