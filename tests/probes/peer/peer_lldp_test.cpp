// LLDP: which neighbour is the far end, how it is called, and what is said where there is none. The
// library below the seam is tried against a real lldpd in lldpd_live.py.
#include "probes/peer/peer_lldp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tests/support/fake_host.h"
#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

using testing::FakeHost;
using testing::ManualClock;

LldpNeighbour leaf() {
  LldpNeighbour neighbour;
  neighbour.protocol = "LLDP";
  neighbour.chassis_name = "leaf-12.dc1.example";
  neighbour.chassis_id = "42:e2:2d:6f:0b:a1";
  neighbour.port_id = "Ethernet17/1";
  neighbour.port_id_subtype = "ifname";
  neighbour.port_description = "to gpu-0417";
  neighbour.management_address = "10.0.0.12";
  return neighbour;
}

struct Answers {
  Result<std::vector<LldpInterface>> next{std::vector<LldpInterface>{}};
  int asked = 0;
};

class FakeLldpd final : public LldpClient {
 public:
  explicit FakeLldpd(std::shared_ptr<Answers> answers) : answers_(std::move(answers)) {}
  Result<std::vector<LldpInterface>> interfaces() override {
    ++answers_->asked;
    return answers_->next;
  }

 private:
  std::shared_ptr<Answers> answers_;
};

class PeerLldp : public ::testing::Test {
 protected:
  PeerLldp() {
    auto host = std::make_unique<FakeHost>();
    host_ = host.get();
    probe = make_lldp_probe(std::make_unique<FakeLldpd>(answers), "/run/lldpd.socket",
                            std::move(host), {});
    port.id.device = "mlx5_0";
    port.id.netdev = "ens1np0";
    port.id.pci = "0000:1b:00.0";
    port.id.driver = "mlx5_core";
    port.id.link_layer = "Ethernet";
    port.ifindex = 2;
    port.sysfs_netdev_dir = "/sys/class/net/ens1np0";
    set_operstate("up");
  }
  void set_operstate(const std::string& state) {
    host_->set("/sys/class/net/ens1np0/operstate", state + "\n");
  }
  void sees(std::vector<LldpNeighbour> neighbours) {
    answers->next = std::vector<LldpInterface>{{"ens1np0", std::move(neighbours)}};
  }
  /// One round at the given seconds.
  std::vector<PeerReading> at(int seconds) {
    const std::vector<InventoryPort> ports = {port};
    return probe->read(ports, SteadyTime(Milliseconds(seconds * 1000)));
  }

  std::shared_ptr<Answers> answers = std::make_shared<Answers>();
  FakeHost* host_ = nullptr;
  std::unique_ptr<PeerProbe> probe;
  InventoryPort port;
};

