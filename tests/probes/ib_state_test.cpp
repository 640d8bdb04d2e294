// The verbs state of a port: state, phys_state and rate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "probes/batched_reads.h"
#include "probes/ib_sysfs.h"
#include "probes/live_host.h"
#include "tests/probes/sysfs_tree.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using testing::FailingHost;
using testing::FakeHost;
using ::testing::IsEmpty;
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
    EXPECT_EQ(reader->read(IbGroup::kState, sample, seen.gaps), ReadStatus::kOk);
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
    EXPECT_EQ(IbPortReader::open(host, port)->read(IbGroup::kState, sample, gaps), ReadStatus::kOk);
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

TEST_F(IbState, TheRateIsReadAfterAChangeAndNowAndThen) {
  EXPECT_EQ(read().link.speed_mbps, 400000U);
  host.forget_reads();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(read().link.speed_mbps, 400000U);
  EXPECT_EQ(host.reads("*/rate"), 0U) << "each costs up to five firmware commands";
  EXPECT_EQ(host.reads("*/phys_state"), 5U);
  put("rate", "200 Gb/sec (2X NDR)");
  EXPECT_EQ(read().link.speed_mbps, 200000U) << "the sixth time";
  put("rate", "400 Gb/sec (4X NDR)");
  EXPECT_EQ(read().link.speed_mbps, 200000U);
  put("state", "2: INIT");
  EXPECT_EQ(read().link.speed_mbps, 400000U) << "the state changed";
  host.fail("*/rate", EIO);
  put("state", "4: ACTIVE");
  EXPECT_FALSE(read().link.speed_mbps) << "what can't be read is unknown";
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

/// On a real file system, where the counters and the state are read in one go.
class IbStateBeside : public ::testing::Test {
 protected:
  IbStateBeside() {
    put("state", "4: ACTIVE\n");
    put("phys_state", "5: LinkUp\n");
    put("rate", "400 Gb/sec (4X NDR)\n");
    for (const std::string name : {"symbol_error", "link_downed", "port_rcv_errors"})
      put("counters/" + name, "7\n");
    open();
  }
  void put(const std::string& file, const std::string& text) {
    std::filesystem::create_directory(directory_.file("counters"));
    std::ofstream(directory_.file(file)) << text;
  }
  void open() {
    InventoryPort port;
    port.id.device = "mlx5_0";
    port.id.port = 1;
    port.id.link_layer = "InfiniBand";
    port.sysfs_port_dir = directory_.path();
    reader_.emplace(std::move(*IbPortReader::open(host_, port)));
  }
  /// Whether the state was read beside the counters.
  bool read() {
    sample_ = {};
    gaps_.clear();
    StateReads state;
    EXPECT_EQ(reader_->read_due(0, SteadyTime(), sample_, gaps_, &state), ReadStatus::kOk);
    EXPECT_EQ(reader_->read_state(state, sample_, gaps_), ReadStatus::kOk);
    return state.made;
  }

  test::TempDirectory directory_;
  LiveHost host_{"", std::make_shared<BatchedReads>()};
  std::optional<IbPortReader> reader_;
  PortSample sample_;
  std::vector<Gap> gaps_;
};

TEST_F(IbStateBeside, IsWhatTheFilesSayNow) {
  EXPECT_FALSE(read()) << "they are opened";
  EXPECT_EQ(sample_.link->state, "ACTIVE");
  EXPECT_TRUE(read());
  EXPECT_EQ(sample_.link->state, "ACTIVE");
  EXPECT_EQ(sample_.link->phys_state, "LinkUp");
  EXPECT_EQ(sample_.link->speed_mbps, 400'000U);
  EXPECT_EQ(sample_.counters->get("link_downed"), 7U);
  EXPECT_THAT(gaps_, IsEmpty());
  put("state", "1: DOWN\n");
  put("phys_state", "2: Polling\n");
  put("counters/link_downed", "8\n");
  EXPECT_TRUE(read());
  EXPECT_EQ(sample_.link->state, "DOWN");
  EXPECT_EQ(sample_.link->phys_state, "Polling");
  EXPECT_EQ(sample_.link->carrier, false);
  EXPECT_EQ(sample_.counters->get("link_downed"), 8U);
}

TEST_F(IbStateBeside, AnOddOneIsAGapAndIsAskedLessOften) {
  read();
  put("phys_state", "N/A\n");
  EXPECT_TRUE(read());
  EXPECT_EQ(sample_.link->state, "ACTIVE");
  EXPECT_EQ(sample_.link->phys_state, "");
  ASSERT_EQ(gaps_.size(), 1U);
  EXPECT_EQ(gaps_[0].reason, "phys_state: text \"N/A\"");
  put("phys_state", "5: LinkUp\n");
  EXPECT_FALSE(read()) << "it is left alone";
  EXPECT_EQ(sample_.counters->get("link_downed"), 7U);
  EXPECT_FALSE(read());
  EXPECT_EQ(sample_.link->phys_state, "LinkUp");
  EXPECT_THAT(gaps_, IsEmpty());
  EXPECT_TRUE(read());
}

TEST_F(IbStateBeside, WithoutCountersItIsReadByItself) {
  std::filesystem::remove_all(directory_.file("counters"));
  open();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(read());
    EXPECT_EQ(sample_.link->state, "ACTIVE");
  }
}

}  // namespace
}  // namespace linkhealth
