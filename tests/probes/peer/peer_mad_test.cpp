#include "probes/peer/peer_mad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <set>

#include "mad_fabric.h"
#include "probes/peer/mad_port.h"

namespace linkhealth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FakeFabric;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Attributes = std::vector<std::uint32_t>;
constexpr std::uint32_t kNode = 0x11, kDescription = 0x10, kPort = 0x15, kCapabilities = 0x01,
                        kCounters = 0x12, kExtended = 0x1d;

InventoryPort ib_port(const std::string& device = "mlx5_0", std::uint32_t number = 1) {
  InventoryPort port;
  port.id.device = device;
  port.id.port = number;
  port.id.guid = device + "-guid";
  port.id.link_layer = "InfiniBand";
  return port;
}

class PeerMad : public ::testing::Test {
 protected:
  PeerMad() {
    timing_.first_within = 1ms;
    probe_ = make_mad_probe(timing_, fabric_.opener());
  }
  /// The next round that is due, on any port.
  std::vector<PeerReading> read() {
    now_ = std::max(now_, probe_->next_due(now_));
    return probe_->read(ports_, now_);
  }
  /// REQUIRES: one port.
  PeerReading round() {
    auto readings = read();
    EXPECT_EQ(readings.size(), 1U);
    return readings.empty() ? PeerReading() : readings.front();
  }
  static std::vector<std::string> reasons(const PeerReading& reading) {
    std::vector<std::string> all;
    for (const Gap& gap : reading.gaps) {
      EXPECT_EQ(gap.probe, "peer_mad");
      EXPECT_EQ(gap.port, reading.port);
      all.push_back(gap.reason);
    }
    return all;
  }

  MadTiming timing_;
  FakeFabric fabric_;
  std::unique_ptr<PeerProbe> probe_;
  std::vector<InventoryPort> ports_ = {ib_port()};
  SteadyTime now_{1000s};
};