TEST_F(PeerLldp, NamesTheOneNeighbour) {
  sees({leaf()});
  const auto readings = at(100);
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings[0].port, "mlx5_0/1");
  EXPECT_TRUE(readings[0].answered);
  ASSERT_TRUE(readings[0].peer);
  EXPECT_EQ(readings[0].peer->source, "lldp");
  EXPECT_EQ(readings[0].peer->system, "leaf-12.dc1.example");
  EXPECT_EQ(readings[0].peer->port, "Ethernet17/1");
  EXPECT_EQ(readings[0].peer->description, "to gpu-0417");
  EXPECT_EQ(readings[0].peer->address, "10.0.0.12");
  EXPECT_TRUE(readings[0].gaps.empty());
  EXPECT_EQ(probe->next_due(SteadyTime()), SteadyTime(Milliseconds(130'000)));
}

TEST(PeerLldpNames, APortIdThatIsAnAddressGivesWayToTheDescription) {
  LldpNeighbour neighbour = leaf();
  neighbour.port_id = "42:e2:2d:6f:0b:a2";
  neighbour.port_id_subtype = "mac";
  neighbour.port_description = "swp17";
  EXPECT_EQ(peer_of_neighbour(neighbour).port, "swp17");
  EXPECT_EQ(peer_of_neighbour(neighbour).description, "");
  neighbour.port_description = "";
  EXPECT_EQ(peer_of_neighbour(neighbour).port, "42:e2:2d:6f:0b:a2") << "better than nothing";
}

TEST(PeerLldpNames, ASystemWithoutNameIsItsChassis) {
  LldpNeighbour neighbour = leaf();
  neighbour.chassis_name = "";
  EXPECT_EQ(peer_of_neighbour(neighbour).system, "42:e2:2d:6f:0b:a1");
}

TEST(PeerLldpNames, WhatComesFromTheWireIsMadeSafeToShow) {
  LldpNeighbour neighbour = leaf();
  neighbour.chassis_name = "leaf\x1b[2J\n12";
  neighbour.port_id = std::string(2000, 'x');
  EXPECT_EQ(peer_of_neighbour(neighbour).system, "leaf?[2J?12");
  EXPECT_EQ(peer_of_neighbour(neighbour).port.size(), 255U);
}

TEST_F(PeerLldp, SeveralNeighboursMeanThatNoneIsKnown) {
  LldpNeighbour other = leaf();
  other.chassis_name = "gpu-0418";
  other.chassis_id = "42:e2:2d:6f:0b:ff";
  other.port_id = "ens1np0";
  sees({leaf(), other});
  const auto readings = at(100);
  EXPECT_FALSE(readings[0].peer);
  ASSERT_EQ(readings[0].gaps.size(), 1U);
  EXPECT_EQ(readings[0].gaps[0].reason,
            "2 LLDP neighbours (gpu-0418 ens1np0, leaf-12.dc1.example Ethernet17/1): a bridge in "
            "between forwards LLDP, so none is known to be the far end");
}

TEST_F(PeerLldp, OneSystemInTwoProtocolsIsOneNeighbour) {
  LldpNeighbour cdp = leaf();
  cdp.protocol = "CDPv2";
  cdp.port_id = "Eth17/1";
  sees({cdp, leaf(), leaf()});
  EXPECT_EQ(at(100)[0].peer->port, "Ethernet17/1");
}

TEST_F(PeerLldp, NoNeighbourIsAGapOnlyWhenOneMustHaveCome) {
  sees({});
  EXPECT_TRUE(at(100)[0].gaps.empty());
  EXPECT_TRUE(at(159)[0].gaps.empty());
  const auto gaps = at(160)[0].gaps;
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_THAT(gaps[0].reason,
              ::testing::StartsWith("no LLDP neighbour: is LLDP on at the far port? Or "));
  EXPECT_THAT(gaps[0].reason, ::testing::HasSubstr("mstconfig -d 0000:1b:00.0 query"));
}

TEST_F(PeerLldp, APortThatWasDownOrHadANeighbourWaitsAgain) {
  sees({});
  at(100);
  EXPECT_FALSE(at(160)[0].gaps.empty());
  set_operstate("down");
  EXPECT_TRUE(at(170)[0].gaps.empty())
      << "a port that is down has no neighbour, and that is no gap";
  EXPECT_TRUE(at(170)[0].answered);
  set_operstate("up");
  EXPECT_TRUE(at(200)[0].gaps.empty());
  EXPECT_TRUE(at(259)[0].gaps.empty());
  EXPECT_FALSE(at(260)[0].gaps.empty());
  sees({leaf()});
  EXPECT_TRUE(at(290)[0].peer);
  sees({});
  EXPECT_TRUE(at(320)[0].gaps.empty());
}

TEST_F(PeerLldp, ADeviceThatLldpdDoesNotWatchIsNamed) {
  at(100);
  const auto gaps = at(160)[0].gaps;
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_THAT(gaps[0].reason, ::testing::StartsWith("lldpd does not watch ens1np0"));
}

TEST_F(PeerLldp, PortsWithoutLldpAreNotAskedAbout) {
  port.id.link_layer = "InfiniBand";
  EXPECT_TRUE(at(100).empty());
  port.id.link_layer = "Ethernet";
  port.exempt_reason = "virtual function of 0000:1b:00.0";
  EXPECT_TRUE(at(100).empty());
  port.exempt_reason.clear();
  port.ifindex = 0;
  EXPECT_TRUE(at(100).empty());
  EXPECT_EQ(answers->asked, 0) << "a node of InfiniBand ports needs no lldpd, and misses none";
}

TEST_F(PeerLldp, AnLldpdThatIsNotThereIsOneGapOfTheNode) {
  answers->next = Error{"/run/lldpd.socket: No such file or directory", ENOENT};
  const auto readings = at(100);
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings[0].port, "");
  EXPECT_FALSE(readings[0].answered) << "what it said before stands for a while";
  ASSERT_EQ(readings[0].gaps.size(), 1U);
  EXPECT_EQ(readings[0].gaps[0],
            (Gap{"", "peer_lldp",
                 "no socket at /run/lldpd.socket: install and start lldpd (in a container: mount "
                 "the host's socket, docs/hardware.md), or set peers.lldp to 0"}));
}

TEST(PeerLldpFailures, EachSaysWhatToDo) {
  const auto said = [](int errnum) {
    return lldp_failure(Error{"x", errnum}, "/run/lldpd.socket");
  };
  EXPECT_THAT(said(ECONNREFUSED), ::testing::HasSubstr("systemctl start lldpd"));
  EXPECT_THAT(said(ECONNREFUSED), ::testing::HasSubstr("in a container restart the container"));
  EXPECT_THAT(said(EACCES), ::testing::HasSubstr("SupplementaryGroups=_lldpd"));
  EXPECT_THAT(said(EACCES), ::testing::HasSubstr("Kubernetes: supplementalGroups"));
  EXPECT_THAT(said(ETIMEDOUT), ::testing::HasSubstr("restart it"));
  EXPECT_THAT(said(EPROTO), ::testing::HasSubstr("must have one version"));
  EXPECT_EQ(said(EIO), "x");
}

TEST(PeerLldpHints, AreOfTheDriver) {
  EXPECT_THAT(lldp_driver_hint("ice", "ens1", "0000:1b:00.0"),
              ::testing::HasSubstr("ethtool --set-priv-flags ens1 fw-lldp-agent off"));
  EXPECT_THAT(lldp_driver_hint("i40e", "ens1", "0000:1b:00.0"),
              ::testing::HasSubstr("ethtool --set-priv-flags ens1 disable-fw-lldp on"));
  EXPECT_THAT(lldp_driver_hint("bnxt_en", "ens1", "0000:1b:00.0"),
              ::testing::HasSubstr("dcb dcbx show dev ens1"));
  EXPECT_THAT(lldp_driver_hint("mlx5_core", "ens1", "0000:1b:00.0"),
              ::testing::HasSubstr("LLDP_NB_RX_MODE_P1=0"));
  EXPECT_THAT(lldp_driver_hint("mlx5_core", "ens1", "0000:1b:00.1"),
              ::testing::HasSubstr("LLDP_NB_RX_MODE_P2=0"));
  EXPECT_EQ(lldp_driver_hint("tg3", "ens1", "0000:1b:00.0"), "");
}

/// The real client against sockets that are not lldpd.
class LldpClientSocket : public ::testing::Test {
 protected:
  void SetUp() override {
    directory = std::filesystem::temp_directory_path() / ("lh-lldp-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory);
    path = directory / "socket";
  }
  void TearDown() override {
    if (listener >= 0) close(listener);
    std::filesystem::remove_all(directory);
  }
  void listen_there() {
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  int ask(Milliseconds patience) {
    const auto answer = make_lldpd_client(path, patience, clock)->interfaces();
    EXPECT_FALSE(answer.ok());
    return answer.ok() ? 0 : answer.error().errnum;
  }

  ManualClock clock;
  std::filesystem::path directory;
  std::string path;
  int listener = -1;
};

TEST_F(LldpClientSocket, ThatIsNotThere) { EXPECT_EQ(ask(Milliseconds(1'000)), ENOENT); }

TEST_F(LldpClientSocket, ThatIsLeftOver) {
  listen_there();
  close(std::exchange(listener, -1));
  EXPECT_EQ(ask(Milliseconds(1'000)), ECONNREFUSED);
}

TEST_F(LldpClientSocket, ThatNeverAnswersIsGivenUp) {
  listen_there();
  ASSERT_EQ(listen(listener, 4), 0);
  EXPECT_EQ(ask(Milliseconds(20)), ETIMEDOUT);
}

TEST_F(LldpClientSocket, APathThatIsTooLong) {
  path = "/" + std::string(200, 'x');
  EXPECT_EQ(ask(Milliseconds(20)), ENAMETOOLONG);
}

}  // namespace
}  // namespace linkhealth
