// The verbs state of a port: state, phys_state and rate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "probes/sysfs/ib_sysfs.h"
#include "tests/probes/sysfs/sysfs_tree.h"

namespace linkhealth {
namespace {

using testing::FailingHost;
using testing::FakeHost;
using testing::Nic;

struct IbState : ::testing::Test {
  struct Seen {
    LinkSample link;
    std::vector<Gap> gaps;
  };

  explicit IbState(Nic its = {}) : nic(std::move(its)) {
    testing::add_nic(fake, nic);
    reader.emplace(std::move(*IbPortReader::open(host, take_inventory(fake).ports.at(0))));
  }
  /// `speed_mbps`: as ethtool has said it.
  Seen read(std::optional<std::uint32_t> speed_mbps = std::nullopt) {
    PortSample sample;
    sample.link.emplace().speed_mbps = speed_mbps;
    Seen seen;
    EXPECT_EQ(reader->read_state(sample, seen.gaps), ReadStatus::kOk);
    seen.link = *sample.link;
    return seen;
  }
  void put(const std::string& file, const std::string& text) {
    fake.set(nic.port_dir() + "/" + file, text + "\n");
  }

  Nic nic;
  FakeHost fake;
  FailingHost host{fake};
  std::optional<IbPortReader> reader;
};

/// In another network namespace than this one: its interface can't be seen.
struct IbStateOfAPod : IbState {
  IbStateOfAPod() : IbState(Nic{.netdev = ""}) {}
};

TEST_F(IbStateOfAPod, TheCarrierIsWhatTheDriverSaysOfTheInterface) {
  EXPECT_EQ(read().link.carrier, true);
  put("state", "1: DOWN");
  put("phys_state", "3: Disabled");
  EXPECT_EQ(read().link.carrier, false);
  EXPECT_EQ(read().link.admin_up, std::nullopt) << "nobody knows whether it was set down";
  fake.set_error(nic.port_dir() + "/phys_state", EIO);
  EXPECT_EQ(read().link.carrier, false);
  put("state", "4: ACTIVE");
  EXPECT_EQ(read().link.carrier, true);
  fake.set_error(nic.port_dir() + "/state", EIO);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(read().link.carrier, std::nullopt);
}

TEST_F(IbState, WithAnInterfaceTheCarrierIsTheInterfaces) {
  EXPECT_EQ(read().link.phys_state, "LinkUp");
  EXPECT_EQ(read().link.carrier, std::nullopt);
}

/// A virtual function's, or efa's, whose state is no cable's.
TEST(IbStateOfAStranger, HasNoCarrier) {
  FakeHost host;
  const Nic nic{.netdev = ""};
  testing::add_nic(host, nic);
  InventoryPort port = take_inventory(host).ports.at(0);
  for (const bool exempt : {false, true}) {
    port.exempt_reason = exempt ? "virtual function of 0000:1b:00.0" : "";
    PortSample sample;
    std::vector<Gap> gaps;
    EXPECT_EQ(IbPortReader::open(host, port)->read_state(sample, gaps), ReadStatus::kOk);
    EXPECT_EQ(sample.link->carrier.has_value(), !exempt);
  }
}

TEST(IbStateParse, States) {
  EXPECT_EQ(parse_state("4: ACTIVE"), "ACTIVE");
  EXPECT_EQ(parse_state("4: PortConfigurationTraining"), "PortConfigurationTraining");
  for (const char* bad : {"", "ACTIVE", "4:", "4: ", "x: ACTIVE", "7: <unknown>", "N/A (no PMA)"})
    EXPECT_FALSE(parse_state(bad)) << bad;
}

TEST(IbStateParse, Rates) {
  const auto check = [](const char* text, std::uint32_t mbps, std::uint32_t lanes) {
    const auto rate = parse_rate(text);
    ASSERT_TRUE(rate) << text;
    EXPECT_EQ(rate->speed_mbps, mbps) << text;
    EXPECT_EQ(rate->lanes, lanes) << text;
  };
  check("400 Gb/sec (4X NDR)", 400000, 4);
  check("2.5 Gb/sec (1X SDR)", 2500, 1);
  check("25 Gb/sec (1X EDR)", 25000, 1);
  check("10 Gb/sec (4X)", 10000, 4);
  check("200 Gb/sec (2X NDR)", 200000, 2);  // half a cage
  check("56 Gb/sec (4X FDR)", 56000, 4);
  check("800 Gb/sec (4X XDR)", 800000, 4);
  for (const char* bad :
       {"", "400", "400 Gb/sec", "400 Gb/sec (", "400 Gb/sec (X)", "400 Gb/sec (4X NDR",
        "-1 Gb/sec (4X)", "0 Gb/sec (4X)", "400 Gb/sec (0X)", "nan Gb/sec (4X)",
        "1e300 Gb/sec (4X)", "400 Gb/sec (4)x"})
    EXPECT_FALSE(parse_rate(bad)) << bad;
}

TEST_F(IbState, ARateThatCannotBeReadIsUnknown) {
  EXPECT_EQ(read().link.speed_mbps, 400000U);
  put("rate", "200 Gb/sec (2X NDR)");
  EXPECT_EQ(read().link.speed_mbps, 200000U);
  host.fail("*/rate", EIO);
  EXPECT_FALSE(read().link.speed_mbps);
}

TEST_F(IbState, ARateThatNobodyWantsIsNotRead) {
  host.fail("*/rate", EIO, 1);
  EXPECT_EQ(read().gaps.size(), 1U);
  const Seen known = read(100000U);
  EXPECT_EQ(known.link.speed_mbps, 100000U);
  EXPECT_TRUE(known.gaps.empty()) << "what can't be read and is not wanted is not missing";
  EXPECT_EQ(host.reads("*/rate"), 1U);
  EXPECT_EQ(read().link.speed_mbps, 400000U) << "at once, when it is wanted again";
  put("phys_state", "2: Polling");
  EXPECT_FALSE(read().link.speed_mbps);
  EXPECT_EQ(host.reads("*/rate"), 2U);
}

struct IbStateOfInfiniBand : IbState {
  IbStateOfInfiniBand() : IbState(Nic{.netdev = "", .link_layer = "InfiniBand"}) {}
};

TEST_F(IbStateOfInfiniBand, CarrierIsThePhysicalState) {
  EXPECT_EQ(read().link.carrier, true);
  put("state", "1: DOWN");
  put("phys_state", "2: Polling");
  put("rate", "10 Gb/sec (4X SDR)");
  const Seen down = read();
  EXPECT_EQ(down.link.carrier, false);
  EXPECT_FALSE(down.link.speed_mbps) << "the rate of a link that trains means nothing";
}

TEST_F(IbStateOfInfiniBand, ALinkThatRecoversFromErrorsIsNotDown) {
  read();
  put("phys_state", "6: LinkErrorRecovery");
  const Seen recovering = read();
  EXPECT_EQ(recovering.link.phys_state, "LinkErrorRecovery");
  EXPECT_EQ(recovering.link.carrier, true);
  EXPECT_EQ(recovering.link.speed_mbps, 400000U);
}

}  // namespace
}  // namespace linkhealth
