#include "model/counters.h"

#include <gtest/gtest.h>

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

// The names as the drivers write them: one of each kind, both names where a driver has renamed its own.
TEST(Counters, HwCountersOfEachDriverAreKnown) {
  for (const char* name : {"rx_dct_connect",
                           "cc_rx_ce_pkts",
                           "rdma_tx_bytes",  // mlx5
                           "rx_roce_good_pkts",
                           "oos_drop_count",
                           "rx_cnp_pkts",
                           "np_cnp_pkts",
                           "active_qps",  // bnxt_re
                           "tcpRetransSegs",
                           "RetransSegs",
                           "RxECNMrkd",
                           "Nak Sequence Error",
                           "ip4InOctets",  // irdma
                           "rdma_read_wr_err",
                           "retrans_pkts",
                           "impaired_remote_conn_events",
                           "no_completion_cmds",  // efa
                           "sent_pkts",
                           "retry_rnr_exceeded_err",
                           "rdma_recvs"}) {  // rxe
    const auto id = find_counter(name);
    ASSERT_TRUE(id) << name;
    EXPECT_EQ(known_counters()[*id].source, CounterSource::kIbHw) << name;
  }
  // What counts objects in use goes down without a reset.
  EXPECT_EQ(known_counters()[*find_counter("active_qps")].end, CounterEnd::kLevel);
}

}  // namespace
}  // namespace linkhealth
