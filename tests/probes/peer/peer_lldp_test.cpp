// LLDP: which neighbour is the far end, its name, and the gap where there is none. lldpd_live.py
// tests the library below the seam against a real lldpd.
#include "probes/peer/peer_lldp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/runtime_library.h"
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
  int requests = 0;
};

class FakeLldpd final : public LldpClient {
 public:
  explicit FakeLldpd(std::shared_ptr<Answers> answers) : answers_(std::move(answers)) {}
  Result<std::vector<LldpInterface>> interfaces() override {
    ++answers_->requests;
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
  void set_neighbours(std::vector<LldpNeighbour> neighbours) {
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
  set_neighbours({leaf()});
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

TEST(PeerLldpNames, AreForPeopleAndSafeToShow) {
  LldpNeighbour neighbour = leaf();
  neighbour.port_id = "42:e2:2d:6f:0b:a2";
  neighbour.port_id_subtype = "mac";
  neighbour.port_description = "swp17";
  EXPECT_EQ(peer_of_neighbour(neighbour).port, "swp17") << "the description goes before an address";
  EXPECT_EQ(peer_of_neighbour(neighbour).description, "");
  neighbour.port_description = "";
  EXPECT_EQ(peer_of_neighbour(neighbour).port, "42:e2:2d:6f:0b:a2") << "better than nothing";
  neighbour.chassis_name = "";
  EXPECT_EQ(peer_of_neighbour(neighbour).system, "42:e2:2d:6f:0b:a1");
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
  set_neighbours({leaf(), other});
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
  set_neighbours({cdp, leaf(), leaf()});
  EXPECT_EQ(at(100)[0].peer->port, "Ethernet17/1");
}

TEST_F(PeerLldp, NoNeighbourIsAGapAfterAMinute) {
  set_neighbours({});
  EXPECT_TRUE(at(100)[0].gaps.empty());
  EXPECT_TRUE(at(159)[0].gaps.empty());
  const auto gaps = at(160)[0].gaps;
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_THAT(
      gaps[0].reason,
      ::testing::StartsWith("no LLDP neighbour: check that LLDP is enabled at the far port. Or "));
  EXPECT_THAT(gaps[0].reason, ::testing::HasSubstr("mstconfig -d 0000:1b:00.0 query"));
  answers->next = std::vector<LldpInterface>();
  const auto unwatched = at(190)[0].gaps;
  ASSERT_EQ(unwatched.size(), 1U);
  EXPECT_THAT(unwatched[0].reason, ::testing::StartsWith("lldpd does not watch ens1np0"));
}

TEST_F(PeerLldp, APortThatWasDownOrHadANeighbourWaitsAgain) {
  set_neighbours({});
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
  set_neighbours({leaf()});
  EXPECT_TRUE(at(290)[0].peer);
  set_neighbours({});
  EXPECT_TRUE(at(320)[0].gaps.empty());
}

TEST_F(PeerLldp, PortsWithoutLldpNeedNoLldpd) {
  port.id.link_layer = "InfiniBand";
  EXPECT_TRUE(at(100).empty());
  port.id.link_layer = "Ethernet";
  port.exempt_reason = "virtual function of 0000:1b:00.0";
  EXPECT_TRUE(at(100).empty());
  port.exempt_reason.clear();
  port.ifindex = 0;
  EXPECT_TRUE(at(100).empty());
  EXPECT_EQ(answers->requests, 0) << "a node of InfiniBand ports needs no lldpd";
}

TEST_F(PeerLldp, AMissingLldpdIsOneGapOfTheNode) {
  answers->next = Error{"/run/lldpd.socket: No such file or directory", ENOENT};
  const auto readings = at(100);
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings[0].port, "");
  EXPECT_FALSE(readings[0].answered) << "the earlier reading stays for a while";
  ASSERT_EQ(readings[0].gaps.size(), 1U);
  EXPECT_EQ(readings[0].gaps[0],
            (Gap{"", "peer_lldp",
                 "no socket at /run/lldpd.socket: install and start lldpd (in a container: mount "
                 "the host's socket, docs/hardware.md), or set peers.lldp to 0"}));
}

TEST(PeerLldpFailures, EachNamesTheRemedy) {
  for (const auto& [errnum, remedy] : {std::pair(ECONNREFUSED, "systemctl start lldpd"),
                                       {ECONNREFUSED, "in a container restart the container"},
                                       {EACCES, "usermod -aG _lldpd linkhealth"},
                                       {EACCES, "Kubernetes: supplementalGroups"},
                                       {ETIMEDOUT, "restart it"},
                                       {EPROTO, "must have the same version"},
                                       {EIO, "x"}})
    EXPECT_THAT(lldp_failure(Error{"x", errnum}, "/run/lldpd.socket"),
                ::testing::HasSubstr(remedy));
}

TEST(PeerLldpHints, AreOfTheDriver) {
  struct {
    const char *driver, *pci, *hint;
  } const rows[] = {{"ice", "0000:1b:00.0", "ethtool --set-priv-flags ens1 fw-lldp-agent off"},
                    {"i40e", "0000:1b:00.0", "ethtool --set-priv-flags ens1 disable-fw-lldp on"},
                    {"bnxt_en", "0000:1b:00.0", "dcb dcbx show dev ens1"},
                    {"mlx5_core", "0000:1b:00.0", "LLDP_NB_RX_MODE_P1=0"},
                    {"mlx5_core", "0000:1b:00.1", "LLDP_NB_RX_MODE_P2=0"}};
  for (const auto& row : rows)
    EXPECT_THAT(lldp_driver_hint(row.driver, "ens1", row.pci), ::testing::HasSubstr(row.hint));
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
  int request(Milliseconds patience) {
    const auto answer = make_lldpd_client(path, patience, clock)->interfaces();
    EXPECT_FALSE(answer.ok());
    return answer.ok() ? 0 : answer.error().errnum;
  }

  ManualClock clock;
  std::filesystem::path directory;
  std::string path;
  int listener = -1;
};

TEST_F(LldpClientSocket, WithoutAListenerIsAnError) {
  EXPECT_EQ(request(Milliseconds(1'000)), ENOENT);
  listen_there();
  close(std::exchange(listener, -1));
  EXPECT_EQ(request(Milliseconds(1'000)), ECONNREFUSED) << "a socket file that is left over";
  path = "/" + std::string(200, 'x');
  EXPECT_EQ(request(Milliseconds(20)), ENAMETOOLONG);
}

TEST_F(LldpClientSocket, WithoutAnAnswerTimesOut) {
  // A chroot of the portable build has no lldpd.
  if (!RuntimeLibrary("liblldpctl.so.4").ready()) GTEST_SKIP() << "no liblldpctl.so.4 here";
  listen_there();
  ASSERT_EQ(listen(listener, 4), 0);
  EXPECT_EQ(request(Milliseconds(20)), ETIMEDOUT);
}

}  // namespace
}  // namespace linkhealth
