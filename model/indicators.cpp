#include "model/indicators.h"

#include <algorithm>
#include <array>
#include <vector>

namespace linkhealth {

namespace {

using enum Indicator;
using enum Combine;
using enum Measure;

constexpr std::array<IndicatorInfo, kIndicatorCount> kTable{{
    {kCorrectedBits, "corrected bits", kMax, kRate,
     "fec_corrected_bits, rx_corrected_bits_phy, rx_corrected_bits"},
    {kCorrectedBlocks, "corrected blocks", kMax, kRate,
     "fec_corrected_blocks, rx_fec_corrected_blocks"},
    {kUncorrectableBlocks, "uncorrectable blocks", kMax, kCount,
     "fec_uncorrectable_blocks, rx_fec_uncorrectable_blocks"},
    {kSymbolErrors, "symbol errors", kMax, kCount,
     "symbol_error, phy_SymbolErrorDuringCarrier, rx_pcs_symbol_err_phy, rx_pcs_symbol_err, "
     "illegal_bytes.nic"},
    {kFrameErrors, "bad frames", kMax, kCount,
     "mac_FrameCheckSequenceErrors, port_rcv_errors, netdev_rx_crc_errors, "
     "rx_crc_errors_phy, rx_fcs_err_frames, rx_crc_errors.nic, frames_rx_bad_fcs"},
    {kLinkRecoveries, "link recoveries", kMax, kCount,
     "link_error_recovery, local_link_integrity_errors, total_success_recovery_phy"},
    // For InfiniBand, which has no carrier count (CarrierHistory).
    {kLinkDowns, "link downs", kMax, kCount, "link_downed"},
    // A netdev may not count RDMA traffic.
    {kRxOctets, "octets received", kMax, kRate,
     "port_rcv_data, mac_OctetsReceivedOK, netdev_rx_bytes, rdma_rx_bytes, ip4InOctets, "
     "ip6InOctets, rx_bytes, rx_roce_only_bytes, rcvd_bytes, rx_rdma_ucast_bytes"},
    {kTxOctets, "octets sent", kMax, kRate,
     "port_xmit_data, mac_OctetsTransmittedOK, netdev_tx_bytes, rdma_tx_bytes, "
     "ip4OutOctets, ip6OutOctets, tx_bytes, tx_roce_only_bytes, sent_bytes, tx_rdma_ucast_bytes"},
    // mlx5 and bnxt_re; bnxt_re by its old names; irdma; ionic. Not rp_cnp_handled of mlx5:
    // kCnpsHandled.
    {kCongestionMarks, "congestion marks", kSum, kRate,
     "np_cnp_sent, np_ecn_marked_roce_packets, np_cnp_pkts, tx_cnp_pkts, "
     "rx_ecn_marked_pkts, rx_cnp_pkts, cnpSent, RxECNMrkd, cnpHandled, tx_rdma_cnp_pkts, "
     "rx_rdma_ecn_pkts, rx_rdma_cnp_pkts"},
    // Per priority, for drivers that count only there.
    {kPauseReceived, "pause frames received", kMax, kRate,
     "pause_rx_pause_frames, rx_global_pause, rx_pause_frames, link_xoff_rx.nic, "
     "frames_rx_pause, rx_prio#_pause, rx_pfc_frames, rx_pfc_ena_frames_pri#, "
     "rx_priority_#_xoff.nic, frames_rx_pripause"},
    {kPauseSent, "pause frames sent", kMax, kRate,
     "pause_tx_pause_frames, tx_global_pause, tx_pause_frames, link_xoff_tx.nic, "
     "frames_tx_pause, tx_prio#_pause, tx_pfc_frames, tx_pfc_ena_frames_pri#, "
     "tx_priority_#_xoff.nic, frames_tx_pripause"},
    {kTransmitWait, "transmit wait", kMax, kRate, "port_xmit_wait"},
    // netdev_rx_missed_errors of mlx5 is rx_out_of_buffer; rx_discards_phy includes those of each
    // priority. RNR NAKs count only when sent (irdma; linux: rxe_resp.c, RESPST_ERR_RNR). A
    // received one, such as mlx5's and bnxt_re's rnr_nak_retry_err, means that the peer had no
    // receive work request; this host is fine.
    {kHostDrops, "host drops", kMax, kRate,
     "out_of_buffer, rx_discards_phy, RNR sent, send_rnr_err, rx_out_of_buffer, "
     "rx_dropped.nic, frames_rx_dropped, hw_rx_over_errors, "
     "mac_FramesLostDueToIntMACRcvError, netdev_rx_missed_errors, ip4InDiscards, "
     "ip6InDiscards, rx_prio#_discards, rx_prio#_buf_discard, rx_prio#_cong_discard, "
     "rx_discard_packets_cos#, resp_rx_outof_buf"},
    // Not out_of_sequence: adaptive routing reorders without losing anything. Of rxe rcvd_seq_err
    // and completer_retry_err, of bnxt_re by its old names seq_err_naks_rcvd to dup_req, of irdma
    // the last.
    {kRetries, "retries", kSum, kCount,
     "packet_seq_err, local_ack_timeout_err, implied_nak_seq_err, duplicate_request, "
     "roce_adp_retrans, rcvd_seq_err, completer_retry_err, seq_err_naks_rcvd, "
     "to_retransmits, missing_resp, dup_req, RetransSegs, tcpRetransSegs, "
     "Nak Sequence Error, Nak Sequence Error Implied, RTO, req_rx_pkt_seq_err, "
     "req_rx_impl_nak_seq_err, tx_rdma_ack_timeout, resp_rx_dup_request"},
    {kForwardedErrors, "forwarded errors", kSum, kCount,
     "port_rcv_remote_physical_errors, frames_rx_stomped_crc, rx_icrc_encapsulated, "
     "CRC errors"},
    {kPcieStalls, "PCIe stalls", kMax, kRate, "outbound_pci_stalled_wr_events"},
    {kTransmitDiscards, "transmit discards", kMax, kRate, "port_xmit_discards"},
    {kCardErrors, "card errors", kSum, kCount, "excessive_buffer_overrun_errors"},
    {kPcieDamage, "PCIe damage", kSum, kCount,
     "rx_pci_signal_integrity, tx_pci_signal_integrity, res_rx_pci_err, res_tx_pci_err"},
    {kModuleBusErrors, "module bus errors", kSum, kCount, "module_bus_stuck, module_bad_shorted"},
    {kModuleHeat, "module heat", kMax, kCount, "module_high_temp"},
    // rp_cnp_handled also counts those that ConnectX makes after a timeout, exactly as many as
    // roce_slow_restart_cnps (unionxic/rdma-fault-characterization, ConnectX-6).
    {kCnpsHandled, "congestion notifications handled", kMax, kRate, "rp_cnp_handled"},
    {kSlowRestarts, "slow restarts", kMax, kRate, "roce_slow_restart_cnps"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kIndicatorCount; ++i)
    if (static_cast<std::size_t>(kTable[i].indicator) != i) return false;
  return true;
}
static_assert(in_order(), "the indicator table has the order of Indicator");

std::vector<std::optional<Indicator>> find_indicators() {
  std::vector<std::optional<Indicator>> indicators(known_counters().size());
  for (const IndicatorInfo& info : kTable)
    for (const std::string& name : names_of(info))
      if (const auto id = find_counter(name)) indicators[*id] = info.indicator;
  return indicators;
}

}  // namespace

std::vector<std::string> names_of(const IndicatorInfo& info) {
  constexpr std::string_view kComma = ", ", kPriorities = "01234567";
  std::vector<std::string> names;
  for (std::string_view rest = info.counters; !rest.empty();) {
    const std::string name(rest.substr(0, rest.find(kComma)));
    rest.remove_prefix(std::min(rest.size(), name.size() + kComma.size()));
    const auto place = name.find('#');
    if (place == std::string::npos) names.push_back(name);
    for (const char priority : place == std::string::npos ? "" : kPriorities)
      names.emplace_back(name).replace(place, 1, 1, priority);
  }
  return names;
}

std::span<const IndicatorInfo, kIndicatorCount> indicator_table() { return kTable; }

std::optional<Indicator> indicator_of(CounterId id) {
  static const std::vector<std::optional<Indicator>> kIndicators = find_indicators();
  return kIndicators[id];
}

/// The data counters of InfiniBand count four octets as one (IBTA vol. 1, 16.1.3.5).
std::uint64_t unit_of(CounterId id) {
  const std::string_view name = known_counters()[id].name;
  return name == "port_rcv_data" || name == "port_xmit_data" ? 4 : 1;
}

bool is_saturated(const CounterInfo& info, std::uint64_t value) {
  return info.end == CounterEnd::kSaturates && value == (std::uint64_t{1} << info.width_bits) - 1;
}

std::vector<CounterId> saturated_counters(const Counters& counters) {
  std::vector<CounterId> saturated;
  for (const auto& [id, value] : counters.known())
    if (indicator_of(id) && is_saturated(known_counters()[id], value)) saturated.push_back(id);
  return saturated;
}

bool is_saturated_for(std::span<const CounterId> saturated, IndicatorSet indicators) {
  return std::ranges::any_of(saturated, [&](CounterId id) {
    const auto indicator = indicator_of(id);
    return indicator && indicators.has(*indicator);
  });
}

}  // namespace linkhealth
