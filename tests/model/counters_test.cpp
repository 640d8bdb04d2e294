#include "model/counters.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace linkhealth {
namespace {

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

TEST(Counters, MergeKeepsWhatIsNotNewer) {
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
  const auto row = [](std::string_view name) { return known_counters()[*find_counter(name)]; };
  EXPECT_EQ(row("symbol_error").width_bits, 16);
  EXPECT_EQ(row("link_downed").width_bits, 8);
  EXPECT_EQ(row("local_link_integrity_errors").width_bits, 4);
  EXPECT_EQ(row("link_downed").end, CounterEnd::kSaturates);
  EXPECT_EQ(row("port_rcv_data").end, CounterEnd::kWraps);
}

TEST(Counters, EveryRowSaysItsWidthAndItsEnd) {
  for (const CounterInfo& row : known_counters()) {
    EXPECT_GT(row.width_bits, 0) << row.name;
    EXPECT_LE(row.width_bits, 64) << row.name;
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    if (row.end == CounterEnd::kSaturates) {
      EXPECT_LT(row.width_bits, 64) << row.name;
    }
  }
}

TEST(Counters, DriversStatisticsFitIntoTheKernelsNames) {
  for (const CounterInfo& row : known_counters()) {
    if (row.source != CounterSource::kEthtoolDriver) continue;
    EXPECT_LT(row.name.size(), 32U) << row.name << ": ETH_GSTRING_LEN";
  }
}

// All names as the drivers write them (the sources are named in model/counter_rows_hw.h), both
// where one was renamed.
constexpr std::string_view kMlx5QueueCounters[] = {"rx_write_requests",
                                                   "rx_read_requests",
                                                   "rx_atomic_requests",
                                                   "rx_dct_connect",
                                                   "out_of_buffer",
                                                   "out_of_sequence",
                                                   "duplicate_request",
                                                   "rnr_nak_retry_err",
                                                   "packet_seq_err",
                                                   "implied_nak_seq_err",
                                                   "local_ack_timeout_err",
                                                   "resp_local_length_error",
                                                   "resp_cqe_error",
                                                   "req_cqe_error",
                                                   "req_remote_invalid_request",
                                                   "req_remote_access_errors",
                                                   "resp_remote_access_errors",
                                                   "resp_cqe_flush_error",
                                                   "req_cqe_flush_error",
                                                   "req_transport_retries_exceeded",
                                                   "req_rnr_retries_exceeded",
                                                   "roce_adp_retrans",
                                                   "roce_adp_retrans_to",
                                                   "roce_slow_restart",
                                                   "roce_slow_restart_cnps",
                                                   "roce_slow_restart_trans"};
constexpr std::string_view kMlx5[] = {
    "rp_cnp_ignored", "rp_cnp_handled",       "np_ecn_marked_roce_packets",
    "np_cnp_sent",    "rx_icrc_encapsulated", "cc_rx_ce_pkts",
    "cc_rx_cnp_pkts", "cc_tx_cnp_pkts",       "rdma_tx_packets",
    "rdma_tx_bytes",  "rdma_rx_packets",      "rdma_rx_bytes"};
constexpr std::string_view kBnxtRe[] = {"active_pds",
                                        "active_ahs",
                                        "active_qps",
                                        "active_rc_qps",
                                        "active_ud_qps",
                                        "active_srqs",
                                        "active_cqs",
                                        "active_mrs",
                                        "active_mws",
                                        "watermark_pds",
                                        "watermark_ahs",
                                        "watermark_qps",
                                        "watermark_rc_qps",
                                        "watermark_ud_qps",
                                        "watermark_srqs",
                                        "watermark_cqs",
                                        "watermark_mrs",
                                        "watermark_mws",
                                        "resize_cq_cnt",
                                        "rx_pkts",
                                        "rx_bytes",
                                        "tx_pkts",
                                        "tx_bytes",
                                        "recoverable_errors",
                                        "tx_roce_errors",
                                        "tx_roce_discards",
                                        "rx_roce_errors",
                                        "rx_roce_discards",
                                        "to_retransmits",
                                        "seq_err_naks_rcvd",
                                        "max_retry_exceeded",
                                        "rnr_naks_rcvd",
                                        "missing_resp",
                                        "unrecoverable_err",
                                        "bad_resp_err",
                                        "local_qp_op_err",
                                        "local_protection_err",
                                        "mem_mgmt_op_err",
                                        "remote_invalid_req_err",
                                        "remote_access_err",
                                        "remote_op_err",
                                        "dup_req",
                                        "res_exceed_max",
                                        "res_length_mismatch",
                                        "res_exceeds_wqe",
                                        "res_opcode_err",
                                        "res_rx_invalid_rkey",
                                        "res_rx_domain_err",
                                        "res_rx_no_perm",
                                        "res_rx_range_err",
                                        "res_tx_invalid_rkey",
                                        "res_tx_domain_err",
                                        "res_tx_no_perm",
                                        "res_tx_range_err",
                                        "res_irrq_oflow",
                                        "res_unsup_opcode",
                                        "res_unaligned_atomic",
                                        "res_rem_inv_err",
                                        "res_mem_err",
                                        "res_srq_err",
                                        "res_cmp_err",
                                        "res_invalid_dup_rkey",
                                        "res_wqe_format_err",
                                        "res_cq_load_err",
                                        "res_srq_load_err",
                                        "res_tx_pci_err",
                                        "res_rx_pci_err",
                                        "oos_drop_count",
                                        "tx_atomic_req",
                                        "tx_read_req",
                                        "tx_read_resp",
                                        "tx_write_req",
                                        "tx_send_req",
                                        "tx_roce_only_pkts",
                                        "tx_roce_only_bytes",
                                        "rx_atomic_req",
                                        "rx_read_req",
                                        "rx_read_resp",
                                        "rx_write_req",
                                        "rx_send_req",
                                        "rx_roce_only_pkts",
                                        "rx_roce_only_bytes",
                                        "rx_roce_good_pkts",
                                        "rx_roce_good_bytes",
                                        "rx_out_of_buffer",
                                        "tx_cnp_pkts",
                                        "rx_cnp_pkts",
                                        "rx_ecn_marked_pkts",
                                        "pacing_reschedule",
                                        "pacing_complete",
                                        "pacing_alerts",
                                        "db_fifo_register",
                                        "local_ack_timeout_err",
                                        "packet_seq_err",
                                        "rnr_nak_retry_err",
                                        "implied_nak_seq_err",
                                        "req_remote_invalid_request",
                                        "req_remote_access_errors",
                                        "duplicate_request",
                                        "resp_local_length_error",
                                        "out_of_sequence",
                                        "rx_atomic_requests",
                                        "rx_read_requests",
                                        "rx_write_requests",
                                        "rx_good_pkts",
                                        "rx_good_bytes",
                                        "out_of_buffer",
                                        "np_cnp_sent",
                                        "np_cnp_pkts",
                                        "rp_cnp_handled",
                                        "np_ecn_marked_roce_packets",
                                        "req_cqe_error",
                                        "req_cqe_flush_error",
                                        "resp_cqe_error",
                                        "resp_cqe_flush_error",
                                        "resp_remote_access_errors",
                                        "roce_adp_retrans",
                                        "roce_adp_retrans_to",
                                        "roce_slow_restart",
                                        "roce_slow_restart_cnps",
                                        "roce_slow_restart_trans",
                                        "rp_cnp_ignored",
                                        "rx_icrc_encapsulated"};
constexpr std::string_view kIrdma[] = {"rxVlanErrors",
                                       "ip4InDiscards",
                                       "ip4InTruncatedPkts",
                                       "ip4OutNoRoutes",
                                       "ip6InDiscards",
                                       "ip6InTruncatedPkts",
                                       "ip6OutNoRoutes",
                                       "tcpRetransSegs",
                                       "tcpInOptErrors",
                                       "tcpInProtoErrors",
                                       "cnpHandled",
                                       "cnpIgnored",
                                       "cnpSent",
                                       "ip4InOctets",
                                       "ip4InPkts",
                                       "ip4InReasmRqd",
                                       "ip4InMcastPkts",
                                       "ip4OutOctets",
                                       "ip4OutPkts",
                                       "ip4OutSegRqd",
                                       "ip4OutMcastPkts",
                                       "ip6InOctets",
                                       "ip6InPkts",
                                       "ip6InReasmRqd",
                                       "ip6InMcastPkts",
                                       "ip6OutOctets",
                                       "ip6OutPkts",
                                       "ip6OutSegRqd",
                                       "ip6OutMcastPkts",
                                       "ip4InMcastOctets",
                                       "ip4OutMcastOctets",
                                       "ip6InMcastOctets",
                                       "ip6OutMcastOctets",
                                       "tcpInSegs",
                                       "tcpOutSegs",
                                       "iwInRdmaReads",
                                       "iwInRdmaSends",
                                       "iwInRdmaWrites",
                                       "iwOutRdmaReads",
                                       "iwOutRdmaSends",
                                       "iwOutRdmaWrites",
                                       "iwRdmaBnd",
                                       "iwRdmaInv",
                                       "RxUDP",
                                       "TxUDP",
                                       "RxECNMrkd",
                                       "RetransSegs",
                                       "InOptErrors",
                                       "InProtoErrors",
                                       "InSegs",
                                       "OutSegs",
                                       "InRdmaReads",
                                       "InRdmaSends",
                                       "InRdmaWrites",
                                       "OutRdmaReads",
                                       "OutRdmaSends",
                                       "OutRdmaWrites",
                                       "RdmaBnd",
                                       "RdmaInv",
                                       "RNR sent",
                                       "RNR received",
                                       "ord limit count",
                                       "ird limit count",
                                       "Rx atomics",
                                       "Tx atomics",
                                       "Nak Sequence Error",
                                       "Nak Sequence Error Implied",
                                       "RTO",
                                       "Rcvd Out of order packets",
                                       "CRC errors"};
constexpr std::string_view kEfa[] = {"submitted_cmds",
                                     "completed_cmds",
                                     "cmds_err",
                                     "no_completion_cmds",
                                     "keep_alive_rcvd",
                                     "alloc_pd_err",
                                     "create_qp_err",
                                     "create_cq_err",
                                     "reg_mr_err",
                                     "alloc_ucontext_err",
                                     "create_ah_err",
                                     "mmap_err",
                                     "tx_bytes",
                                     "tx_pkts",
                                     "rx_bytes",
                                     "rx_pkts",
                                     "rx_drops",
                                     "send_bytes",
                                     "send_wrs",
                                     "recv_bytes",
                                     "recv_wrs",
                                     "rdma_read_wrs",
                                     "rdma_read_bytes",
                                     "rdma_read_wr_err",
                                     "rdma_read_resp_bytes",
                                     "rdma_write_wrs",
                                     "rdma_write_bytes",
                                     "rdma_write_wr_err",
                                     "rdma_write_recv_bytes",
                                     "retrans_bytes",
                                     "retrans_pkts",
                                     "retrans_timeout_events",
                                     "unresponsive_remote_events",
                                     "impaired_remote_conn_events"};
constexpr std::string_view kRxe[] = {"sent_pkts",           "rcvd_pkts",
                                     "duplicate_request",   "out_of_seq_request",
                                     "rcvd_rnr_err",        "send_rnr_err",
                                     "rcvd_seq_err",        "ack_deferred",
                                     "retry_exceeded_err",  "retry_rnr_exceeded_err",
                                     "completer_retry_err", "send_err",
                                     "link_downed",         "rdma_sends",
                                     "rdma_recvs",          "sent_bytes",
                                     "rcvd_bytes"};

void expect_rows(std::span<const std::string_view> names, CounterSource source) {
  for (const std::string_view name : names) {
    const auto id = find_counter(name);
    ASSERT_TRUE(id) << name;
    EXPECT_EQ(known_counters()[*id].source, source) << name;
  }
}

TEST(Counters, HwCountersOfEachDriverAreKnown) {
  for (const std::span<const std::string_view> names :
       std::initializer_list<std::span<const std::string_view>>{kMlx5QueueCounters, kMlx5, kBnxtRe,
                                                                kIrdma, kEfa})
    expect_rows(names, CounterSource::kIbHw);
  for (const std::string_view name : kRxe)
    EXPECT_TRUE(find_counter(name)) << name;  // link_downed has two sources
  // be32 of query_q_counter_out; in switch mode a representor gives them for its virtual port.
  for (const std::string_view name : kMlx5QueueCounters)
    for (const std::string& of_port : {std::string(name), "vport_" + std::string(name)}) {
      const auto id = find_counter(of_port);
      ASSERT_TRUE(id) << of_port;
      EXPECT_EQ(known_counters()[*id].width_bits, 32) << of_port;
      EXPECT_EQ(known_counters()[*id].end, CounterEnd::kWraps) << of_port;
    }
  // What counts objects in use goes down without a reset.
  EXPECT_EQ(known_counters()[*find_counter("active_qps")].end, CounterEnd::kLevel);
}

}  // namespace
}  // namespace linkhealth
