// THE rows of the counter table (model/counters.h), in groups that share all columns but the name,
// the place and the meaning. "#" stands for each priority or traffic class, 0 to 7.
//
// Sources: linux drivers/infiniband/hw/{mlx5/counters.c,bnxt_re/hw_counters.c,irdma/verbs.c,
// efa/efa_verbs.c}, sw/rxe/rxe_hw_counters.c and Broadcom's own driver;
// drivers/net/ethernet/{mellanox/mlx5/core/en_stats.c,broadcom/bnxt/bnxt_ethtool.c,
// intel/ice/ice_ethtool.c,pensando/ionic/ionic_stats.c};
// Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst;
// include/uapi/linux/ethtool_netlink.h. Where a driver has renamed a counter, both names are here.
// Where the hardware's width is not documented, the row says kUnknown and a decrease counts as a
// reset.
//
// Only what an indicator lists (indicators.cpp) judges a link. The other rows are shown: efa's
// *_err and bnxt_re's res_*_err count wrong requests of an application or its peer, or a lack of
// memory; they rise when a program starts or dies, on the best of links. res_rx_pci_err and
// res_tx_pci_err are the card's own and judge it (indicator "PCIe damage").
#include <algorithm>
#include <vector>

#include "model/counters.h"

namespace linkhealth {

namespace {

using enum CounterSource;
using enum CounterEnd;
using enum CounterReset;
using enum CounterPlace;

struct CounterRow {
  std::string_view name;
  CounterPlace place;
  std::string_view meaning;
};

struct CounterGroup {
  CounterSource source;
  std::uint8_t width_bits;
  CounterEnd end;
  CounterReset reset;
  std::span<const CounterRow> rows;
};

// mlx5's queue counters are 32 bits wide (be32 of query_q_counter_out): with traffic they wrap
// within minutes. The card allocates them when the driver is loaded (ALLOC_Q_COUNTER). In switch
// mode a representor has them for its virtual port, as vport_NAME. bnxt_re and rxe count 64 bits
// under some of these names: a decrease from beyond 32 bits is a reset.
constexpr CounterRow kMlx5QueueCounters[] = {
    {"duplicate_request", kEndToEnd, "requests received twice: an ack was lost"},
    {"implied_nak_seq_err", kEndToEnd, "an ack implied that a packet was lost"},
    {"local_ack_timeout_err", kEndToEnd, "the requester's ack timer expired"},
    {"out_of_buffer", kHost, "packets dropped: no receive work request posted"},
    {"out_of_sequence", kEndToEnd, "packets received out of sequence"},
    {"packet_seq_err", kEndToEnd, "sequence NAKs received: a packet sent was lost"},
    {"req_cqe_error", kHost, "requester completions with an error"},
    {"req_cqe_flush_error", kHost, "requester completions flushed"},
    {"req_remote_access_errors", kHost, "access errors that the peer reported"},
    {"req_remote_invalid_request", kHost, "invalid requests that the peer reported"},
    {"req_rnr_retries_exceeded", kHost,
     "queue pairs lost: the peer's receiver was never ready (mlx5)"},
    {"req_transport_retries_exceeded", kEndToEnd, "queue pairs lost after all retries (mlx5)"},
    {"resp_cqe_error", kHost, "responder completions with an error"},
    {"resp_cqe_flush_error", kHost, "responder completions flushed"},
    {"resp_local_length_error", kHost, "responder found a wrong length"},
    {"resp_remote_access_errors", kHost, "responder refused an access"},
    {"rnr_nak_retry_err", kHost, "the peer's receiver was not ready"},
    {"roce_adp_retrans", kEndToEnd, "adaptive retransmissions"},
    {"roce_adp_retrans_to", kEndToEnd, "adaptive retransmission timeouts"},
    {"roce_slow_restart", kEndToEnd, "slow restarts of a RoCE flow"},
    {"roce_slow_restart_cnps", kEndToEnd, "congestion notifications sent at a slow restart"},
    {"roce_slow_restart_trans", kEndToEnd, "transitions into slow restart"},
    {"rx_atomic_requests", kTraffic, "atomic operations received"},
    {"rx_dct_connect", kTraffic, "connections to dynamic targets (mlx5)"},
    {"rx_read_requests", kTraffic, "RDMA reads received"},
    {"rx_write_requests", kTraffic, "RDMA writes received"},
};

// bnxt_re, irdma (the driver extends its registers to 64 bits) and efa.
constexpr CounterRow kHwCounters[] = {
    {"CRC errors", kEndToEnd, "packets with a bad ICRC in a good frame (irdma)"},
    {"InOptErrors", kEndToEnd, "segments with bad options (irdma)"},
    {"InProtoErrors", kEndToEnd, "segments that break the protocol (irdma)"},
    {"InRdmaReads", kTraffic, "RDMA reads received (irdma)"},
    {"InRdmaSends", kTraffic, "RDMA sends received (irdma)"},
    {"InRdmaWrites", kTraffic, "RDMA writes received (irdma)"},
    {"InSegs", kTraffic, "segments received (irdma)"},
    {"Nak Sequence Error", kEndToEnd, "sequence NAKs: a packet was lost (irdma)"},
    {"Nak Sequence Error Implied", kEndToEnd, "an ack implied that a packet was lost (irdma)"},
    {"OutRdmaReads", kTraffic, "RDMA reads sent (irdma)"},
    {"OutRdmaSends", kTraffic, "RDMA sends sent (irdma)"},
    {"OutRdmaWrites", kTraffic, "RDMA writes sent (irdma)"},
    {"OutSegs", kTraffic, "segments sent (irdma)"},
    {"RNR received", kHost, "the peer's receiver was not ready (irdma)"},
    {"RNR sent", kHost, "this receiver was not ready (irdma)"},
    {"RTO", kEndToEnd, "retransmissions after a timeout (irdma)"},
    {"Rcvd Out of order packets", kEndToEnd, "packets received out of sequence (irdma)"},
    {"RdmaBnd", kTraffic, "memory windows bound (irdma)"},
    {"RdmaInv", kTraffic, "memory windows invalidated (irdma)"},
    {"RetransSegs", kEndToEnd, "segments sent again (irdma)"},
    {"Rx atomics", kTraffic, "atomic operations received (irdma)"},
    {"RxECNMrkd", kEndToEnd, "packets received with a congestion mark (irdma)"},
    {"RxUDP", kTraffic, "RoCE packets received (irdma)"},
    {"Tx atomics", kTraffic, "atomic operations sent (irdma)"},
    {"TxUDP", kTraffic, "RoCE packets sent (irdma)"},
    {"alloc_pd_err", kHost, "protection domains that could not be made (efa)"},
    {"alloc_ucontext_err", kHost, "contexts that could not be made (efa)"},
    {"bad_resp_err", kHost, "responses that did not fit their request (bnxt_re)"},
    {"cmds_err", kHost, "commands rejected by the device: invalid requests of a program (efa)"},
    {"cnpHandled", kEndToEnd, "congestion notifications that throttled this port (irdma)"},
    {"cnpIgnored", kEndToEnd, "congestion notifications ignored (irdma)"},
    {"cnpSent", kEndToEnd, "congestion notifications sent (irdma)"},
    {"completed_cmds", kHost, "commands that the device completed (efa)"},
    {"create_ah_err", kHost, "address handles that could not be made (efa)"},
    {"create_cq_err", kHost, "completion queues that could not be made (efa)"},
    {"create_qp_err", kHost, "queue pairs that could not be made (efa)"},
    {"dup_req", kEndToEnd, "requests received twice (bnxt_re, old name)"},
    {"impaired_remote_conn_events", kEndToEnd,
     "connections to a remote end that became slow (efa)"},
    {"ip4InDiscards", kHost, "IPv4 packets discarded (irdma)"},
    {"ip4InMcastOctets", kTraffic, "IPv4 multicast octets received (irdma)"},
    {"ip4InMcastPkts", kTraffic, "IPv4 multicast packets received (irdma)"},
    {"ip4InOctets", kTraffic, "IPv4 octets received (irdma)"},
    {"ip4InPkts", kTraffic, "IPv4 packets received (irdma)"},
    {"ip4InReasmRqd", kTraffic, "IPv4 fragments received (irdma)"},
    {"ip4InTruncatedPkts", kHost, "IPv4 packets received truncated (irdma)"},
    {"ip4OutMcastOctets", kTraffic, "IPv4 multicast octets sent (irdma)"},
    {"ip4OutMcastPkts", kTraffic, "IPv4 multicast packets sent (irdma)"},
    {"ip4OutNoRoutes", kHost, "IPv4 packets without a route (irdma)"},
    {"ip4OutOctets", kTraffic, "IPv4 octets sent (irdma)"},
    {"ip4OutPkts", kTraffic, "IPv4 packets sent (irdma)"},
    {"ip4OutSegRqd", kTraffic, "IPv4 fragments sent (irdma)"},
    {"ip6InDiscards", kHost, "IPv6 packets discarded (irdma)"},
    {"ip6InMcastOctets", kTraffic, "IPv6 multicast octets received (irdma)"},
    {"ip6InMcastPkts", kTraffic, "IPv6 multicast packets received (irdma)"},
    {"ip6InOctets", kTraffic, "IPv6 octets received (irdma)"},
    {"ip6InPkts", kTraffic, "IPv6 packets received (irdma)"},
    {"ip6InReasmRqd", kTraffic, "IPv6 fragments received (irdma)"},
    {"ip6InTruncatedPkts", kHost, "IPv6 packets received truncated (irdma)"},
    {"ip6OutMcastOctets", kTraffic, "IPv6 multicast octets sent (irdma)"},
    {"ip6OutMcastPkts", kTraffic, "IPv6 multicast packets sent (irdma)"},
    {"ip6OutNoRoutes", kHost, "IPv6 packets without a route (irdma)"},
    {"ip6OutOctets", kTraffic, "IPv6 octets sent (irdma)"},
    {"ip6OutPkts", kTraffic, "IPv6 packets sent (irdma)"},
    {"ip6OutSegRqd", kTraffic, "IPv6 fragments sent (irdma)"},
    {"ird limit count", kTraffic, "times the inbound read limit was met (irdma)"},
    {"iwInRdmaReads", kTraffic, "RDMA reads received (irdma)"},
    {"iwInRdmaSends", kTraffic, "RDMA sends received (irdma)"},
    {"iwInRdmaWrites", kTraffic, "RDMA writes received (irdma)"},
    {"iwOutRdmaReads", kTraffic, "RDMA reads sent (irdma)"},
    {"iwOutRdmaSends", kTraffic, "RDMA sends sent (irdma)"},
    {"iwOutRdmaWrites", kTraffic, "RDMA writes sent (irdma)"},
    {"iwRdmaBnd", kTraffic, "memory windows bound (irdma)"},
    {"iwRdmaInv", kTraffic, "memory windows invalidated (irdma)"},
    {"keep_alive_rcvd", kHost, "keep-alive messages of the device (efa)"},
    {"local_protection_err", kHost, "this node's own memory was not accessible (bnxt_re)"},
    {"local_qp_op_err", kHost, "operations that this queue pair refused (bnxt_re)"},
    {"max_retry_exceeded", kEndToEnd, "queue pairs lost after all retries (bnxt_re)"},
    {"mem_mgmt_op_err", kHost, "memory management operations that failed (bnxt_re)"},
    {"missing_resp", kEndToEnd, "responses that were lost on the way (bnxt_re)"},
    {"mmap_err", kHost, "mappings that failed (efa)"},
    {"no_completion_cmds", kHost, "commands that the device did not complete (efa)"},
    {"np_cnp_pkts", kEndToEnd, "congestion notifications sent (bnxt_re)"},
    {"oos_drop_count", kEndToEnd, "packets received out of sequence (bnxt_re, old name)"},
    {"ord limit count", kTraffic, "times the outbound read limit was met (irdma)"},
    {"pacing_alerts", kHost, "doorbell pacing: the doorbell queue was nearly full (bnxt_re)"},
    {"pacing_complete", kHost, "doorbell pacing: completed (bnxt_re)"},
    {"pacing_reschedule", kHost, "doorbell pacing: work put off (bnxt_re)"},
    {"rdma_read_bytes", kTraffic, "octets of RDMA reads (efa)"},
    {"rdma_read_resp_bytes", kTraffic, "octets of answers to RDMA reads (efa)"},
    {"rdma_read_wr_err", kHost, "RDMA reads that failed (efa)"},
    {"rdma_read_wrs", kTraffic, "RDMA reads (efa)"},
    {"rdma_write_bytes", kTraffic, "octets of RDMA writes (efa)"},
    {"rdma_write_recv_bytes", kTraffic, "octets of RDMA writes received (efa)"},
    {"rdma_write_wr_err", kHost, "RDMA writes that failed (efa)"},
    {"rdma_write_wrs", kTraffic, "RDMA writes (efa)"},
    {"recoverable_errors", kHost, "errors that were recovered from (bnxt_re)"},
    {"recv_bytes", kTraffic, "octets of receives (efa)"},
    {"recv_wrs", kTraffic, "receives (efa)"},
    {"reg_mr_err", kHost, "memory regions that could not be registered (efa)"},
    {"remote_access_err", kHost, "access errors that the peer reported (bnxt_re, old name)"},
    {"remote_invalid_req_err", kHost,
     "invalid requests that the peer reported (bnxt_re, old name)"},
    {"remote_op_err", kHost, "operation errors that the peer reported (bnxt_re)"},
    {"res_cmp_err", kHost, "responder: a completion queue was full (bnxt_re)"},
    {"res_cq_load_err", kHost, "completion queues that could not be loaded (bnxt_re)"},
    {"res_exceed_max", kHost, "responder: a message longer than allowed (bnxt_re)"},
    {"res_exceeds_wqe", kHost, "responder: a message longer than its receive request (bnxt_re)"},
    {"res_invalid_dup_rkey", kHost, "responder: a repeated request with another key (bnxt_re)"},
    {"res_irrq_oflow", kHost, "responder: more reads under way than agreed (bnxt_re)"},
    {"res_length_mismatch", kHost, "responder found a wrong length (bnxt_re, old name)"},
    {"res_mem_err", kHost, "responder: host memory that it could not reach (bnxt_re)"},
    {"res_opcode_err", kHost, "responder: operations out of order: the peer's program (bnxt_re)"},
    {"res_rem_inv_err", kHost, "responder: remote invalidations that failed (bnxt_re)"},
    {"res_rx_domain_err", kHost, "responder: a receive from another protection domain (bnxt_re)"},
    {"res_rx_invalid_rkey", kHost, "responder: a receive with an unknown key (bnxt_re)"},
    {"res_rx_no_perm", kHost, "responder: a receive without permission (bnxt_re)"},
    {"res_rx_pci_err", kHost, "PCIe errors on the way in: judged as PCIe damage (bnxt_re)"},
    {"res_rx_range_err", kHost, "responder: a receive outside its region (bnxt_re)"},
    {"res_srq_err", kHost, "shared receive queues in error (bnxt_re)"},
    {"res_srq_load_err", kHost, "shared receive queues that could not be loaded (bnxt_re)"},
    {"res_tx_domain_err", kHost, "responder: a read from another protection domain (bnxt_re)"},
    {"res_tx_invalid_rkey", kHost, "responder: a read with an unknown key (bnxt_re)"},
    {"res_tx_no_perm", kHost, "responder: a read without permission (bnxt_re)"},
    {"res_tx_pci_err", kHost, "PCIe errors on the way out: judged as PCIe damage (bnxt_re)"},
    {"res_tx_range_err", kHost, "responder: a read outside its region (bnxt_re)"},
    {"res_unaligned_atomic", kHost, "responder: atomic operations on an odd address (bnxt_re)"},
    {"res_unsup_opcode", kHost, "responder: operations that it does not support (bnxt_re)"},
    {"res_wqe_format_err", kHost, "malformed receive requests (bnxt_re)"},
    {"resize_cq_cnt", kHost, "completion queues resized (bnxt_re)"},
    {"retrans_bytes", kEndToEnd, "octets sent again (efa)"},
    {"retrans_pkts", kEndToEnd, "packets sent again (efa)"},
    {"retrans_timeout_events", kEndToEnd, "retransmissions after a timeout (efa)"},
    {"rnr_naks_rcvd", kHost, "the peer's receiver was not ready (bnxt_re, old name)"},
    {"rxVlanErrors", kHost, "frames of a VLAN not configured here (irdma)"},
    {"rx_atomic_req", kTraffic, "atomic operations received (bnxt_re, old name)"},
    {"rx_bytes", kTraffic, "octets received"},
    {"rx_cnp_pkts", kEndToEnd,
     "congestion notifications that throttled this port (bnxt_re, old name)"},
    {"rx_drops", kHost, "packets received and dropped (efa)"},
    {"rx_ecn_marked_pkts", kEndToEnd,
     "RoCE packets received with a congestion mark (bnxt_re, old name)"},
    {"rx_good_bytes", kTraffic, "RoCE octets received (bnxt_re)"},
    {"rx_good_pkts", kTraffic, "RoCE packets received (bnxt_re)"},
    {"rx_out_of_buffer", kHost,
     "packets dropped: no receive work request posted (bnxt_re, old name)"},
    {"rx_pkts", kTraffic, "packets received"},
    {"rx_read_req", kTraffic, "RDMA reads received (bnxt_re, old name)"},
    {"rx_read_resp", kTraffic, "answers to RDMA reads received (bnxt_re)"},
    {"rx_roce_discards", kHost, "packets received and discarded (bnxt_re)"},
    {"rx_roce_errors", kHere, "packets received with an error (bnxt_re)"},
    {"rx_roce_good_bytes", kTraffic, "RoCE octets received (bnxt_re)"},
    {"rx_roce_good_pkts", kTraffic, "RoCE packets received (bnxt_re)"},
    {"rx_roce_only_bytes", kTraffic, "RoCE octets received, also bad ones (bnxt_re)"},
    {"rx_roce_only_pkts", kTraffic, "RoCE packets received, also bad ones (bnxt_re)"},
    {"rx_send_req", kTraffic, "RDMA sends received (bnxt_re)"},
    {"rx_write_req", kTraffic, "RDMA writes received (bnxt_re, old name)"},
    {"send_bytes", kTraffic, "octets of sends (efa)"},
    {"send_wrs", kTraffic, "sends (efa)"},
    {"seq_err_naks_rcvd", kEndToEnd, "sequence NAKs received (bnxt_re)"},
    {"submitted_cmds", kHost, "commands given to the device (efa)"},
    {"tcpInOptErrors", kEndToEnd, "TCP segments with bad options (irdma, iWARP)"},
    {"tcpInProtoErrors", kEndToEnd, "TCP segments that break the protocol (irdma, iWARP)"},
    {"tcpInSegs", kTraffic, "TCP segments received (irdma, iWARP)"},
    {"tcpOutSegs", kTraffic, "TCP segments sent (irdma, iWARP)"},
    {"tcpRetransSegs", kEndToEnd, "TCP segments sent again (irdma, iWARP)"},
    {"to_retransmits", kEndToEnd, "retransmissions after a timeout (bnxt_re)"},
    {"tx_atomic_req", kTraffic, "atomic operations sent (bnxt_re)"},
    {"tx_bytes", kTraffic, "octets sent"},
    {"tx_cnp_pkts", kEndToEnd, "congestion notifications sent (bnxt_re, old name)"},
    {"tx_pkts", kTraffic, "packets sent"},
    {"tx_read_req", kTraffic, "RDMA reads sent (bnxt_re)"},
    {"tx_read_resp", kTraffic, "answers to RDMA reads sent (bnxt_re)"},
    {"tx_roce_discards", kEgress, "packets discarded on the way out (bnxt_re)"},
    {"tx_roce_errors", kEgress, "packets that could not be sent (bnxt_re)"},
    {"tx_roce_only_bytes", kTraffic, "RoCE octets sent (bnxt_re)"},
    {"tx_roce_only_pkts", kTraffic, "RoCE packets sent (bnxt_re)"},
    {"tx_send_req", kTraffic, "RDMA sends sent (bnxt_re)"},
    {"tx_write_req", kTraffic, "RDMA writes sent (bnxt_re)"},
    {"unrecoverable_err", kHost, "errors that nothing could recover from (bnxt_re)"},
    {"unresponsive_remote_events", kEndToEnd, "no response from the remote end (efa)"},
};

// RDMA counters of ionic: the firmware names them (linux:
// drivers/infiniband/hw/ionic/ionic_hw_stats.c); names as AMD's node-scraper and rocm-systems list
// them for Pollara.
constexpr CounterRow kIonicHwCounters[] = {
    {"req_rx_cqe_err", kHost, "requester completions with an error (ionic)"},
    {"req_rx_cqe_flush", kHost, "requester completions flushed (ionic)"},
    {"req_rx_dup_response", kEndToEnd, "responses received twice (ionic)"},
    {"req_rx_impl_nak_seq_err", kEndToEnd, "an ack implied that a packet was lost (ionic)"},
    {"req_rx_inval_pkts", kEndToEnd, "invalid responses (ionic)"},
    {"req_rx_oper_err", kHost, "operation errors that the peer reported (ionic)"},
    {"req_rx_pkt_seq_err", kEndToEnd, "sequence NAKs received: a packet sent was lost (ionic)"},
    {"req_rx_rmt_acc_err", kHost, "access errors that the peer reported (ionic)"},
    {"req_rx_rmt_req_err", kHost, "invalid requests that the peer reported (ionic)"},
    {"req_rx_rnr_retry_err", kHost, "the peer's receiver was not ready (ionic)"},
    {"req_tx_loc_acc_err", kHost, "this node's own memory was not accessible (ionic)"},
    {"req_tx_loc_oper_err", kHost, "operations that this queue pair refused (ionic)"},
    {"req_tx_loc_sgl_inv_err", kHost, "requests whose list of buffers was wrong (ionic)"},
    {"req_tx_mem_mgmt_err", kHost, "memory management operations that failed (ionic)"},
    {"req_tx_retry_excd_err", kEndToEnd, "queue pairs lost after all retries (ionic)"},
    {"resp_rx_ccl_cts_outouf_seq", kEndToEnd,
     "packets of collectives received out of sequence (ionic)"},
    {"resp_rx_cqe_err", kHost, "responder completions with an error (ionic)"},
    {"resp_rx_cqe_flush", kHost, "responder completions flushed (ionic)"},
    {"resp_rx_dup_request", kEndToEnd, "requests received twice: an ack was lost (ionic)"},
    {"resp_rx_inval_request", kHost, "responder: invalid requests (ionic)"},
    {"resp_rx_loc_len_err", kHost, "responder found a wrong length (ionic)"},
    {"resp_rx_loc_oper_err", kHost, "responder: operations that failed here (ionic)"},
    {"resp_rx_outof_atomic", kHost, "responder: no room for another atomic operation (ionic)"},
    {"resp_rx_outof_buf", kHost, "packets dropped: no receive work request posted (ionic)"},
    {"resp_rx_outouf_seq", kEndToEnd, "packets received out of sequence (ionic)"},
    {"resp_rx_s0_table_err", kHost, "responder: an internal table had no entry (ionic)"},
    {"resp_tx_loc_sgl_inv_err", kHost, "responder: a list of buffers was wrong (ionic)"},
    {"resp_tx_pkt_seq_err", kEndToEnd,
     "sequence NAKs sent: a packet was lost on the way here (ionic)"},
    {"resp_tx_rmt_acc_err", kHost, "responder refused an access (ionic)"},
    {"resp_tx_rmt_inval_req_err", kHost, "responder refused an invalid request (ionic)"},
    {"resp_tx_rmt_oper_err", kHost, "responder reported an operation error (ionic)"},
    {"resp_tx_rnr_retry_err", kHost, "this receiver was not ready (ionic)"},
    {"rx_rdma_ccl_cts_bytes", kTraffic, "octets of collectives received (ionic)"},
    {"rx_rdma_ccl_cts_pkts", kTraffic, "packets of collectives received (ionic)"},
    {"rx_rdma_cnp_pkts", kEndToEnd, "congestion notifications that throttled this port (ionic)"},
    {"rx_rdma_ecn_pkts", kEndToEnd, "RDMA packets received with a congestion mark (ionic)"},
    {"rx_rdma_mcast_bytes", kTraffic, "RDMA multicast octets received (ionic)"},
    {"rx_rdma_mcast_pkts", kTraffic, "RDMA multicast packets received (ionic)"},
    {"rx_rdma_mtu_discard_pkts", kForwarded,
     "RDMA packets longer than the MTU: the peer's MTU differs (ionic)"},
    {"rx_rdma_ucast_bytes", kTraffic, "RDMA octets received (ionic)"},
    {"rx_rdma_ucast_pkts", kTraffic, "RDMA packets received (ionic)"},
    {"tx_rdma_ack_timeout", kEndToEnd, "the requester's ack timer expired (ionic)"},
    {"tx_rdma_ccl_cts_ack_timeout", kEndToEnd,
     "the requester's ack timer expired, of collectives (ionic)"},
    {"tx_rdma_ccl_cts_bytes", kTraffic, "octets of collectives sent (ionic)"},
    {"tx_rdma_ccl_cts_pkts", kTraffic, "packets of collectives sent (ionic)"},
    {"tx_rdma_ccl_cts_retx_bytes", kEndToEnd, "octets of collectives sent again (ionic)"},
    {"tx_rdma_ccl_cts_retx_pkts", kEndToEnd, "packets of collectives sent again (ionic)"},
    {"tx_rdma_cnp_pkts", kEndToEnd, "congestion notifications sent (ionic)"},
    {"tx_rdma_mcast_bytes", kTraffic, "RDMA multicast octets sent (ionic)"},
    {"tx_rdma_mcast_pkts", kTraffic, "RDMA multicast packets sent (ionic)"},
    {"tx_rdma_retx_bytes", kEndToEnd, "RDMA octets sent again (ionic)"},
    {"tx_rdma_retx_pkts", kEndToEnd, "RDMA packets sent again (ionic)"},
    {"tx_rdma_ucast_bytes", kTraffic, "RDMA octets sent (ionic)"},
    {"tx_rdma_ucast_pkts", kTraffic, "RDMA packets sent (ionic)"},
};

// rxe, whose counters are the driver's own, and mlx5's optional counters.
constexpr CounterRow kSoftwareHwCounters[] = {
    {"ack_deferred", kEndToEnd, "acks put off (rxe)"},
    {"cc_rx_ce_pkts", kEndToEnd,
     "packets received with a congestion mark (mlx5, optional counter)"},
    {"cc_rx_cnp_pkts", kEndToEnd, "congestion notifications received (mlx5, optional counter)"},
    {"cc_tx_cnp_pkts", kEndToEnd, "congestion notifications sent (mlx5, optional counter)"},
    {"completer_retry_err", kEndToEnd, "retries of the requester (rxe)"},
    {"out_of_seq_request", kEndToEnd, "requests received out of sequence (rxe)"},
    {"rcvd_bytes", kTraffic, "octets received (rxe, newer kernels)"},
    {"rcvd_pkts", kTraffic, "packets received (rxe)"},
    {"rcvd_rnr_err", kHost, "the peer's receiver was not ready (rxe)"},
    {"rcvd_seq_err", kEndToEnd, "sequence NAKs received (rxe)"},
    {"rdma_recvs", kTraffic, "RDMA receives (rxe)"},
    {"rdma_rx_bytes", kTraffic, "RDMA octets received (mlx5, optional counter)"},
    {"rdma_rx_packets", kTraffic, "RDMA packets received (mlx5, optional counter)"},
    {"rdma_sends", kTraffic, "RDMA sends (rxe)"},
    {"rdma_tx_bytes", kTraffic, "RDMA octets sent (mlx5, optional counter)"},
    {"rdma_tx_packets", kTraffic, "RDMA packets sent (mlx5, optional counter)"},
    {"retry_exceeded_err", kEndToEnd, "queue pairs lost after all retries (rxe)"},
    {"retry_rnr_exceeded_err", kHost,
     "queue pairs lost: the peer's receiver was never ready (rxe)"},
    {"send_err", kHost, "packets that could not be sent (rxe)"},
    {"send_rnr_err", kHost, "this receiver was not ready (rxe)"},
    {"sent_bytes", kTraffic, "octets sent (rxe, newer kernels)"},
    {"sent_pkts", kTraffic, "packets sent (rxe)"},
};

// Objects in use (bnxt_re).
constexpr CounterRow kHwLevels[] = {
    {"active_ahs", kHost, "address handles in use (bnxt_re)"},
    {"active_cqs", kHost, "completion queues in use (bnxt_re)"},
    {"active_mrs", kHost, "memory regions in use (bnxt_re)"},
    {"active_mws", kHost, "memory windows in use (bnxt_re)"},
    {"active_pds", kHost, "protection domains in use (bnxt_re)"},
    {"active_qps", kHost, "queue pairs in use (bnxt_re)"},
    {"active_rc_qps", kHost, "reliable queue pairs in use (bnxt_re)"},
    {"active_srqs", kHost, "shared receive queues in use (bnxt_re)"},
    {"active_ud_qps", kHost, "datagram queue pairs in use (bnxt_re)"},
    {"db_fifo_register", kHost, "doorbell pacing: a register's value (bnxt_re)"},
    {"watermark_ahs", kHost, "most address handles in use at once (bnxt_re)"},
    {"watermark_cqs", kHost, "most completion queues in use at once (bnxt_re)"},
    {"watermark_mrs", kHost, "most memory regions in use at once (bnxt_re)"},
    {"watermark_mws", kHost, "most memory windows in use at once (bnxt_re)"},
    {"watermark_pds", kHost, "most protection domains in use at once (bnxt_re)"},
    {"watermark_qps", kHost, "most queue pairs in use at once (bnxt_re)"},
    {"watermark_rc_qps", kHost, "most reliable queue pairs in use at once (bnxt_re)"},
    {"watermark_srqs", kHost, "most shared receive queues in use at once (bnxt_re)"},
    {"watermark_ud_qps", kHost, "most datagram queue pairs in use at once (bnxt_re)"},
};

// mlx5's *_phy, *_prio* and PCI counters are registers of the card (PPCNT, MPCNT); bnxt's are its
// firmware's port statistics.
constexpr CounterRow kCardStatistics[] = {
    {"continuous_pause_events", kEndToEnd, "times a pause did not end (bnxt)"},
    {"continuous_roce_pause_events", kEndToEnd, "times a pause of RoCE did not end (bnxt)"},
    {"outbound_pci_buffer_overflow", kHost,
     "PCIe: packets dropped, the buffer towards the host overflowed (mlx5)"},
    {"rx_align_err_frames", kHere, "frames with a wrong alignment (bnxt)"},
    {"rx_bits", kTraffic, "bits received by the PHY (bnxt)"},
    {"rx_bits_phy", kTraffic, "bits received by the PHY"},
    {"rx_buffer_passed_thres_phy", kHost, "times the receive buffer was over 85% full (mlx5)"},
    {"rx_buffer_passed_threshold", kHost, "times the receive buffer was over 85% full (bnxt)"},
    {"rx_corrected_bits", kHere, "bits corrected by FEC (bnxt)"},
    {"rx_corrected_bits_phy", kHere, "bits corrected by FEC (mlx5)"},
    {"rx_crc_errors_phy", kHere, "frames with a bad FCS (mlx5)"},
    {"rx_discard_packets_cos#", kHost,
     "packets of traffic class # discarded: the NIC had no buffer (bnxt)"},
    {"rx_discards_phy", kHost, "packets discarded: the NIC had no buffer"},
    {"rx_err_lane_0_phy", kHere, "bits corrected by FEC on lane 1 (mlx5)"},
    {"rx_err_lane_1_phy", kHere, "bits corrected by FEC on lane 2 (mlx5)"},
    {"rx_err_lane_2_phy", kHere, "bits corrected by FEC on lane 3 (mlx5)"},
    {"rx_err_lane_3_phy", kHere, "bits corrected by FEC on lane 4 (mlx5)"},
    {"rx_fcs_err_frames", kHere, "frames with a bad FCS (bnxt)"},
    {"rx_fec_corrected_blocks", kHere, "FEC codewords corrected (bnxt)"},
    {"rx_fec_uncorrectable_blocks", kHere, "FEC codewords lost (bnxt)"},
    {"rx_fragments_phy", kForwarded,
     "frames shorter than 64 octets with a bad FCS: the far end's MTU may differ (mlx5)"},
    {"rx_global_pause", kEndToEnd, "pause frames received (mlx5)"},
    {"rx_global_pause_duration", kEndToEnd, "microseconds that transmission was paused (mlx5)"},
    {"rx_global_pause_transition", kEndToEnd, "transitions into pause (mlx5)"},
    {"rx_in_range_len_errors_phy", kForwarded, "frames whose length field is wrong (mlx5)"},
    {"rx_jabbers_phy", kHere, "frames too long, with a bad FCS (mlx5)"},
    {"rx_jbr_frames", kHere, "frames too long, with a bad FCS (bnxt)"},
    {"rx_mtu_err_frames", kForwarded,
     "frames longer than allowed: the far end's MTU differs (bnxt)"},
    {"rx_out_of_range_len_phy", kForwarded,
     "frames whose length field is larger than allowed (mlx5)"},
    {"rx_oversize_pkts_phy", kForwarded,
     "frames longer than allowed: the far end's MTU differs (mlx5)"},
    {"rx_ovrsz_frames", kForwarded, "frames longer than allowed: the far end's MTU differs (bnxt)"},
    {"rx_pause_frames", kEndToEnd, "pause frames received (bnxt)"},
    {"rx_pcs_symbol_err", kHere, "symbol errors that were not corrected (bnxt)"},
    {"rx_pcs_symbol_err_phy", kHere, "symbol errors that were not corrected (mlx5)"},
    {"rx_pfc_ena_frames_pri#", kEndToEnd, "pause frames of priority # received (bnxt)"},
    {"rx_pfc_frames", kEndToEnd, "pause frames of any priority received (bnxt)"},
    {"rx_prio#_buf_discard", kHost,
     "packets of priority # discarded: no receive buffer of this host (mlx5)"},
    {"rx_prio#_cong_discard", kHost,
     "packets of priority # discarded: this host is congested (mlx5)"},
    {"rx_prio#_discards", kHost, "packets of priority # discarded: the NIC had no buffer (mlx5)"},
    {"rx_prio#_pause", kEndToEnd, "pause frames of priority # received (mlx5)"},
    {"rx_runt_frames", kHere, "frames cut short, with a bad FCS (bnxt)"},
    {"rx_stat_discard", kHost, "packets discarded on the way in, for whatever reason (bnxt)"},
    {"rx_stat_err", kHere, "packets in error on the way in, for whatever reason (bnxt)"},
    {"rx_symbol_err_phy", kHere, "frames with a symbol error (mlx5)"},
    {"rx_undersize_pkts_phy", kForwarded, "frames shorter than 64 octets with a good FCS (mlx5)"},
    {"rx_undrsz_frames", kForwarded, "frames shorter than 64 octets with a good FCS (bnxt)"},
    {"tx_discards_phy", kEgress, "packets discarded on the way out (mlx5)"},
    {"tx_errors_phy", kEgress, "frames longer than the port's MTU, dropped (mlx5)"},
    {"tx_fcs_err_frames", kEgress, "frames sent with a bad FCS (bnxt)"},
    {"tx_fifo_underruns", kEgress, "frames cut on the way out: the data came too late (bnxt)"},
    {"tx_global_pause", kHost, "pause frames sent (mlx5)"},
    {"tx_global_pause_duration", kHost, "microseconds that the far end was paused (mlx5)"},
    {"tx_pause_frames", kHost, "pause frames sent (bnxt)"},
    {"tx_pause_storm_error_events", kHost,
     "pauses that lasted so long that the card stopped sending them (mlx5)"},
    {"tx_pfc_ena_frames_pri#", kHost, "pause frames of priority # sent (bnxt)"},
    {"tx_pfc_frames", kHost, "pause frames of any priority sent (bnxt)"},
    {"tx_prio#_pause", kHost, "pause frames of priority # sent (mlx5)"},
    {"tx_stat_discard", kEgress, "packets discarded on the way out, for whatever reason (bnxt)"},
    {"tx_stat_error", kEgress, "packets in error on the way out, for whatever reason (bnxt)"},
};

// ice subtracts the values it found when it was loaded (ice_stat_update40()).
constexpr CounterRow kDriverStatistics[] = {
    {"illegal_bytes.nic", kHere, "bytes with illegal symbols (ice)"},
    {"link_xoff_rx.nic", kEndToEnd, "pause frames received (ice)"},
    {"link_xoff_tx.nic", kHost, "pause frames sent (ice)"},
    {"mac_local_faults.nic", kHere, "local faults: this receiver lost the signal (ice)"},
    {"mac_remote_faults.nic", kEgress,
     "remote faults: the far receiver lost this port's signal (ice)"},
    {"rx_crc_errors.nic", kHere, "frames with a bad CRC (ice)"},
    {"rx_dropped.nic", kHost, "packets discarded: the NIC had no buffer (ice)"},
    {"rx_fragments.nic", kHere, "frames cut short, with a bad FCS (ice)"},
    {"rx_jabber.nic", kHere, "frames too long, with a bad FCS (ice)"},
    {"rx_length_errors.nic", kForwarded, "frames whose length field is wrong (ice)"},
    {"rx_oversize.nic", kForwarded, "frames longer than allowed: the far end's MTU differs (ice)"},
    {"rx_priority_#_xoff.nic", kEndToEnd, "pause frames of priority # received (ice)"},
    {"rx_undersize.nic", kForwarded, "frames shorter than 64 octets with a good FCS (ice)"},
    {"tx_dropped_link_down.nic", kEgress, "packets dropped because the link was down (ice)"},
    {"tx_priority_#_xoff.nic", kHost, "pause frames of priority # sent (ice)"},
};

constexpr CounterRow kIonicStatistics[] = {
    {"frames_rx_bad_all", kHere, "bad frames of all kinds (ionic)"},
    {"frames_rx_bad_fcs", kHere, "frames with a bad FCS (ionic)"},
    {"frames_rx_bad_length", kForwarded, "frames whose length field is wrong (ionic)"},
    {"frames_rx_dropped", kHost, "frames discarded: the NIC had no buffer (ionic)"},
    {"frames_rx_fragments", kHere, "frames cut short, with a bad FCS (ionic)"},
    {"frames_rx_jabber", kHere, "frames too long, with a bad FCS (ionic)"},
    {"frames_rx_oversized", kForwarded,
     "frames longer than allowed: the far end's MTU differs (ionic)"},
    {"frames_rx_pause", kEndToEnd, "pause frames received (ionic)"},
    {"frames_rx_pripause", kEndToEnd, "pause frames of any priority received (ionic)"},
    {"frames_rx_stomped_crc", kForwarded, "frames that a switch had marked bad before (ionic)"},
    {"frames_rx_too_long", kForwarded,
     "frames longer than allowed: the far end's MTU differs (ionic)"},
    {"frames_rx_undersized", kForwarded, "frames shorter than 64 octets with a good FCS (ionic)"},
    {"frames_tx_bad", kEgress, "frames that could not be sent whole (ionic)"},
    {"frames_tx_pause", kHost, "pause frames sent (ionic)"},
    {"frames_tx_pripause", kHost, "pause frames of any priority sent (ionic)"},
    {"frames_tx_truncated", kEgress, "frames cut on the way out: the data came too late (ionic)"},
    {"hw_rx_dropped", kHost, "packets dropped by the card, filtered ones too (ionic)"},
    {"hw_rx_missed_errors", kHost,
     "packets lost to an error of DMA, a queue or a descriptor (ionic)"},
    {"hw_rx_over_errors", kHost,
     "packets that found a receive queue empty: the host had no buffer (ionic)"},
    {"hw_tx_aborted_errors", kEgress,
     "packets not sent for an error of DMA, a queue or a descriptor (ionic)"},
    {"hw_tx_dropped", kEgress, "packets dropped on the way out (ionic)"},
};

constexpr CounterRow kStandardStatistics[] = {
    {"mac_FrameCheckSequenceErrors", kHere, "frames with a bad FCS"},
    {"mac_FramesLostDueToIntMACRcvError", kHost, "frames lost inside the NIC on the way in"},
    {"mac_OctetsReceivedOK", kTraffic, "octets received in good frames, RDMA's too"},
    {"mac_OctetsTransmittedOK", kTraffic, "octets sent in good frames, RDMA's too"},
    {"pause_rx_pause_frames", kEndToEnd,
     "pause frames received: the network cannot absorb this port's traffic"},
    {"pause_tx_pause_frames", kHost,
     "pause frames sent: this host cannot absorb the traffic that it receives"},
    {"pause_tx_pause_storm_events", kHost,
     "times that this NIC had asked for a pause for too long and stopped asking"},
    {"phy_SymbolErrorDuringCarrier", kHere, "symbol errors that were not corrected"},
};

constexpr CounterRow kNetdevStatistics[] = {
    {"netdev_rx_bytes", kTraffic, "octets received by the netdev"},
    {"netdev_rx_crc_errors", kHere, "frames with a bad CRC"},
    {"netdev_rx_dropped", kHost, "packets received and dropped"},
    {"netdev_rx_errors", kHere, "bad packets received"},
    {"netdev_rx_packets", kTraffic, "packets received by the netdev"},
    {"netdev_tx_bytes", kTraffic, "octets sent by the netdev"},
    {"netdev_tx_dropped", kEgress, "packets dropped on the way out"},
    {"netdev_tx_errors", kEgress, "packets that could not be sent"},
    {"netdev_tx_packets", kTraffic, "packets sent by the netdev"},
};

// Classic PMA widths: IBTA vol. 1, 16.1.3.5 (PortCounters). rxe has a link_downed of 64 bits in its
// hw_counters, too: it is read by the PMA's row, and the carrier count is what is judged.
// netdev_rx_missed_errors of mlx5 is a queue counter of 32 bits (mlx5e_get_stats(),
// qcnt.rx_out_of_buffer), that of others has 64: a decrease from beyond 32 bits, or with other
// counters of the netdev, is a reset. mlx5's module_* are the driver's own (lib/events).
std::vector<CounterInfo> single_rows() {
  const auto pma = [](const char* name, std::uint8_t width_bits, CounterPlace place,
                      const char* meaning) -> CounterInfo {
    return {name,   kIbPort, width_bits, width_bits == 64 ? kWraps : kSaturates,
            kByMad, place,   meaning};
  };
  return {
      pma("VL15_dropped", 16, kHere, "management packets dropped: no buffer"),
      pma("excessive_buffer_overrun_errors", 4, kHere, "flow-control periods with buffer overrun"),
      {"fec_corrected_bits", kEthtoolFec, 64, kWraps, kUndocumented, kHere,
       "bits corrected by FEC"},
      {"fec_corrected_blocks", kEthtoolFec, 64, kWraps, kUndocumented, kHere,
       "FEC codewords corrected"},
      {"fec_uncorrectable_blocks", kEthtoolFec, 64, kWraps, kUndocumented, kHere,
       "FEC codewords lost: data was lost"},
      {"link_down_events", kEthtoolDriver, 64, kUnknown, kWithCard, kHere, "link losses (bnxt)"},
      {"link_down_events_phy", kEthtoolDriver, 32, kWraps, kWithCard, kHere,
       "link losses counted by the PHY"},
      pma("link_downed", 8, kHere, "the link went down after failed recovery"),
      pma("link_error_recovery", 8, kHere, "the link retrained without going down"),
      {"link_ext_down_count", kEthtoolStd, 32, kUnknown, kUndocumented, kHere,
       "link losses counted by the driver or PHY"},
      pma("local_link_integrity_errors", 4, kHere, "local physical errors exceeded the threshold"),
      {"module_bad_shorted", kEthtoolDriver, 64, kUnknown, kWithDriver, kHere,
       "times a module was bad or shorted (mlx5)"},
      {"module_bus_stuck", kEthtoolDriver, 64, kUnknown, kWithDriver, kHere,
       "times the module's I2C bus was stuck (mlx5)"},
      {"module_high_temp", kEthtoolDriver, 64, kUnknown, kWithDriver, kHere,
       "times the module was too hot (mlx5)"},
      {"module_unplug", kEthtoolDriver, 64, kUnknown, kWithDriver, kHere,
       "times the module was pulled out (mlx5)"},
      pma("multicast_rcv_packets", 64, kTraffic, "multicast packets received"),
      pma("multicast_xmit_packets", 64, kTraffic, "multicast packets sent"),
      {"netdev_rx_missed_errors", kNetdev, 32, kWraps, kUndocumented, kHost,
       "packets that the NIC had no buffer for"},
      {"outbound_pci_stalled_rd", kEthtoolDriver, 32, kLevel, kNever, kHost,
       "PCIe reads stalled, percent of the last second (mlx5)"},
      {"outbound_pci_stalled_rd_events", kEthtoolDriver, 32, kUnknown, kWithCard, kHost,
       "seconds in which PCIe reads stalled for long (mlx5)"},
      {"outbound_pci_stalled_wr", kEthtoolDriver, 32, kLevel, kNever, kHost,
       "PCIe writes stalled, percent of the last second (mlx5)"},
      {"outbound_pci_stalled_wr_events", kEthtoolDriver, 32, kUnknown, kWithCard, kHost,
       "seconds in which PCIe writes stalled for long (mlx5)"},
      pma("port_rcv_constraint_errors", 8, kHere, "packets refused by a partition or raw filter"),
      pma("port_rcv_data", 64, kTraffic, "data received, in units of four octets"),
      pma("port_rcv_errors", 16, kHere, "packets received with a local physical error"),
      pma("port_rcv_packets", 64, kTraffic, "packets received"),
      pma("port_rcv_remote_physical_errors", 16, kForwarded,
          "packets that a switch had marked bad"),
      pma("port_rcv_switch_relay_errors", 16, kForwarded, "packets that a switch could not relay"),
      pma("port_xmit_constraint_errors", 8, kEgress, "packets not sent: partition or raw filter"),
      pma("port_xmit_data", 64, kTraffic, "data sent, in units of four octets"),
      pma("port_xmit_discards", 16, kEgress, "packets discarded on the way out"),
      pma("port_xmit_packets", 64, kTraffic, "packets sent"),
      pma("port_xmit_wait", 32, kEgress, "ticks with data to send and no credits"),
      {"rx_pci_signal_integrity", kEthtoolDriver, 32, kWraps, kWithCard, kHost,
       "PCIe: signal errors towards the NIC (mlx5)"},
      pma("symbol_error", 16, kHere, "symbol errors not corrected: what the application sees"),
      {"total_success_recovery_phy", kEthtoolDriver, 32, kWraps, kWithCard, kHere,
       "link recoveries by the PHY that worked (mlx5)"},
      {"tx_pci_signal_integrity", kEthtoolDriver, 32, kWraps, kWithCard, kHost,
       "PCIe: signal errors from the NIC (mlx5)"},
      pma("unicast_rcv_packets", 64, kTraffic, "unicast packets received"),
      pma("unicast_xmit_packets", 64, kTraffic, "unicast packets sent"),
      {"np_cnp_sent", kIbHw, 64, kUnknown, kWithCard, kEndToEnd, "congestion notifications sent"},
      {"np_ecn_marked_roce_packets", kIbHw, 64, kUnknown, kWithCard, kEndToEnd,
       "RoCE packets received with a congestion mark"},
      {"rp_cnp_handled", kIbHw, 64, kUnknown, kWithCard, kEndToEnd,
       "congestion notifications that throttled this port"},
      {"rp_cnp_ignored", kIbHw, 64, kUnknown, kWithCard, kEndToEnd,
       "congestion notifications ignored"},
      {"rx_icrc_encapsulated", kIbHw, 64, kUnknown, kWithCard, kEndToEnd,
       "RoCE packets with a bad ICRC in a good frame"},
  };
}

constexpr CounterGroup kMlx5Queues{kIbHw, 32, kWraps, kWithDriver, kMlx5QueueCounters};
constexpr CounterGroup kGroups[] = {
    kMlx5Queues,
    {kIbHw, 64, kUnknown, kUndocumented, kHwCounters},
    {kIbHw, 64, kUnknown, kUndocumented, kIonicHwCounters},
    {kIbHw, 64, kUnknown, kWithDriver, kSoftwareHwCounters},
    {kIbHw, 32, kLevel, kNever, kHwLevels},
    {kEthtoolDriver, 64, kWraps, kWithCard, kCardStatistics},
    {kEthtoolDriver, 64, kWraps, kWithDriver, kDriverStatistics},
    {kEthtoolDriver, 64, kWraps, kUndocumented, kIonicStatistics},
    {kEthtoolStd, 64, kWraps, kUndocumented, kStandardStatistics},
    {kNetdev, 64, kWraps, kUndocumented, kNetdevStatistics},
};

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out(text);
  if (const auto at = out.find(what); at != std::string::npos) out.replace(at, what.size(), by);
  return out;
}

std::vector<CounterInfo> make_table() {
  std::vector<CounterInfo> table = single_rows();
  const auto add = [&table](const CounterGroup& group, std::string name, const CounterRow& row,
                            std::string meaning) {
    table.push_back({std::move(name), group.source, group.width_bits, group.end, group.reset,
                     row.place, std::move(meaning)});
  };
  for (const CounterGroup& group : kGroups)
    for (const CounterRow& row : group.rows) {
      const bool is_family = row.name.find('#') != std::string_view::npos;
      for (const char digit : std::string_view(is_family ? "01234567" : "#")) {
        const std::string_view number(&digit, 1);
        add(group, replaced(row.name, "#", number), row, replaced(row.meaning, "#", number));
      }
    }
  for (const CounterRow& row : kMlx5QueueCounters)
    add(kMlx5Queues, "vport_" + std::string(row.name), row,
        replaced(row.meaning, " (mlx5)", "") + " (mlx5 in switch mode, of a virtual port)");
  std::ranges::sort(table, {}, &CounterInfo::name);
  return table;
}

}  // namespace

std::span<const CounterInfo> known_counters() {
  static const std::vector<CounterInfo> kTable = make_table();
  return kTable;
}

std::optional<CounterId> find_counter(std::string_view name) {
  const auto table = known_counters();
  const auto at = std::ranges::lower_bound(table, name, {}, &CounterInfo::name);
  if (at == table.end() || at->name != name) return std::nullopt;
  return static_cast<CounterId>(at - table.begin());
}

}  // namespace linkhealth