TEST_F(PeerMad, ReadsASwitchAndTheCountersOfItsPort) {
  const PeerReading reading = round();
  ASSERT_TRUE(reading.peer);
  EXPECT_EQ(reading.port, "mlx5_0/1");
  EXPECT_EQ(reading.read_at, now_);
  EXPECT_EQ(reading.peer->source, "mad");
  EXPECT_EQ(reading.peer->system, "leaf-12");
  EXPECT_EQ(reading.peer->port, "17");
  EXPECT_EQ(reading.peer->guid, "b83f:d203:0012:3456");
  EXPECT_EQ(reading.peer->link->state, "ACTIVE");
  EXPECT_EQ(reading.peer->link->speed_mbps, 400'000U);
  EXPECT_EQ(reading.peer->counters->get("symbol_error"), 7U);
  EXPECT_EQ(reading.peer->counters->get("link_downed"), 2U);
  EXPECT_EQ(reading.peer->counters->get("port_xmit_data"), 0x123456789abcdefU);
  EXPECT_THAT(reading.gaps, IsEmpty());
  EXPECT_EQ(fabric_.attributes(), (Attributes{kPort, kNode, kDescription, kPort, kPort,
                                              kCapabilities, kCounters, kExtended}));
  // The switch's one LID, from its port 0, and the port that the cable is in.
  EXPECT_EQ(fabric_.requests[3].request[23], 17);
  EXPECT_EQ(fabric_.requests[4].request[23], 0);
  EXPECT_EQ(fabric_.requests[6].lid, 12);
  EXPECT_EQ(fabric_.requests[6].request[65], 17);
}

TEST_F(PeerMad, ALaterRoundReadsWhatChanges) {
  round();
  fabric_.requests.clear();
  EXPECT_EQ(round().peer->system, "leaf-12");
  EXPECT_EQ(fabric_.attributes(),
            (Attributes{kPort, kNode, kDescription, kPort, kPort, kCounters, kExtended}));
  fabric_.description = "leaf-13";
  EXPECT_EQ(round().peer->system, "leaf-13");
}

TEST_F(PeerMad, ANewFarEndHasItsOwnNameAndCapabilities) {
  round();
  fabric_.node_guid += 1;
  fabric_.description = "leaf-99";
  fabric_.perf_mask = 0;
  const PeerReading reading = round();
  EXPECT_EQ(reading.peer->system, "leaf-99");
  EXPECT_EQ(reading.peer->counters->get("port_xmit_data"), std::nullopt);
  EXPECT_THAT(reasons(reading), ElementsAre("counters: no 64-bit traffic counters there"));
  fabric_.node_local_port = 18;  // another port of the same switch
  fabric_.description = "leaf-98";
  EXPECT_EQ(round().peer->system, "leaf-98");
}

TEST_F(PeerMad, AnUnansweredNameKeepsItsOldValueWhileTheLinkIsUp) {
  fabric_.errnum[kDescription] = ETIMEDOUT;
  EXPECT_EQ(round().peer->system, "");
  fabric_.errnum.clear();
  EXPECT_EQ(round().peer->system, "leaf-12");
  fabric_.errnum[kDescription] = ETIMEDOUT;
  EXPECT_EQ(round().peer->system, "leaf-12");
  fabric_.own_phys_state = 2;  // Polling
  round();
  fabric_.own_phys_state = 5;
  EXPECT_EQ(round().peer->system, "") << "it may be another one now";
}

TEST_F(PeerMad, AChannelAdapterHasItsLidInThePortItself) {
  fabric_.node_type = 1;
  fabric_.node_ports = 2;
  fabric_.node_local_port = 2;
  fabric_.port_lid = 77;
  fabric_.description = "gpu-0418 mlx5_3";
  const PeerReading reading = round();
  EXPECT_EQ(reading.peer->port, "2");
  EXPECT_TRUE(reading.peer->counters);
  EXPECT_EQ(fabric_.requests.back().lid, 77);
}

TEST_F(PeerMad, ADownLinkIsOneRequestToTheOwnPort) {
  fabric_.own_phys_state = 2;
  const PeerReading reading = round();
  EXPECT_FALSE(reading.peer);
  EXPECT_THAT(reasons(reading), ElementsAre("the link is down: the far end cannot be reached"));
  ASSERT_EQ(fabric_.requests.size(), 1U);
  EXPECT_EQ(fabric_.requests[0].request[7], 0);  // no hop
}

TEST_F(PeerMad, ASilentFarEndIsOneBoundedRequestAndAGap) {
  fabric_.errnum[kNode] = ETIMEDOUT;
  const PeerReading reading = round();
  EXPECT_FALSE(reading.peer);
  EXPECT_THAT(reasons(reading), ElementsAre("the far end: no answer: Connection timed out"));
  ASSERT_EQ(fabric_.requests.size(), 2U);
  EXPECT_EQ(fabric_.requests[1].timeout, 200ms);
  EXPECT_EQ(fabric_.requests[1].tries, 2);
}

TEST_F(PeerMad, DamageIsAGapAndNeverAPeer) {
  fabric_.node_local_port = 0;
  EXPECT_FALSE(round().peer);
  fabric_.node_local_port = 17;
  for (const std::size_t size : {0U, 20U, 255U}) {
    fabric_.spoil = [size](std::vector<std::uint8_t>& bytes) { bytes.resize(size); };
    const PeerReading reading = round();
    EXPECT_FALSE(reading.peer);
    EXPECT_THAT(reasons(reading), ElementsAre(HasSubstr("bytes, not 256")));
  }
  fabric_.spoil = [](std::vector<std::uint8_t>& bytes) { bytes[15] ^= 1U; };
  EXPECT_THAT(reasons(round()), ElementsAre("the far end: the answer to another request"));
}

TEST_F(PeerMad, ALaterFailureKeepsTheEarlierAnswers) {
  fabric_.status[kCounters] = 0x0c;
  PeerReading reading = round();
  EXPECT_EQ(reading.peer->link->state, "ACTIVE");
  EXPECT_FALSE(reading.peer->counters);
  EXPECT_THAT(reasons(reading),
              ElementsAre("counters: the far end does not support the attribute (status 0x000c)"));

  fabric_.status.clear();
  fabric_.errnum[kExtended] = ETIMEDOUT;
  reading = round();
  EXPECT_EQ(reading.peer->counters->get("symbol_error"), 7U);
  EXPECT_EQ(reading.peer->counters->get("port_xmit_data"), std::nullopt);
  EXPECT_THAT(reasons(reading),
              ElementsAre("counters: 64-bit ones: no answer: Connection timed out"));

  fabric_.port_select_offset = 1;
  fabric_.errnum.clear();
  reading = round();
  EXPECT_FALSE(reading.peer->counters);
  EXPECT_THAT(reasons(reading), ElementsAre("counters: the answer is about port 18, not 17"));

  fabric_.errnum[kPort] = ETIMEDOUT;
  reading = round();
  EXPECT_EQ(reading.peer->system, "leaf-12");
  EXPECT_FALSE(reading.peer->link);
  EXPECT_THAT(reasons(reading),
              ElementsAre("state of the far port: no answer: Connection timed out"));
}

TEST_F(PeerMad, WithoutASubnetManagerThereAreNoCounters) {
  fabric_.state = 2;
  PeerReading reading = round();
  EXPECT_EQ(reading.peer->link->state, "INIT");
  EXPECT_THAT(reasons(reading),
              ElementsAre("counters: the link is INIT, no subnet manager has made it active"));
  fabric_.state = 4;
  for (const unsigned lid : {0U, 0xc000U, 0xffffU}) {  // none, multicast, "no LID"
    fabric_.switch_lid = static_cast<std::uint16_t>(lid);
    reading = round();
    EXPECT_FALSE(reading.peer->counters);
    EXPECT_THAT(
        reasons(reading),
        ElementsAre("counters: the far end has no LID, no subnet manager has assigned one"));
  }
}

TEST_F(PeerMad, WideErrorCountersReplaceTheNarrowOnes) {
  fabric_.perf_mask2 = 2;
  EXPECT_EQ(round().peer->counters->get("symbol_error"), 1'000'000U);
  fabric_.errnum[kExtended] = ETIMEDOUT;
  const PeerReading reading = round();
  EXPECT_FALSE(reading.peer->counters) << "the narrow ones do not stand in for them";
  EXPECT_EQ(reading.peer->link->state, "ACTIVE");
  EXPECT_THAT(reasons(reading),
              ElementsAre("counters: 64-bit ones: no answer: Connection timed out"));
}

TEST_F(PeerMad, NeverSetsAndNeverReusesATransaction) {
  for (int i = 0; i < 5; ++i) round();
  std::set<Mad> requests;
  for (const auto& one : fabric_.requests) {
    EXPECT_EQ(one.request[3], 0x01);
    requests.insert(one.request);
  }
  EXPECT_EQ(requests.size(), fabric_.requests.size());
  EXPECT_EQ(fabric_.open_now, 0);
}

TEST_F(PeerMad, ReadsOnlyInfiniBandPortsWithACable) {
  ports_ = {ib_port("mlx5_1"), ib_port("mlx5_2"), ib_port("mlx5_3"), ib_port("mlx5_4", 300)};
  ports_[0].id.link_layer = "Ethernet";
  ports_[1].exempt_reason = "virtual function of 0000:1b:00.0";
  ports_[2].id.verbs = false;
  EXPECT_THAT(read(), IsEmpty());
  EXPECT_EQ(fabric_.opened, 0);
}

TEST_F(PeerMad, NoAccessIsOneGapForAllPortsUntilItIsGranted) {
  ports_ = {ib_port("mlx5_0"), ib_port("mlx5_1")};
  fabric_.open_errnum = EACCES;
  std::string reason;
  for (int i = 0; i < 4; ++i) {
    const auto readings = read();
    ASSERT_EQ(readings.size(), 1U);
    EXPECT_EQ(readings[0].port, "");
    ASSERT_EQ(readings[0].gaps.size(), 1U);
    EXPECT_EQ(readings[0].gaps[0].port, "");
    EXPECT_THAT(readings[0].gaps[0].reason, HasSubstr("Permission denied"));
    reason = readings[0].gaps[0].reason;
  }
  EXPECT_THAT(reason, HasSubstr("mlx5_0"));
  EXPECT_THAT(reason, HasSubstr("(the other ports likewise)")) << "it names the first one's file";
  fabric_.open_errnum = 0;
  std::vector<PeerReading> last;
  for (int i = 0; i < 4; ++i) last = read();
  ASSERT_EQ(last.size(), 1U);
  EXPECT_TRUE(last[0].peer);
}

TEST_F(PeerMad, APortWithoutAnInterfaceIsItsOwnGapWhereAnotherAnswers) {
  timing_.first_within = 0ms;
  const auto open_all = fabric_.opener();
  probe_ = make_mad_probe(
      timing_, [&](const std::string& device, std::uint32_t port) -> decltype(open_all("", 0U)) {
        if (device == "mlx5_1") return Error{"no management interface for mlx5_1 port 1", ENODEV};
        return open_all(device, port);
      });
  ports_ = {ib_port("mlx5_0"), ib_port("mlx5_1")};
  const auto readings = read();
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_TRUE(readings[0].peer);
  EXPECT_THAT(readings[0].gaps, IsEmpty());
  EXPECT_EQ(readings[1].port, "mlx5_1/1");
  ASSERT_EQ(readings[1].gaps.size(), 1U);
  EXPECT_EQ(readings[1].gaps[0].port, "mlx5_1/1");
}

TEST_F(PeerMad, WithoutASpreadOneCallReadsEveryPort) {
  timing_.first_within = 0ms;
  probe_ = make_mad_probe(timing_, fabric_.opener());
  ports_ = {ib_port("mlx5_0"), ib_port("mlx5_1"), ib_port("mlx5_2")};
  EXPECT_EQ(read().size(), 3U);
  EXPECT_THAT(probe_->read(ports_, now_), IsEmpty());
}

TEST_F(PeerMad, PortsComeAndGo) {
  round();
  ports_.clear();
  EXPECT_THAT(read(), IsEmpty());
  ports_ = {ib_port()};
  fabric_.requests.clear();
  EXPECT_TRUE(round().peer);
  EXPECT_THAT(fabric_.attributes(), ::testing::Contains(kCapabilities))
      << "nothing is known of a port that was gone";
}

TEST_F(PeerMad, TheFirstRoundComesSoonAndTheOthersAtThePortsOwnPhase) {
  probe_ = make_mad_probe({}, fabric_.opener());
  ports_ = {ib_port("mlx5_0"), ib_port("mlx5_1"), ib_port("mlx5_2")};
  const SteadyTime start = now_;
  std::map<PortKey, std::vector<SteadyTime>> rounds;
  while (now_ < start + 10min)
    for (const PeerReading& reading : read()) rounds[reading.port].push_back(reading.read_at);
  ASSERT_EQ(rounds.size(), 3U);
  for (const auto& [port, times] : rounds) {
    EXPECT_LT(times.front(), start + 10s) << port;
    EXPECT_THAT(times.size(), ::testing::AllOf(::testing::Ge(10U), ::testing::Le(12U)));
    const std::string identity = port.substr(0, 6) + "-guid/1";
    for (std::size_t i = 1; i < times.size(); ++i) {
      EXPECT_EQ(times[i].time_since_epoch() % 60s, mad_phase(identity, 60s)) << port;
      EXPECT_GE(times[i] - times[i - 1], 30s);
    }
  }
}

TEST(MadPhase, IsTheSameOnEveryStartAndInsideThePeriod) {
  for (const char* guid : {"", "a", "b83f:d203:0012:3456/1"}) {
    EXPECT_EQ(mad_phase(guid, 60s), mad_phase(guid, 60s));
    EXPECT_GE(mad_phase(guid, 60s), 0ms);
    EXPECT_LT(mad_phase(guid, 60s), 60s);
  }
  EXPECT_EQ(mad_phase("a", 0ms), 0ms);
}

TEST(MadPhase, ThousandsOfNeighbouringGuidsAreSpreadEvenly) {
  // 4,000 nodes with 8 ports each in 60 slots of a second: 533 on average, and chance alone gives
  // sqrt(533) = 23.
  std::map<long, int> slots;
  for (int node = 0; node < 4000; ++node)
    for (int port = 1; port <= 8; ++port)
      ++slots[mad_phase(
                  "b83f:d203:0012:" + std::to_string(1000 + node) + "/" + std::to_string(port),
                  60s) /
              1s];
  ASSERT_EQ(slots.size(), 60U);
  for (const auto& [slot, count] : slots) EXPECT_NEAR(count, 533, 5 * 23) << slot;
}

TEST(MadUmad, WithoutTheModuleTheLibraryWritesNothingOfItsOwn) {
  ::testing::internal::CaptureStderr();
  const auto port = open_umad_port("no_such_device", 1);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ASSERT_FALSE(port);
  EXPECT_THAT(port.error().message, ::testing::HasSubstr("load ib_umad"));
}

}  // namespace
}  // namespace linkhealth
