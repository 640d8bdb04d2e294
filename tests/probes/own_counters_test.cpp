#include "probes/own_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "mad_fabric.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using testing::FakeFabric;

constexpr std::uint32_t kPortInfo = 0x0015, kClassPortInfo = 0x0001, kPlain = 0x0012,
                        kExtended = 0x001d;

struct OwnPort : ::testing::Test {
  FakeFabric fabric;
  PortId id;
  SteadyTime now = steady_from_seconds(1000);
  std::optional<OwnCounters> own;

  OwnPort() {
    id.device = "mlx5_0";
    id.link_layer = "InfiniBand";
  }
  Result<Counters> read() {
    if (!own) own.emplace(fabric.opener(), id);
    fabric.asked.clear();
    return own->read(now);
  }
};

TEST_F(OwnPort, AskedAtItsOwnLidAndTwoMadsAreEnoughWhileNothingChanges) {
  fabric.own_lid = 31;
  const auto first = read();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->get("symbol_error"), 7U);
  EXPECT_EQ(first->get("port_xmit_wait"), 55U);
  EXPECT_EQ(first->get("port_xmit_data"), 0x123456789abcdefU);
  EXPECT_THAT(fabric.attributes(), ElementsAre(kPortInfo, kClassPortInfo, kPlain, kExtended));
  for (const auto& asked : fabric.asked)
    if (asked.request[1] != 0x81) {
      EXPECT_EQ(asked.lid, 31);
    }
  now += Milliseconds(10'000);
  ASSERT_TRUE(read());
  EXPECT_THAT(fabric.attributes(), ElementsAre(kPlain, kExtended));
  EXPECT_EQ(own->mads(), 6U);
  EXPECT_EQ(fabric.open_now, 0) << "the device must be able to go";
}

TEST_F(OwnPort, HasTheNamesOfTheFiles) {
  const auto counters = read();
  ASSERT_TRUE(counters);
  for (const auto& [id_of, value] : counters->known())
    EXPECT_EQ(known_counters()[id_of].source, CounterSource::kIbPort)
        << known_counters()[id_of].name;
  // The 21 files of counters/ (linux: drivers/infiniband/core/sysfs.c).
  EXPECT_EQ(counters->known().size(), 21U);
  EXPECT_TRUE(counters->other().empty());
}

TEST_F(OwnPort, HasTheNamesOfTheFilesAlsoWhereTheAgentSaysLessOfItself) {
  fabric.perf_mask = 0x0200;  // linux: drivers/infiniband/hw/mlx5/mad.c, process_pma_cmd()
  const auto counters = read();
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->get("port_xmit_wait"), 55U);
  EXPECT_EQ(counters->known().size(), 21U);
}

TEST_F(OwnPort, HasTheWidthOfTheFilesThatStandInWhileTheLinkIsDown) {
  fabric.perf_mask = 0x1000;
  fabric.perf_mask2 = 2;  // the error counters in 64 bits
  fabric.symbol_error = 65'535;
  const auto counters = read();
  ASSERT_TRUE(counters) << counters.error().message;
  EXPECT_EQ(counters->get("symbol_error"), 65'535U);
  EXPECT_EQ(counters->get("link_downed"), 2U) << "64 bits of it would say another number";
  EXPECT_EQ(counters->get("port_xmit_data"), 0x123456789abcdefU);
}

TEST_F(OwnPort, TheLidIsReadAgainEachMinute) {
  ASSERT_TRUE(read());
  now += Milliseconds(60'000);
  ASSERT_TRUE(read());
  EXPECT_THAT(fabric.attributes(), ElementsAre(kPortInfo, kPlain, kExtended));
}

TEST_F(OwnPort, NewErrorsAreBelievedOnlyAtALidThatIsStillItsOwn) {
  ASSERT_TRUE(read());
  now += Milliseconds(10'000);
  fabric.symbol_error = 900;
  auto counters = read();
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->get("symbol_error"), 900U);
  EXPECT_THAT(fabric.attributes(), ElementsAre(kPlain, kExtended, kPortInfo))
      << "its own: no further question";

  // Another port has the LID now, with other errors: they are asked again at the new one.
  now += Milliseconds(10'000);
  fabric.symbol_error = 40'000;
  fabric.own_lid = 44;
  fabric.spoil = [&](std::vector<std::uint8_t>&) {
    fabric.symbol_error = 901;
  };  // of what is asked after it
  counters = read();
  ASSERT_TRUE(counters);
  EXPECT_THAT(fabric.attributes(), ElementsAre(kPlain, kExtended, kPortInfo, kPlain, kExtended));
  EXPECT_EQ(counters->get("symbol_error"), 901U);
  EXPECT_EQ(fabric.asked.back().lid, 44);
}

TEST_F(OwnPort, WithoutALinkOrALidNothingIsAsked) {
  fabric.own_state = 2;  // INIT
  EXPECT_EQ(read().error().errnum, ENOTCONN);
  EXPECT_THAT(fabric.attributes(), ElementsAre(kPortInfo));
  fabric.own_state = 4;
  fabric.own_lid = 0;
  EXPECT_EQ(read().error().errnum, ENOTCONN);
  fabric.own_lid = 7;
  EXPECT_TRUE(read());
}

TEST_F(OwnPort, AfterAFailureTheLidIsNotTrusted) {
  ASSERT_TRUE(read());
  fabric.errnum[kPlain] = ETIMEDOUT;
  EXPECT_EQ(read().error().errnum, ETIMEDOUT);
  fabric.errnum.clear();
  fabric.own_lid = 5;
  ASSERT_TRUE(read());
  EXPECT_EQ(fabric.attributes().front(), kPortInfo);
  EXPECT_EQ(fabric.asked.back().lid, 5);
}

TEST_F(OwnPort, HalfAnAnswerIsNone) {
  fabric.errnum[kExtended] = ETIMEDOUT;
  EXPECT_EQ(read().error().errnum, EIO);
  fabric.errnum.clear();
  fabric.perf_mask = 0;
  EXPECT_EQ(read().error().errnum, EOPNOTSUPP) << "the files say more";
}

TEST_F(OwnPort, AnAnswerOfAnotherPortIsAnError) {
  fabric.port_select_offset = 1;
  EXPECT_EQ(read().error().errnum, EPROTO);
}

TEST_F(OwnPort, OnlyInfiniBandPortsAreOffered) {
  EXPECT_TRUE(OwnCounters(fabric.opener(), id).offered());
  EXPECT_FALSE(OwnCounters({}, id).offered());
  id.link_layer = "Ethernet";
  EXPECT_FALSE(OwnCounters(fabric.opener(), id).offered());
  EXPECT_EQ(read().error().errnum, EOPNOTSUPP);
  EXPECT_EQ(fabric.opened, 0);
}

TEST_F(OwnPort, WithoutTheRightTheErrorIsThatOfOpening) {
  fabric.open_errnum = EACCES;
  EXPECT_EQ(read().error().errnum, EACCES);
}

}  // namespace
}  // namespace linkhealth
