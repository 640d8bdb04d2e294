#include "model/counters.h"

#include <algorithm>
#include <array>

namespace linkhealth {

namespace {

using enum CounterSource;
using enum CounterEnd;
using enum CounterPlace;

// Classic PMA widths: IBTA vol. 1, 16.1.3.5 (PortCounters). hw_counters: drivers/infiniband/hw/mlx5/counters.c,
// bnxt_re/hw_counters.c, sw/rxe/rxe_hw_counters.c. ethtool: include/uapi/linux/ethtool_netlink.h. Where the hardware's
// width is not documented, the row says kUnknown and a decrease counts as a reset.
constexpr auto kTable = std::to_array<CounterInfo>({
    {"VL15_dropped", kIbPort, 16, kSaturates, kHere, "management packets dropped for want of buffers"},
    {"completer_retry_err", kIbHw, 64, kUnknown, kEndToEnd, "retries of the requester (rxe)"},
    {"duplicate_request", kIbHw, 64, kUnknown, kEndToEnd, "requests received twice: an ack was lost"},
    {"excessive_buffer_overrun_errors", kIbPort, 4, kSaturates, kHere, "flow-control periods with buffer overrun"},
    {"fec_corrected_bits", kEthtoolFec, 64, kWraps, kHere, "bits corrected by FEC"},
    {"fec_corrected_blocks", kEthtoolFec, 64, kWraps, kHere, "FEC codewords corrected"},
    {"fec_uncorrectable_blocks", kEthtoolFec, 64, kWraps, kHere, "FEC codewords lost: data was lost"},
    {"implied_nak_seq_err", kIbHw, 64, kUnknown, kEndToEnd, "an ack implied that a packet was lost"},
    {"link_down_events_phy", kEthtoolDriver, 32, kWraps, kHere, "link losses counted by the PHY"},
    {"link_downed", kIbPort, 8, kSaturates, kHere, "the link went down after failed recovery"},
    {"link_error_recovery", kIbPort, 8, kSaturates, kHere, "the link retrained without going down"},
    {"local_ack_timeout_err", kIbHw, 64, kUnknown, kEndToEnd, "the requester's ack timer expired"},
    {"local_link_integrity_errors", kIbPort, 4, kSaturates, kHere, "local physical errors exceeded the threshold"},
    {"mac_FrameCheckSequenceErrors", kEthtoolStd, 64, kWraps, kHere, "frames with a bad FCS"},
    {"multicast_rcv_packets", kIbPort, 64, kWraps, kTraffic, "multicast packets received"},
    {"multicast_xmit_packets", kIbPort, 64, kWraps, kTraffic, "multicast packets sent"},
    {"netdev_rx_bytes", kNetdev, 64, kWraps, kTraffic, "octets received by the netdev"},
    {"netdev_rx_crc_errors", kNetdev, 64, kWraps, kHere, "frames with a bad CRC"},
    {"netdev_rx_dropped", kNetdev, 64, kWraps, kHost, "packets received and dropped"},
    {"netdev_rx_errors", kNetdev, 64, kWraps, kHere, "bad packets received"},
    {"netdev_rx_packets", kNetdev, 64, kWraps, kTraffic, "packets received by the netdev"},
    {"netdev_tx_bytes", kNetdev, 64, kWraps, kTraffic, "octets sent by the netdev"},
    {"netdev_tx_dropped", kNetdev, 64, kWraps, kEgress, "packets dropped on the way out"},
    {"netdev_tx_errors", kNetdev, 64, kWraps, kEgress, "packets that could not be sent"},
    {"netdev_tx_packets", kNetdev, 64, kWraps, kTraffic, "packets sent by the netdev"},
    {"np_cnp_sent", kIbHw, 64, kUnknown, kEndToEnd, "congestion notifications sent"},
    {"np_ecn_marked_roce_packets", kIbHw, 64, kUnknown, kEndToEnd, "RoCE packets received with a congestion mark"},
    {"out_of_buffer", kIbHw, 64, kUnknown, kHost, "packets dropped for want of a receive work request"},
    {"out_of_seq_request", kIbHw, 64, kUnknown, kEndToEnd, "requests received out of sequence (rxe)"},
    {"out_of_sequence", kIbHw, 64, kUnknown, kEndToEnd, "packets received out of sequence"},
    {"outbound_pci_stalled_wr", kEthtoolDriver, 64, kUnknown, kHost, "seconds in which PCIe writes stalled, percent"},
    {"packet_seq_err", kIbHw, 64, kUnknown, kEndToEnd, "sequence NAKs received: a packet sent was lost"},
    {"pause_rx_pause_frames", kEthtoolStd, 64, kWraps, kEndToEnd, "pause frames received: the network can't absorb us"},
    {"pause_tx_pause_frames", kEthtoolStd, 64, kWraps, kHost, "pause frames sent: this host can't absorb the network"},
    {"phy_SymbolErrorDuringCarrier", kEthtoolStd, 64, kWraps, kHere, "symbol errors that were not corrected"},
    {"port_rcv_constraint_errors", kIbPort, 8, kSaturates, kHere, "packets refused by a partition or raw filter"},
    {"port_rcv_data", kIbPort, 64, kWraps, kTraffic, "data received, in units of four octets"},
    {"port_rcv_errors", kIbPort, 16, kSaturates, kHere, "packets received with a local physical error"},
    {"port_rcv_packets", kIbPort, 64, kWraps, kTraffic, "packets received"},
    {"port_rcv_remote_physical_errors", kIbPort, 16, kSaturates, kForwarded, "packets that a switch had marked bad"},
    {"port_rcv_switch_relay_errors", kIbPort, 16, kSaturates, kForwarded, "packets that a switch could not relay"},
    {"port_xmit_constraint_errors", kIbPort, 8, kSaturates, kEgress, "packets not sent: partition or raw filter"},
    {"port_xmit_data", kIbPort, 64, kWraps, kTraffic, "data sent, in units of four octets"},
    {"port_xmit_discards", kIbPort, 16, kSaturates, kEgress, "packets discarded on the way out"},
    {"port_xmit_packets", kIbPort, 64, kWraps, kTraffic, "packets sent"},
    {"port_xmit_wait", kIbPort, 32, kSaturates, kEgress, "ticks with data to send and no credits"},
    {"rcvd_pkts", kIbHw, 64, kUnknown, kTraffic, "packets received (rxe)"},
    {"rcvd_seq_err", kIbHw, 64, kUnknown, kEndToEnd, "sequence NAKs received (rxe)"},
    {"retry_exceeded_err", kIbHw, 64, kUnknown, kEndToEnd, "queue pairs lost after all retries (rxe)"},
    {"rnr_nak_retry_err", kIbHw, 64, kUnknown, kHost, "the peer's receiver was not ready"},
    {"roce_adp_retrans", kIbHw, 64, kUnknown, kEndToEnd, "adaptive retransmissions"},
    {"roce_adp_retrans_to", kIbHw, 64, kUnknown, kEndToEnd, "adaptive retransmission timeouts"},
    {"roce_slow_restart", kIbHw, 64, kUnknown, kEndToEnd, "slow restarts of a RoCE flow"},
    {"rp_cnp_handled", kIbHw, 64, kUnknown, kEndToEnd, "congestion notifications that throttled us"},
    {"rp_cnp_ignored", kIbHw, 64, kUnknown, kEndToEnd, "congestion notifications ignored"},
    {"rx_bits_phy", kEthtoolDriver, 64, kWraps, kTraffic, "bits received by the PHY"},
    {"rx_corrected_bits_phy", kEthtoolDriver, 64, kWraps, kHere, "bits corrected by FEC (mlx5)"},
    {"rx_discards_phy", kEthtoolDriver, 64, kWraps, kHost, "packets discarded: the NIC had no buffer"},
    {"rx_pcs_symbol_err_phy", kEthtoolDriver, 64, kWraps, kHere, "symbol errors that were not corrected (mlx5)"},
    {"sent_pkts", kIbHw, 64, kUnknown, kTraffic, "packets sent (rxe)"},
    {"symbol_error", kIbPort, 16, kSaturates, kHere, "symbol errors not corrected: what the application sees"},
    {"unicast_rcv_packets", kIbPort, 64, kWraps, kTraffic, "unicast packets received"},
    {"unicast_xmit_packets", kIbPort, 64, kWraps, kTraffic, "unicast packets sent"},
});

constexpr bool by_name(const CounterInfo& a, const CounterInfo& b) { return a.name < b.name; }

constexpr bool strictly_ordered() {
  for (std::size_t i = 1; i < kTable.size(); ++i)
    if (!by_name(kTable[i - 1], kTable[i])) return false;
  return true;
}
static_assert(strictly_ordered(), "the counter table is ordered by name (ASCII), without duplicates");

/// Where `key` is, or belongs, in a vector of pairs ordered by first.
template <typename Vector, typename Key>
auto position(Vector& entries, const Key& key) {
  return std::lower_bound(entries.begin(), entries.end(), key,
                          [](const auto& entry, const auto& wanted) { return entry.first < wanted; });
}

template <typename Vector, typename Key>
void put(Vector& entries, const Key& key, std::uint64_t value) {
  // Readers give most values in order: at the end, or one after the other.
  if (entries.empty() || entries.back().first < key) {
    entries.emplace_back(key, value);
    return;
  }
  const auto at = position(entries, key);
  if (at != entries.end() && at->first == key) {
    at->second = value;
  } else {
    entries.emplace(at, key, value);
  }
}

/// Both are in order. Mostly the same keys come again: then nothing is moved or allocated.
template <typename Vector>
void merge_ordered(Vector& entries, const Vector& newer) {
  if (entries.empty()) {
    entries = newer;
    return;
  }
  auto at = entries.begin();
  for (const auto& [key, value] : newer) {
    while (at != entries.end() && at->first < key) ++at;
    if (at == entries.end() || at->first != key) at = entries.emplace(at, key, value);
    at->second = value;
  }
}

template <typename Vector, typename Key>
std::optional<std::uint64_t> look_up(const Vector& entries, const Key& key) {
  const auto at = position(entries, key);
  if (at == entries.end() || at->first != key) return std::nullopt;
  return at->second;
}

}  // namespace

std::span<const CounterInfo> known_counters() { return kTable; }

std::optional<CounterId> find_counter(std::string_view name) {
  const auto at = std::lower_bound(kTable.begin(), kTable.end(), name,
                                   [](const CounterInfo& row, std::string_view wanted) { return row.name < wanted; });
  if (at == kTable.end() || at->name != name) return std::nullopt;
  return static_cast<CounterId>(at - kTable.begin());
}

void Counters::set(std::string_view name, std::uint64_t value) {
  if (const auto id = find_counter(name)) {
    set(*id, value);
  } else {
    put(other_, std::string(name), value);
  }
}

void Counters::set(CounterId id, std::uint64_t value) { put(known_, id, value); }

void Counters::merge(const Counters& newer) {
  merge_ordered(known_, newer.known_);
  merge_ordered(other_, newer.other_);
}

std::optional<std::uint64_t> Counters::get(std::string_view name) const {
  if (const auto id = find_counter(name)) return get(*id);
  return look_up(other_, std::string(name));
}

std::optional<std::uint64_t> Counters::get(CounterId id) const { return look_up(known_, id); }

}  // namespace linkhealth
