#include "model/flows.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

using enum Flow;
using enum Combine;

constexpr std::array<FlowInfo, kFlowCount> kTable{{
    {kCorrectedBits,
     "corrected bits",
     kFirst,
     {"fec_corrected_bits", "rx_corrected_bits_phy"},
     "bits that FEC corrected: always some on PAM4"},
    {kCorrectedBlocks, "corrected blocks", kFirst, {"fec_corrected_blocks"}, "codewords that FEC corrected"},
    {kUncorrectableBlocks, "uncorrectable blocks", kFirst, {"fec_uncorrectable_blocks"}, "codewords lost"},
    {kSymbolErrors,
     "symbol errors",
     kMost,
     {"symbol_error", "phy_SymbolErrorDuringCarrier", "rx_pcs_symbol_err_phy"},
     "symbols that were not corrected"},
    {kFrameErrors,
     "bad frames",
     kMost,
     {"mac_FrameCheckSequenceErrors", "port_rcv_errors", "netdev_rx_crc_errors"},
     "frames received damaged"},
    {kLinkRecoveries, "link recoveries", kFirst, {"link_error_recovery"}, "retrained without going down"},
    {kRxOctets, "octets received", kMost, {"port_rcv_data", "netdev_rx_bytes"}, "traffic in"},
    {kTxOctets, "octets sent", kMost, {"port_xmit_data", "netdev_tx_bytes"}, "traffic out"},
    {kCongestionMarks,
     "congestion marks",
     kSum,
     {"np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled"},
     "ECN marks and congestion notifications"},
    {kPauseReceived, "pause frames received", kFirst, {"pause_rx_pause_frames"}, "the network can't absorb us"},
    {kPauseSent, "pause frames sent", kFirst, {"pause_tx_pause_frames"}, "this host can't absorb the network"},
    {kTransmitWait, "transmit wait", kFirst, {"port_xmit_wait"}, "ticks with data and no credits"},
    {kHostDrops,
     "host drops",
     kSum,
     {"out_of_buffer", "rx_discards_phy", "rnr_nak_retry_err"},
     "packets that this host had no buffer for"},
    {kRetries,
     "retries",
     kSum,
     // Not out_of_sequence: adaptive routing reorders without losing anything.
     {"packet_seq_err", "local_ack_timeout_err", "implied_nak_seq_err", "duplicate_request", "roce_adp_retrans",
      "rcvd_seq_err", "completer_retry_err"},
     "transport noticed that packets were lost"},
    {kForwardedErrors,
     "forwarded errors",
     kSum,
     {"port_rcv_remote_physical_errors"},
     "packets that a switch had marked bad before"},
    {kPcieStalls,
     "PCIe stalls",
     kFirst,
     {"outbound_pci_stalled_wr_events", "outbound_pci_stalled_wr"},
     "the NIC waits for PCIe credits"},
    {kTransmitDiscards, "transmit discards", kFirst, {"port_xmit_discards"}, "packets dropped on the way out"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kFlowCount; ++i)
    if (static_cast<std::size_t>(kTable[i].flow) != i) return false;
  return true;
}
static_assert(in_order(), "the flow table stands in the order of Flow");

constexpr std::uint64_t all_ones(std::uint8_t width_bits) {
  return width_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width_bits) - 1;
}

/// The counters of each flow as ids, found once.
struct Sources {
  std::array<std::array<std::optional<CounterId>, 8>, kFlowCount> ids{};
  Sources() {
    for (std::size_t f = 0; f < kFlowCount; ++f)
      for (std::size_t i = 0; i < kTable[f].counters.size(); ++i)
        if (!kTable[f].counters[i].empty()) ids[f][i] = find_counter(kTable[f].counters[i]);
  }
};

/// Four octets are counted as one by the InfiniBand data counters (IBTA vol. 1, 16.1.3.5).
double unit_of(std::string_view counter) {
  return counter == "port_rcv_data" || counter == "port_xmit_data" ? 4.0 : 1.0;
}

/// A counter of known width that went on at zero. A reset looks alike, but then the step is seldom the shorter way.
bool wrapped(const CounterInfo& info, std::uint64_t from, std::uint64_t to) {
  if (info.end != CounterEnd::kWraps || info.width_bits >= 64 || from > all_ones(info.width_bits)) return false;
  const std::uint64_t half = all_ones(info.width_bits) / 2;
  return from > half && ((to - from) & all_ones(info.width_bits)) <= half;
}

bool any_went_down(const Counters& before, const Counters& after) {
  auto a = before.known().begin();
  for (const auto& [id, value] : after.known()) {
    while (a != before.known().end() && a->first < id) ++a;
    if (a == before.known().end()) return false;
    if (a->first != id || value >= a->second) continue;
    const CounterInfo& info = known_counters()[id];
    if (info.end != CounterEnd::kLevel && !wrapped(info, a->second, value)) return true;
  }
  return false;
}

/// NaN where it can't be known.
double increase_of(CounterId id, const Counters& before, const Counters& after) {
  const auto from = before.get(id);
  const auto to = after.get(id);
  if (!from || !to) return kUnknownValue;
  const CounterInfo& info = known_counters()[id];
  if (*to < *from)
    return wrapped(info, *from, *to) ? static_cast<double>((*to - *from) & all_ones(info.width_bits)) : kUnknownValue;
  // Beyond the classic width the kernel reads the 64-bit twin, which does not stick.
  if (info.end == CounterEnd::kSaturates && *to == all_ones(info.width_bits)) return kUnknownValue;
  return static_cast<double>(*to - *from) * unit_of(info.name);
}

/// What is judged by how much of it there is in a time, not by whether there is any.
bool is_rate(Flow flow) {
  return flow == kCorrectedBits || flow == kCorrectedBlocks || flow == kRxOctets || flow == kTxOctets ||
         flow == kTransmitWait;
}

double combined(Combine how, double sum, double next) {
  if (std::isnan(next)) return sum;
  if (std::isnan(sum)) return next;
  switch (how) {
    case kSum:
      return sum + next;
    case kFirst:
      return sum;
    case kMost:
      return std::max(sum, next);
  }
  return sum;
}

}  // namespace

std::span<const FlowInfo, kFlowCount> flow_table() { return kTable; }

FlowIncrease flow_increase(const Counters& before, const Counters& after, const CounterSpan& span) {
  static const Sources sources;
  FlowIncrease result;
  result.values.fill(kUnknownValue);
  result.reset = any_went_down(before, after);
  if (result.reset) return result;
  for (std::size_t f = 0; f < kFlowCount; ++f)
    for (const auto& id : sources.ids[f]) {
      if (!id) continue;
      double increase = increase_of(*id, before, after);
      if (span && is_rate(kTable[f].flow) && !std::isnan(increase)) increase /= std::max(span(*id), 1.0);
      result.values[f] = combined(kTable[f].combine, result.values[f], increase);
    }
  return result;
}

}  // namespace linkhealth
