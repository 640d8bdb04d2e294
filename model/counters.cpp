#include "model/counters.h"

#include <algorithm>
#include <array>

namespace linkhealth {

namespace {

using enum CounterSource;
using enum CounterEnd;
using enum CounterPlace;

// Classic PMA widths: IBTA vol. 1, 16.1.3.5 (PortCounters). hw_counters: drivers/infiniband/hw/mlx5/counters.c,
// bnxt_re/hw_counters.c, irdma/verbs.c, efa/efa_verbs.c, sw/rxe/rxe_hw_counters.c. Drivers' own statistics:
// drivers/net/ethernet/{mellanox/mlx5/core/en_stats.c, broadcom/bnxt/bnxt_ethtool.c, intel/ice/ice_ethtool.c,
// pensando/ionic/ionic_stats.c}. ethtool: include/uapi/linux/ethtool_netlink.h. Where the hardware's
// width is not documented, the row says kUnknown and a decrease counts as a reset.
constexpr auto kTable = std::to_array<CounterInfo>({
    {"VL15_dropped", kIbPort, 16, kSaturates, kHere, "management packets dropped for want of buffers"},
    {"ack_deferred", kIbHw, 64, kUnknown, kEndToEnd, "acks put off (rxe)"},
    {"cnpHandled", kIbHw, 64, kUnknown, kEndToEnd, "congestion notifications that throttled us (irdma)"},
    {"cnpIgnored", kIbHw, 64, kUnknown, kEndToEnd, "congestion notifications ignored (irdma)"},
    {"cnpSent", kIbHw, 64, kUnknown, kEndToEnd, "congestion notifications sent (irdma)"},
    {"completer_retry_err", kIbHw, 64, kUnknown, kEndToEnd, "retries of the requester (rxe)"},
    {"dup_req", kIbHw, 64, kUnknown, kEndToEnd, "requests received twice (bnxt_re, old name)"},
    {"duplicate_request", kIbHw, 64, kUnknown, kEndToEnd, "requests received twice: an ack was lost"},
    {"excessive_buffer_overrun_errors", kIbPort, 4, kSaturates, kHere, "flow-control periods with buffer overrun"},
    {"fec_corrected_bits", kEthtoolFec, 64, kWraps, kHere, "bits corrected by FEC"},
    {"fec_corrected_blocks", kEthtoolFec, 64, kWraps, kHere, "FEC codewords corrected"},
    {"fec_uncorrectable_blocks", kEthtoolFec, 64, kWraps, kHere, "FEC codewords lost: data was lost"},
    {"frames_rx_bad_fcs", kEthtoolDriver, 64, kWraps, kHere, "frames with a bad FCS (ionic)"},
    {"illegal_bytes.nic", kEthtoolDriver, 64, kWraps, kHere, "bytes with illegal symbols (ice)"},
    {"impaired_remote_conn_events", kIbHw, 64, kUnknown, kEndToEnd,
     "connections to a remote end that became slow (efa)"},
    {"implied_nak_seq_err", kIbHw, 64, kUnknown, kEndToEnd, "an ack implied that a packet was lost"},
    {"link_down_events", kEthtoolDriver, 64, kUnknown, kHere, "link losses (bnxt)"},
    {"link_down_events.nic", kEthtoolDriver, 64, kUnknown, kHere, "link losses (ice)"},
    {"link_down_events_phy", kEthtoolDriver, 32, kWraps, kHere, "link losses counted by the PHY"},
    {"link_downed", kIbPort, 8, kSaturates, kHere, "the link went down after failed recovery"},
    {"link_error_recovery", kIbPort, 8, kSaturates, kHere, "the link retrained without going down"},
    {"link_ext_down_count", kEthtoolStd, 32, kUnknown, kHere, "link losses counted by the driver or PHY"},
    {"local_ack_timeout_err", kIbHw, 64, kUnknown, kEndToEnd, "the requester's ack timer expired"},
    {"local_link_integrity_errors", kIbPort, 4, kSaturates, kHere, "local physical errors exceeded the threshold"},
    {"mac_FrameCheckSequenceErrors", kEthtoolStd, 64, kWraps, kHere, "frames with a bad FCS"},
    {"mac_local_faults.nic", kEthtoolDriver, 64, kWraps, kHere, "local faults: this receiver lost the signal (ice)"},
    {"mac_remote_faults.nic", kEthtoolDriver, 64, kWraps, kForwarded,
     "remote faults: the far receiver lost our signal (ice)"},
    {"max_retry_exceeded", kIbHw, 64, kUnknown, kEndToEnd, "queue pairs lost after all retries (bnxt_re)"},
    {"module_bad_shorted", kEthtoolDriver, 64, kUnknown, kHere, "times a module was bad or shorted (mlx5)"},
    {"module_bus_stuck", kEthtoolDriver, 64, kUnknown, kHere, "times the module's I2C bus was stuck (mlx5)"},
    {"module_high_temp", kEthtoolDriver, 64, kUnknown, kHere, "times the module was too hot (mlx5)"},
    {"module_unplug", kEthtoolDriver, 64, kUnknown, kHere, "times the module was pulled out (mlx5)"},
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
    {"oos_drop_count", kIbHw, 64, kUnknown, kEndToEnd, "packets received out of sequence (bnxt_re, old name)"},
    {"out_of_buffer", kIbHw, 64, kUnknown, kHost, "packets dropped for want of a receive work request"},
    {"out_of_seq_request", kIbHw, 64, kUnknown, kEndToEnd, "requests received out of sequence (rxe)"},
    {"out_of_sequence", kIbHw, 64, kUnknown, kEndToEnd, "packets received out of sequence"},
    {"outbound_pci_buffer_overflow", kEthtoolDriver, 64, kWraps, kHost,
     "PCIe: packets dropped, the buffer towards the host overflowed (mlx5)"},
    {"outbound_pci_stalled_rd", kEthtoolDriver, 32, kLevel, kHost,
     "PCIe reads stalled, percent of the last second (mlx5)"},
    {"outbound_pci_stalled_rd_events", kEthtoolDriver, 32, kUnknown, kHost,
     "seconds in which PCIe reads stalled for long (mlx5)"},
    {"outbound_pci_stalled_wr", kEthtoolDriver, 32, kLevel, kHost,
     "PCIe writes stalled, percent of the last second (mlx5)"},
    {"outbound_pci_stalled_wr_events", kEthtoolDriver, 32, kUnknown, kHost,
     "seconds in which PCIe writes stalled for long (mlx5)"},
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
    {"rcvd_rnr_err", kIbHw, 64, kUnknown, kHost, "the peer's receiver was not ready (rxe)"},
    {"rcvd_seq_err", kIbHw, 64, kUnknown, kEndToEnd, "sequence NAKs received (rxe)"},
    {"rdma_recvs", kIbHw, 64, kUnknown, kTraffic, "RDMA receives (rxe)"},
    {"rdma_sends", kIbHw, 64, kUnknown, kTraffic, "RDMA sends (rxe)"},
    {"recoverable_errors", kIbHw, 64, kUnknown, kHost, "errors that were recovered from (bnxt_re)"},
    {"req_cqe_error", kIbHw, 64, kUnknown, kHost, "requester completions with an error"},
    {"req_cqe_flush_error", kIbHw, 64, kUnknown, kHost, "requester completions flushed"},
    {"req_remote_access_errors", kIbHw, 64, kUnknown, kHost, "access errors that the peer reported"},
    {"req_remote_invalid_request", kIbHw, 64, kUnknown, kHost, "invalid requests that the peer reported"},
    {"req_rnr_retries_exceeded", kIbHw, 64, kUnknown, kHost,
     "queue pairs lost: the peer's receiver was never ready (mlx5)"},
    {"req_transport_retries_exceeded", kIbHw, 64, kUnknown, kEndToEnd, "queue pairs lost after all retries (mlx5)"},
    {"res_mem_err", kIbHw, 64, kUnknown, kHost, "memory errors (bnxt_re)"},
    {"res_rx_pci_err", kIbHw, 64, kUnknown, kHost, "PCIe errors on the way in (bnxt_re)"},
    {"res_tx_pci_err", kIbHw, 64, kUnknown, kHost, "PCIe errors on the way out (bnxt_re)"},
    {"resp_cqe_error", kIbHw, 64, kUnknown, kHost, "responder completions with an error"},
    {"resp_cqe_flush_error", kIbHw, 64, kUnknown, kHost, "responder completions flushed"},
    {"resp_local_length_error", kIbHw, 64, kUnknown, kHost, "responder found a wrong length"},
    {"resp_remote_access_errors", kIbHw, 64, kUnknown, kHost, "responder refused an access"},
    {"retrans_bytes", kIbHw, 64, kUnknown, kEndToEnd, "octets sent again (efa)"},
    {"retrans_pkts", kIbHw, 64, kUnknown, kEndToEnd, "packets sent again (efa)"},
    {"retrans_timeout_events", kIbHw, 64, kUnknown, kEndToEnd, "retransmissions after a timeout (efa)"},
    {"retry_exceeded_err", kIbHw, 64, kUnknown, kEndToEnd, "queue pairs lost after all retries (rxe)"},
    {"retry_rnr_exceeded_err", kIbHw, 64, kUnknown, kHost,
     "queue pairs lost: the peer's receiver was never ready (rxe)"},
    {"rnr_nak_retry_err", kIbHw, 64, kUnknown, kHost, "the peer's receiver was not ready"},
    {"roce_adp_retrans", kIbHw, 64, kUnknown, kEndToEnd, "adaptive retransmissions"},
    {"roce_adp_retrans_to", kIbHw, 64, kUnknown, kEndToEnd, "adaptive retransmission timeouts"},
    {"roce_slow_restart", kIbHw, 64, kUnknown, kEndToEnd, "slow restarts of a RoCE flow"},
    {"roce_slow_restart_cnps", kIbHw, 64, kUnknown, kEndToEnd, "congestion notifications sent at a slow restart"},
    {"roce_slow_restart_trans", kIbHw, 64, kUnknown, kEndToEnd, "transitions into slow restart"},
    {"rp_cnp_handled", kIbHw, 64, kUnknown, kEndToEnd, "congestion notifications that throttled us"},
    {"rp_cnp_ignored", kIbHw, 64, kUnknown, kEndToEnd, "congestion notifications ignored"},
    {"rx_atomic_requests", kIbHw, 64, kUnknown, kTraffic, "atomic operations received"},
    {"rx_bits", kEthtoolDriver, 64, kWraps, kTraffic, "bits received by the PHY (bnxt)"},
    {"rx_bits_phy", kEthtoolDriver, 64, kWraps, kTraffic, "bits received by the PHY"},
    {"rx_bytes", kIbHw, 64, kUnknown, kTraffic, "octets received"},
    {"rx_corrected_bits", kEthtoolDriver, 64, kWraps, kHere, "bits corrected by FEC (bnxt)"},
    {"rx_corrected_bits_phy", kEthtoolDriver, 64, kWraps, kHere, "bits corrected by FEC (mlx5)"},
    {"rx_crc_errors.nic", kEthtoolDriver, 64, kWraps, kHere, "frames with a bad CRC (ice)"},
    {"rx_crc_errors_phy", kEthtoolDriver, 64, kWraps, kHere, "frames with a bad FCS (mlx5)"},
    {"rx_discards_phy", kEthtoolDriver, 64, kWraps, kHost, "packets discarded: the NIC had no buffer"},
    {"rx_dropped.nic", kEthtoolDriver, 64, kWraps, kHost, "packets discarded: the NIC had no buffer (ice)"},
    {"rx_drops", kIbHw, 64, kUnknown, kHost, "packets received and dropped (efa)"},
    {"rx_err_lane_0_phy", kEthtoolDriver, 64, kWraps, kHere, "bits corrected by FEC on lane 1 (mlx5)"},
    {"rx_err_lane_1_phy", kEthtoolDriver, 64, kWraps, kHere, "bits corrected by FEC on lane 2 (mlx5)"},
    {"rx_err_lane_2_phy", kEthtoolDriver, 64, kWraps, kHere, "bits corrected by FEC on lane 3 (mlx5)"},
    {"rx_err_lane_3_phy", kEthtoolDriver, 64, kWraps, kHere, "bits corrected by FEC on lane 4 (mlx5)"},
    {"rx_fcs_err_frames", kEthtoolDriver, 64, kWraps, kHere, "frames with a bad FCS (bnxt)"},
    {"rx_fec_corrected_blocks", kEthtoolDriver, 64, kWraps, kHere, "FEC codewords corrected (bnxt)"},
    {"rx_fec_uncorrectable_blocks", kEthtoolDriver, 64, kWraps, kHere, "FEC codewords lost (bnxt)"},
    {"rx_global_pause", kEthtoolDriver, 64, kWraps, kEndToEnd, "pause frames received (mlx5)"},
    {"rx_global_pause_duration", kEthtoolDriver, 64, kWraps, kEndToEnd,
     "microseconds that transmission was paused (mlx5)"},
    {"rx_global_pause_transition", kEthtoolDriver, 64, kWraps, kEndToEnd, "transitions into pause (mlx5)"},
    {"rx_good_bytes", kIbHw, 64, kUnknown, kTraffic, "RoCE octets received (bnxt_re)"},
    {"rx_good_pkts", kIbHw, 64, kUnknown, kTraffic, "RoCE packets received (bnxt_re)"},
    {"rx_icrc_encapsulated", kIbHw, 64, kUnknown, kEndToEnd, "RoCE packets with a bad ICRC in a good frame"},
    {"rx_in_range_len_errors_phy", kEthtoolDriver, 64, kWraps, kHere, "frames whose length field is wrong (mlx5)"},
    {"rx_out_of_buffer", kIbHw, 64, kUnknown, kHost,
     "packets dropped for want of a receive work request (bnxt_re, old name)"},
    {"rx_pci_signal_integrity", kEthtoolDriver, 64, kWraps, kHost, "PCIe: signal errors towards the NIC (mlx5)"},
    {"rx_pcs_symbol_err", kEthtoolDriver, 64, kWraps, kHere, "symbol errors that were not corrected (bnxt)"},
    {"rx_pcs_symbol_err_phy", kEthtoolDriver, 64, kWraps, kHere, "symbol errors that were not corrected (mlx5)"},
    {"rx_pkts", kIbHw, 64, kUnknown, kTraffic, "packets received"},
    {"rx_read_requests", kIbHw, 64, kUnknown, kTraffic, "RDMA reads received"},
    {"rx_symbol_err_phy", kEthtoolDriver, 64, kWraps, kHere, "frames with a symbol error (mlx5)"},
    {"rx_write_requests", kIbHw, 64, kUnknown, kTraffic, "RDMA writes received"},
    {"send_err", kIbHw, 64, kUnknown, kHost, "packets that could not be sent (rxe)"},
    {"send_rnr_err", kIbHw, 64, kUnknown, kHost, "this receiver was not ready (rxe)"},
    {"sent_pkts", kIbHw, 64, kUnknown, kTraffic, "packets sent (rxe)"},
    {"seq_err_naks_rcvd", kIbHw, 64, kUnknown, kEndToEnd, "sequence NAKs received (bnxt_re)"},
    {"symbol_error", kIbPort, 16, kSaturates, kHere, "symbol errors not corrected: what the application sees"},
    {"to_retransmits", kIbHw, 64, kUnknown, kEndToEnd, "retransmissions after a timeout (bnxt_re)"},
    {"tx_bytes", kIbHw, 64, kUnknown, kTraffic, "octets sent"},
    {"tx_discards_phy", kEthtoolDriver, 64, kWraps, kEgress, "packets discarded on the way out (mlx5)"},
    {"tx_errors_phy", kEthtoolDriver, 64, kWraps, kEgress, "packets that could not be sent (mlx5)"},
    {"tx_global_pause", kEthtoolDriver, 64, kWraps, kHost, "pause frames sent (mlx5)"},
    {"tx_global_pause_duration", kEthtoolDriver, 64, kWraps, kHost, "microseconds that the far end was paused (mlx5)"},
    {"tx_pci_signal_integrity", kEthtoolDriver, 64, kWraps, kHost, "PCIe: signal errors from the NIC (mlx5)"},
    {"tx_pkts", kIbHw, 64, kUnknown, kTraffic, "packets sent"},
    {"unicast_rcv_packets", kIbPort, 64, kWraps, kTraffic, "unicast packets received"},
    {"unicast_xmit_packets", kIbPort, 64, kWraps, kTraffic, "unicast packets sent"},
    {"unresponsive_remote_events", kIbHw, 64, kUnknown, kEndToEnd, "the remote end did not answer (efa)"},
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
