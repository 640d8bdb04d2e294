#include "model/signals.h"

#include <algorithm>
#include <cmath>

#include "model/signal_blob.h"

namespace linkhealth {

namespace {

using enum Signal;
using enum SignalScale;
using enum SignalFold;

constexpr std::array<std::string_view, kSignalLanes> kRxLanes{
    "rx_power_dbm.1", "rx_power_dbm.2", "rx_power_dbm.3", "rx_power_dbm.4",
    "rx_power_dbm.5", "rx_power_dbm.6", "rx_power_dbm.7", "rx_power_dbm.8"};
constexpr std::array<std::string_view, kSignalLanes> kTxLanes{
    "tx_power_dbm.1", "tx_power_dbm.2", "tx_power_dbm.3", "tx_power_dbm.4",
    "tx_power_dbm.5", "tx_power_dbm.6", "tx_power_dbm.7", "tx_power_dbm.8"};
constexpr std::array<std::string_view, kSignalLanes> kBiasLanes{
    "tx_bias_ma.1", "tx_bias_ma.2", "tx_bias_ma.3", "tx_bias_ma.4",
    "tx_bias_ma.5", "tx_bias_ma.6", "tx_bias_ma.7", "tx_bias_ma.8"};

struct Row {
  Signal signal;
  std::string_view name;
  double quantum;
  SignalFold fold;
  std::optional<Indicator> flow = {};
  SignalScale scale = kLinear;
};

// Quanta: modules report power in 0.1 uW and 0.1 dB matters; a laser's current in 2 uA and 1 %
// matters; SFF-8636 gives temperature in 1/256 C with an accuracy of 3 C. One counts what is
// counted.
constexpr auto kPlain = std::to_array<Row>({
    {kCarrierUp, "carrier_up", 1, kLeast},
    {kSpeed, "speed_mbps", 100, kLeast},
    {kCarrierDowns, "carrier_downs", 1, kSum},
    {kVoluntaryDowns, "voluntary_downs", 1, kSum},
    {kPreFecBer, "pre_fec_ber", 0.01, kMost, {}, kErrorRatio},
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
    {kRxTraffic, "rx_traffic_mbps", 1, kMean},
    {kTxTraffic, "tx_traffic_mbps", 1, kMean},
    {kRxPower, "rx_power_dbm", 0.01, kLeast},
    {kTxPower, "tx_power_dbm", 0.01, kLeast},
    {kTxBias, "tx_bias_ma", 0.01, kMost},
    {kTemperature, "temperature_c", 0.1, kMost},
    {kSupply, "supply_v", 0.001, kLeast},
    {kMediaEsnr, "media_esnr_db", 0.01, kLeast},
    {kFarRxPower, "far_rx_power_dbm", 0.01, kLeast},
    {kFarTxPower, "far_tx_power_dbm", 0.01, kLeast},
    {kFarTemperature, "far_temperature_c", 0.1, kMost},
    {kNicTemperature, "nic_temperature_c", 0.1, kMost},
    {kPcieErrors, "pcie_errors", 1, kSum},
});
static_assert(kPlain.size() == static_cast<std::size_t>(kRxPowerLane1));

/// Lane 1 is close to the worst lane, each other lane to the one before it.
constexpr SignalInfo lane_row(Signal first, Signal worst, std::size_t lane, std::string_view name) {
  const auto index = static_cast<std::uint8_t>(static_cast<std::size_t>(first) + lane);
  const auto near =
      lane == 0 ? static_cast<std::uint8_t>(worst) : static_cast<std::uint8_t>(index - 1);
  return {static_cast<Signal>(index), name, kLinear, 0.01, kMean, near, std::nullopt};
}

constexpr std::array<SignalInfo, kSignalCount> make_table() {
  std::array<SignalInfo, kSignalCount> table{};
  for (std::size_t i = 0; i < kPlain.size(); ++i)
    table[i] = {kPlain[i].signal,  kPlain[i].name, kPlain[i].scale,
                kPlain[i].quantum, kPlain[i].fold, static_cast<std::uint8_t>(i),
                kPlain[i].flow};
  for (std::size_t lane = 0; lane < kSignalLanes; ++lane) {
    table[static_cast<std::size_t>(kRxPowerLane1) + lane] =
        lane_row(kRxPowerLane1, kRxPower, lane, kRxLanes[lane]);
    table[static_cast<std::size_t>(kTxPowerLane1) + lane] =
        lane_row(kTxPowerLane1, kTxPower, lane, kTxLanes[lane]);
    table[static_cast<std::size_t>(kTxBiasLane1) + lane] =
        lane_row(kTxBiasLane1, kTxBias, lane, kBiasLanes[lane]);
  }
  return table;
}
constexpr auto kTable = make_table();

constexpr bool in_order() {
  for (std::size_t i = 0; i < kSignalCount; ++i)
    if (static_cast<std::size_t>(kTable[i].signal) != i || kTable[i].near > i) return false;
  return true;
}
static_assert(
    in_order(),
    "the signal table stands in the order of Signal, and leans only on what comes before");

}  // namespace

std::span<const SignalInfo, kSignalCount> signal_table() { return kTable; }

std::optional<Signal> find_signal(std::string_view name) {
  const auto at = std::find_if(kTable.begin(), kTable.end(),
                               [name](const SignalInfo& row) { return row.name == name; });
  return at == kTable.end() ? std::nullopt : std::optional(at->signal);
}

bool SignalValues::empty() const {
  return std::all_of(values_.begin(), values_.end(),
                     [](double value) { return std::isnan(value); });
}

double kept_value(std::size_t index, double value) {
  const auto raw = signal_to_whole(index, value);
  return raw ? signal_from_whole(index, *raw) : kUnknownValue;
}

}  // namespace linkhealth
