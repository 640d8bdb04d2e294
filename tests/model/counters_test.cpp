#include "model/counters.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/indicators.h"

namespace linkhealth {
namespace {

const CounterInfo& row_of(std::string_view name) {
  return known_counters()[find_counter(name).value()];
}

TEST(Counters, AbsentIsNotZero) {
  Counters counters;
  EXPECT_FALSE(counters.get("symbol_error"));
  counters.set("symbol_error", 0);
  EXPECT_EQ(counters.get("symbol_error"), 0U);
}

TEST(Counters, UnknownNamesPassThrough) {
  Counters counters;
  counters.set("some_new_counter", 5);
  counters.set("link_downed", 1);
  EXPECT_EQ(counters.get("some_new_counter"), 5U);
  ASSERT_EQ(counters.other().size(), 1U);
  ASSERT_EQ(counters.known().size(), 1U);
  EXPECT_EQ(known_counters()[counters.known()[0].first].name, "link_downed");
}

TEST(Counters, MergeKeepsValuesThatTheNewerReadingLacks) {
  Counters old;
  old.set("symbol_error", 1);
  old.set("zz_private", 1);
  Counters newer;
  newer.set("symbol_error", 2);
  newer.set("aa_private", 3);
  old.merge(newer);
  EXPECT_EQ(old.get("symbol_error"), 2U);
  EXPECT_EQ(old.get("zz_private"), 1U);
  EXPECT_EQ(old.get("aa_private"), 3U);
  EXPECT_EQ(old.size(), 3U);
}

TEST(Counters, ClassicErrorCountersSaturateAtTheirIbtaWidth) {
  EXPECT_EQ(row_of("symbol_error").width_bits, 16);
  EXPECT_EQ(row_of("link_downed").width_bits, 8);
  EXPECT_EQ(row_of("local_link_integrity_errors").width_bits, 4);
  EXPECT_EQ(row_of("link_downed").end, CounterEnd::kSaturates);
  EXPECT_EQ(row_of("port_rcv_data").end, CounterEnd::kWraps);
}

TEST(Counters, RowsAreUniqueAndComplete) {
  std::string_view before;
  for (const CounterInfo& row : known_counters()) {
    EXPECT_LT(before, row.name);
    before = row.name;
    EXPECT_GT(row.width_bits, 0) << row.name;
    EXPECT_LE(row.width_bits, row.end == CounterEnd::kSaturates ? 63 : 64) << row.name;
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_EQ(row.reset == CounterReset::kNever, row.end == CounterEnd::kLevel) << row.name;
    EXPECT_EQ(row.reset == CounterReset::kByMad, row.source == CounterSource::kIbPort) << row.name;
    EXPECT_TRUE(row.end != CounterEnd::kSaturates || row.reset == CounterReset::kByMad)
        << row.name << ": stuck";
    EXPECT_TRUE(row.source != CounterSource::kEthtoolDriver || row.name.size() < 32)
        << row.name << ": longer than ETH_GSTRING_LEN";
  }
}

// The names as the drivers' sources write them, not as the table does: a misspelt row would look
// like a driver that has no such counter. The sources are named in model/counter_table.cpp. "#"
// stands for 0 to 7. Where a driver renamed a counter, both names are here.
constexpr std::string_view kMlx5QueueCounters =
    "rx_write_requests, rx_read_requests, rx_atomic_requests, rx_dct_connect, out_of_buffer, "
    "out_of_sequence, duplicate_request, rnr_nak_retry_err, packet_seq_err, implied_nak_seq_err, "
    "local_ack_timeout_err, resp_local_length_error, resp_cqe_error, req_cqe_error, "
    "req_remote_invalid_request, req_remote_access_errors, resp_remote_access_errors, "
    "resp_cqe_flush_error, req_cqe_flush_error, req_transport_retries_exceeded, "
    "req_rnr_retries_exceeded, roce_adp_retrans, roce_adp_retrans_to, roce_slow_restart, "
    "roce_slow_restart_cnps, roce_slow_restart_trans";
constexpr std::string_view kMlx5 =
    "rp_cnp_ignored, rp_cnp_handled, np_ecn_marked_roce_packets, np_cnp_sent, "
    "rx_icrc_encapsulated, cc_rx_ce_pkts, cc_rx_cnp_pkts, cc_tx_cnp_pkts, rdma_tx_packets, "
    "rdma_tx_bytes, rdma_rx_packets, rdma_rx_bytes";
constexpr std::string_view kBnxtRe =
    "active_pds, active_ahs, active_qps, active_rc_qps, active_ud_qps, active_srqs, active_cqs, "
    "active_mrs, active_mws, watermark_pds, watermark_ahs, watermark_qps, watermark_rc_qps, "
    "watermark_ud_qps, watermark_srqs, watermark_cqs, watermark_mrs, watermark_mws, "
    "resize_cq_cnt, rx_pkts, rx_bytes, tx_pkts, tx_bytes, recoverable_errors, tx_roce_errors, "
    "tx_roce_discards, rx_roce_errors, rx_roce_discards, to_retransmits, seq_err_naks_rcvd, "
    "max_retry_exceeded, rnr_naks_rcvd, missing_resp, unrecoverable_err, bad_resp_err, "
    "local_qp_op_err, local_protection_err, mem_mgmt_op_err, remote_invalid_req_err, "
    "remote_access_err, remote_op_err, dup_req, res_exceed_max, res_length_mismatch, "
    "res_exceeds_wqe, res_opcode_err, res_rx_invalid_rkey, res_rx_domain_err, res_rx_no_perm, "
    "res_rx_range_err, res_tx_invalid_rkey, res_tx_domain_err, res_tx_no_perm, res_tx_range_err, "
    "res_irrq_oflow, res_unsup_opcode, res_unaligned_atomic, res_rem_inv_err, res_mem_err, "
    "res_srq_err, res_cmp_err, res_invalid_dup_rkey, res_wqe_format_err, res_cq_load_err, "
    "res_srq_load_err, res_tx_pci_err, res_rx_pci_err, oos_drop_count, tx_atomic_req, "
    "tx_read_req, tx_read_resp, tx_write_req, tx_send_req, tx_roce_only_pkts, "
    "tx_roce_only_bytes, rx_atomic_req, rx_read_req, rx_read_resp, rx_write_req, rx_send_req, "
    "rx_roce_only_pkts, rx_roce_only_bytes, rx_roce_good_pkts, rx_roce_good_bytes, "
    "rx_out_of_buffer, tx_cnp_pkts, rx_cnp_pkts, rx_ecn_marked_pkts, pacing_reschedule, "
    "pacing_complete, pacing_alerts, db_fifo_register, local_ack_timeout_err, packet_seq_err, "
    "rnr_nak_retry_err, implied_nak_seq_err, req_remote_invalid_request, "
    "req_remote_access_errors, duplicate_request, resp_local_length_error, out_of_sequence, "
    "rx_atomic_requests, rx_read_requests, rx_write_requests, rx_good_pkts, rx_good_bytes, "
    "out_of_buffer, np_cnp_sent, np_cnp_pkts, rp_cnp_handled, np_ecn_marked_roce_packets, "
    "req_cqe_error, req_cqe_flush_error, resp_cqe_error, resp_cqe_flush_error, "
    "resp_remote_access_errors, roce_adp_retrans, roce_adp_retrans_to, roce_slow_restart, "
    "roce_slow_restart_cnps, roce_slow_restart_trans, rp_cnp_ignored, rx_icrc_encapsulated";
constexpr std::string_view kIrdma =
    "rxVlanErrors, ip4InDiscards, ip4InTruncatedPkts, ip4OutNoRoutes, ip6InDiscards, "
    "ip6InTruncatedPkts, ip6OutNoRoutes, tcpRetransSegs, tcpInOptErrors, tcpInProtoErrors, "
    "cnpHandled, cnpIgnored, cnpSent, ip4InOctets, ip4InPkts, ip4InReasmRqd, ip4InMcastPkts, "
    "ip4OutOctets, ip4OutPkts, ip4OutSegRqd, ip4OutMcastPkts, ip6InOctets, ip6InPkts, "
    "ip6InReasmRqd, ip6InMcastPkts, ip6OutOctets, ip6OutPkts, ip6OutSegRqd, ip6OutMcastPkts, "
    "ip4InMcastOctets, ip4OutMcastOctets, ip6InMcastOctets, ip6OutMcastOctets, tcpInSegs, "
    "tcpOutSegs, iwInRdmaReads, iwInRdmaSends, iwInRdmaWrites, iwOutRdmaReads, iwOutRdmaSends, "
    "iwOutRdmaWrites, iwRdmaBnd, iwRdmaInv, RxUDP, TxUDP, RxECNMrkd, RetransSegs, InOptErrors, "
    "InProtoErrors, InSegs, OutSegs, InRdmaReads, InRdmaSends, InRdmaWrites, OutRdmaReads, "
    "OutRdmaSends, OutRdmaWrites, RdmaBnd, RdmaInv, RNR sent, RNR received, ord limit count, "
    "ird limit count, Rx atomics, Tx atomics, Nak Sequence Error, Nak Sequence Error Implied, "
    "RTO, Rcvd Out of order packets, CRC errors";
constexpr std::string_view kEfa =
    "submitted_cmds, completed_cmds, cmds_err, no_completion_cmds, keep_alive_rcvd, "
    "alloc_pd_err, create_qp_err, create_cq_err, reg_mr_err, alloc_ucontext_err, create_ah_err, "
    "mmap_err, tx_bytes, tx_pkts, rx_bytes, rx_pkts, rx_drops, send_bytes, send_wrs, recv_bytes, "
    "recv_wrs, rdma_read_wrs, rdma_read_bytes, rdma_read_wr_err, rdma_read_resp_bytes, "
    "rdma_write_wrs, rdma_write_bytes, rdma_write_wr_err, rdma_write_recv_bytes, retrans_bytes, "
    "retrans_pkts, retrans_timeout_events, unresponsive_remote_events, "
    "impaired_remote_conn_events";
constexpr std::string_view kRxe =
    "sent_pkts, rcvd_pkts, duplicate_request, out_of_seq_request, rcvd_rnr_err, send_rnr_err, "
    "rcvd_seq_err, ack_deferred, retry_exceeded_err, retry_rnr_exceeded_err, "
    "completer_retry_err, send_err, link_downed, rdma_sends, rdma_recvs, sent_bytes, rcvd_bytes";

// `ethtool -S`. mlx5: pport_phy_layer, _statistical, _err_lanes and _recovery, pport_802_3 and
// _2863, per_prio traffic and pause, mlx5e_pme, pcie_perf and the stall counters.
constexpr std::string_view kMlx5Statistics =
    "link_down_events_phy, rx_pcs_symbol_err_phy, rx_corrected_bits_phy, rx_bits_phy, "
    "rx_err_lane_0_phy, rx_err_lane_1_phy, rx_err_lane_2_phy, rx_err_lane_3_phy, "
    "total_success_recovery_phy, rx_buffer_passed_thres_phy, rx_undersize_pkts_phy, "
    "rx_fragments_phy, rx_jabbers_phy, rx_discards_phy, tx_discards_phy, tx_errors_phy, "
    "rx_crc_errors_phy, rx_in_range_len_errors_phy, rx_out_of_range_len_phy, "
    "rx_oversize_pkts_phy, rx_symbol_err_phy, rx_prio#_discards, rx_prio#_buf_discard, "
    "rx_prio#_cong_discard, rx_prio#_pause, tx_prio#_pause, rx_global_pause, "
    "rx_global_pause_duration, rx_global_pause_transition, tx_global_pause, "
    "tx_global_pause_duration, tx_pause_storm_error_events, module_unplug, module_bus_stuck, "
    "module_high_temp, module_bad_shorted, rx_pci_signal_integrity, tx_pci_signal_integrity, "
    "outbound_pci_stalled_rd, outbound_pci_stalled_wr, outbound_pci_stalled_rd_events, "
    "outbound_pci_stalled_wr_events, outbound_pci_buffer_overflow";
// rx_port_stats, tx_port_stats, rx_port_stats_ext
constexpr std::string_view kBnxtStatistics =
    "rx_fcs_err_frames, rx_pause_frames, rx_pfc_frames, rx_align_err_frames, rx_ovrsz_frames, "
    "rx_jbr_frames, rx_mtu_err_frames, rx_pfc_ena_frames_pri#, rx_undrsz_frames, rx_runt_frames, "
    "rx_stat_discard, rx_stat_err, tx_pause_frames, tx_pfc_frames, tx_fcs_err_frames, "
    "tx_pfc_ena_frames_pri#, tx_fifo_underruns, tx_stat_discard, tx_stat_error, "
    "link_down_events, continuous_pause_events, continuous_roce_pause_events, rx_bits, "
    "rx_buffer_passed_threshold, rx_pcs_symbol_err, rx_corrected_bits, rx_discard_packets_cos#, "
    "rx_fec_corrected_blocks, rx_fec_uncorrectable_blocks";
// ICE_PF_STAT and the pause of each priority
constexpr std::string_view kIceStatistics =
    "link_xoff_rx.nic, link_xoff_tx.nic, tx_dropped_link_down.nic, rx_undersize.nic, "
    "rx_fragments.nic, rx_oversize.nic, rx_jabber.nic, rx_length_errors.nic, rx_dropped.nic, "
    "rx_crc_errors.nic, illegal_bytes.nic, mac_local_faults.nic, mac_remote_faults.nic, "
    "rx_priority_#_xoff.nic, tx_priority_#_xoff.nic";
// IONIC_LIF_STAT_DESC and IONIC_PORT_STAT_DESC
constexpr std::string_view kIonicStatistics =
    "hw_tx_dropped, hw_rx_dropped, hw_rx_over_errors, hw_rx_missed_errors, hw_tx_aborted_errors, "
    "frames_rx_bad_fcs, frames_rx_bad_all, frames_rx_pause, frames_rx_bad_length, "
    "frames_rx_undersized, frames_rx_oversized, frames_rx_fragments, frames_rx_jabber, "
    "frames_rx_pripause, frames_rx_stomped_crc, frames_rx_too_long, frames_rx_dropped, "
    "frames_tx_bad, frames_tx_pause, frames_tx_pripause, frames_tx_truncated";

std::vector<std::string> names_in(std::string_view list) {
  IndicatorInfo info{};
  info.counters = list;
  return names_of(info);
}

TEST(Counters, HwCountersOfEachDriverAreKnown) {
  for (const std::string_view driver : {kMlx5QueueCounters, kMlx5, kBnxtRe, kIrdma, kEfa})
    for (const std::string& name : names_in(driver)) {
      ASSERT_TRUE(find_counter(name)) << name;
      EXPECT_EQ(row_of(name).source, CounterSource::kIbHw) << name;
    }
  for (const std::string& name : names_in(kRxe))
    EXPECT_TRUE(find_counter(name)) << name;  // link_downed has two sources
  // be32 of query_q_counter_out; in switch mode a representor has them for its virtual port.
  for (const std::string& name : names_in(kMlx5QueueCounters))
    for (const std::string& of_port : {name, "vport_" + name}) {
      ASSERT_TRUE(find_counter(of_port)) << of_port;
      EXPECT_EQ(row_of(of_port).width_bits, 32) << of_port;
      EXPECT_EQ(row_of(of_port).end, CounterEnd::kWraps) << of_port;
    }
  EXPECT_EQ(row_of("active_qps").end, CounterEnd::kLevel)
      << "objects in use decrease without a reset";
}

TEST(Counters, DriverStatisticsAreThoseThatTheDriversWrite) {
  std::set<std::string> written;
  for (const std::string_view driver :
       {kMlx5Statistics, kBnxtStatistics, kIceStatistics, kIonicStatistics})
    for (const std::string& name : names_in(driver)) {
      ASSERT_TRUE(find_counter(name)) << name;
      EXPECT_EQ(row_of(name).source, CounterSource::kEthtoolDriver) << name;
      EXPECT_TRUE(written.insert(name).second) << name << " is in two drivers' lists";
    }
  for (const CounterInfo& row : known_counters())
    EXPECT_TRUE(row.source != CounterSource::kEthtoolDriver || written.contains(row.name))
        << row.name << ": no driver writes it";
}

}  // namespace
}  // namespace linkhealth
