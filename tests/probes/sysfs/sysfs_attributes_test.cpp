#include "probes/sysfs/sysfs_attributes.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>

#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::FailingHost;
using testing::FakeHost;

class SysfsAttributes : public ::testing::Test {
 protected:
  SysfsAttributes() {
    for (const char* name : {"link_downed", "symbol_error", "VL15_dropped", "unheard_of"})
      fake_.set(std::string("/sys/port/counters/") + name, "5\n");
    dir_ = *host_.open_dir("/sys/port");
  }
  std::optional<Counters> read(SysfsCounters& files) {
    std::optional<Counters> counters;
    may_be_gone_ = files.read(*dir_, counters);
    return counters;
  }
  static SysfsCounters counters(const std::vector<std::string>& names) {
    return {"counters", "", names};
  }

  FakeHost fake_;
  FailingHost host_{fake_};
  std::unique_ptr<HostDir> dir_;
  bool may_be_gone_ = false;
};

TEST_F(SysfsAttributes, EachReadGivesThePresentValue) {
  SysfsCounters all = counters({"link_downed", "unheard_of"});
  EXPECT_EQ(read(all)->get("link_downed"), 5U);
  fake_.set("/sys/port/counters/link_downed", "6\n");
  EXPECT_EQ(read(all)->get("link_downed"), 6U);
  EXPECT_EQ(read(all)->get("unheard_of"), 5U);
  EXPECT_EQ(all.reasons(), "");
  EXPECT_FALSE(may_be_gone_);
  SysfsCounters prefixed("counters", "netdev_", std::vector<std::string>{"link_downed", "later"});
  EXPECT_EQ(read(prefixed)->get("netdev_link_downed"), 6U);
  EXPECT_TRUE(prefixed.has("netdev_link_downed") && prefixed.has_any("netdev_"));
  EXPECT_FALSE(prefixed.has("link_downed"));
  EXPECT_TRUE(may_be_gone_);
  fake_.set("/sys/port/counters/later", "1\n");
  read(prefixed);
  EXPECT_EQ(read(prefixed)->get("netdev_later"), 1U);
  EXPECT_FALSE(may_be_gone_);
}

TEST_F(SysfsAttributes, AFileThatFailsHidesNoOtherAndIsReadLessAndLessOften) {
  SysfsCounters all = counters({"link_downed", "symbol_error", "VL15_dropped"});
  host_.fail("*/symbol_error", EINVAL);
  host_.fail("*/link_downed", EINVAL);
  host_.replace("*/VL15_dropped", "N/A (no PMA)\n");
  EXPECT_FALSE(read(all));
  EXPECT_EQ(all.reasons(),
            "link_downed, symbol_error: EINVAL; VL15_dropped: text \"N/A (no PMA)\"");
  for (int i = 0; i < 63; ++i) read(all);
  EXPECT_EQ(host_.reads("*/symbol_error"), 6U) << "1, 2, 4, … reads are left out";
  EXPECT_NE(all.reasons(), "") << "it is unknown also while it is left out";
  host_.heal();
  bool back = false;
  for (int i = 0; i < 64 && !back; ++i) back = read(all).has_value();
  EXPECT_TRUE(back);
  EXPECT_EQ(all.reasons(), "");
}

TEST_F(SysfsAttributes, OnlyWholeNumbersAreCounts) {
  for (const auto& [text, value] : std::map<std::string, std::optional<std::uint64_t>>{
           {"0\n", 0},
           {"007\n", 7},
           {"18446744073709551615\n", ~std::uint64_t{0}},
           {" 6 \n", 6},
           {"18446744073709551616\n", std::nullopt},
           {"-1\n", std::nullopt},
           {"1 2\n", std::nullopt},
           {"0x5\n", std::nullopt},
           {"\n", std::nullopt},
           {"\x1b[31m\n", std::nullopt}}) {
    SysfsCounters some = counters({"symbol_error"});
    fake_.set("/sys/port/counters/symbol_error", text);
    const auto seen = read(some);
    EXPECT_EQ(seen ? seen->get("symbol_error") : std::nullopt, value) << text;
    EXPECT_EQ(some.reasons().empty(), value.has_value()) << text;
    EXPECT_EQ(some.reasons().find('\x1b'), std::string::npos);
  }
}

TEST_F(SysfsAttributes, AnErrorThatMeansAbsentIsNoFailure) {
  SysfsAttribute carrier("carrier", 7);
  fake_.set_error("/sys/port/carrier", EINVAL);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(carrier.read(*dir_, parse_u64, EINVAL));
    EXPECT_EQ(carrier.reason(), "");
  }
  EXPECT_EQ(host_.reads("*/carrier"), 3U);
  EXPECT_FALSE(carrier.read(*dir_, parse_u64));
  EXPECT_EQ(carrier.reason(), "EINVAL");
}

}  // namespace
}  // namespace linkhealth
