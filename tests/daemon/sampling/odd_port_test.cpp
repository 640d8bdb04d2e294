// One odd port next to a good one: a file that can't be read is a gap, and hides nothing else.
#include "tests/daemon/sampling/sampler_fixture.h"

namespace linkhealth {
namespace {

using namespace testing;

struct Oddity {
  const char* name;
  void (*make)(FakeHost&, const Nic&);
  const char* probe;   ///< the gap's source; "": none, the driver just does not offer it
  const char* reason;  ///< part of it
};
void PrintTo(const Oddity& oddity, std::ostream* out) { *out << oddity.name; }

constexpr Oddity kOddities[] = {
    {"SwitchModeAnswersEinvalToEveryCounter",
     [](FakeHost& host, const Nic& nic) {
       for (const char* name :
            {"symbol_error", "link_downed", "port_rcv_errors", "VL15_dropped", "port_xmit_data"})
         host.set_error(nic.port_dir() + "/counters/" + name, EINVAL);
     },
     "counters", "EINVAL"},
    {"NoPmaText",
     [](FakeHost& host, const Nic& nic) {
       host.set(nic.port_dir() + "/counters/link_downed", "N/A (no PMA)\n");
     },
     "counters", "link_downed: text \"N/A (no PMA)\""},
    {"GarbageText",
     [](FakeHost& host, const Nic& nic) {
       host.set(nic.port_dir() + "/counters/link_downed", "\x1b[31m12abc\xff");
     },
     "counters", "link_downed: text"},
    {"EmptyCounter",
     [](FakeHost& host, const Nic& nic) { host.set(nic.port_dir() + "/counters/link_downed", ""); },
     "counters", "link_downed: empty"},
    {"CounterLargerThan64Bits",
     [](FakeHost& host, const Nic& nic) {
       host.set(nic.port_dir() + "/counters/link_downed", "99999999999999999999999\n");
     },
     "counters", "link_downed: text"},
    {"NegativeCounter",
     [](FakeHost& host, const Nic& nic) {
       host.set(nic.port_dir() + "/counters/link_downed", "-5\n");
     },
     "counters", "link_downed: text"},
    {"NoCountersDirectory",
     [](FakeHost& host, const Nic& nic) { host.remove(nic.port_dir() + "/counters"); }, "counters",
     "counters: ENOENT"},
    {"NoHwCountersDirectory",
     [](FakeHost& host, const Nic& nic) { host.remove(nic.port_dir() + "/hw_counters"); }, "", ""},
    {"EmptyCountersDirectory",
     [](FakeHost& host, const Nic& nic) {
       host.remove(nic.port_dir() + "/counters");
       host.make_dir(nic.port_dir() + "/counters");
     },
     "counters", "the counters directory is empty"},
    {"NoPermissionForCounters",
     [](FakeHost& host, const Nic& nic) {
       host.set_error(nic.port_dir() + "/counters/symbol_error", EACCES);
     },
     "counters", "symbol_error: EACCES"},
    {"HwCountersFail",
     [](FakeHost& host, const Nic& nic) {
       host.set_error(nic.port_dir() + "/hw_counters/out_of_sequence", EIO);
     },
     "hw_counters", "out_of_sequence: EIO"},
    {"GarbageState",
     [](FakeHost& host, const Nic& nic) { host.set(nic.port_dir() + "/state", "?? what\n"); },
     "link", "state: text"},
    {"NoLinkLayer",
     [](FakeHost& host, const Nic& nic) { host.remove(nic.port_dir() + "/link_layer"); },
     "inventory", "link_layer: ENOENT"},
    {"NetdevInAnotherNamespace",
     [](FakeHost& host, const Nic& nic) {
       host.remove(nic.netdev_dir());
       host.remove("/sys/class/net/" + nic.netdev);
     },
     "netdev_stats", "is not in this network namespace, or not in this /sys"},
    {"NetdevDirectoryWithoutPermission",
     [](FakeHost& host, const Nic& nic) { host.refuse_list(nic.netdev_dir(), EACCES); }, "link",
     "net/ens1np0: EACCES"},
    {"StatisticsWithoutPermission",
     [](FakeHost& host, const Nic& nic) {
       host.refuse_list(nic.netdev_dir() + "/statistics", EACCES);
     },
     "netdev_stats", "statistics: EACCES"},
    {"StatisticsOfADirectoryWithoutPermission",
     [](FakeHost& host, const Nic& nic) { host.refuse_list(nic.netdev_dir(), EACCES); },
     "netdev_stats", "net/ens1np0: EACCES"},
    {"NoPciAttributes",
     [](FakeHost& host, const Nic& nic) {
       for (const char* which :
            {"current_link_speed", "current_link_width", "max_link_speed", "max_link_width"})
         host.remove(nic.pci_dir() + "/" + which);
     },
     "pcie", "current_link_speed: ENOENT"},
    {"VirtualFunction",
     [](FakeHost& host, const Nic& nic) {
       host.link(nic.pci_dir() + "/physfn", "../0000:1c:00.0");
     },
     "", ""},
};

class OddPort : public SamplerFixture, public ::testing::WithParamInterface<Oddity> {};

TEST_P(OddPort, IsAGapAndHidesNoOther) {
  change([&](FakeHost& host) { GetParam().make(host, first); });
  start();
  settle();
  EXPECT_TRUE(all.ports.contains("mlx5_0/1"));
  EXPECT_TRUE(neighbour_is_whole());
  if (*GetParam().probe != '\0')
    EXPECT_TRUE(has_gap("mlx5_0/1", GetParam().probe, GetParam().reason))
        << ::testing::PrintToString(gaps());
  else
    EXPECT_THAT(gaps(), ::testing::IsEmpty());
  for (const std::string& gap : gaps()) {
    EXPECT_FALSE(gap.starts_with("mlx5_1/1")) << gap;
    EXPECT_TRUE(std::ranges::all_of(gap, [](unsigned char c) { return c >= ' '; }))
        << "no terminal control characters";
  }
}
INSTANTIATE_TEST_SUITE_P(Table, OddPort, ::testing::ValuesIn(kOddities),
                         [](const auto& test) { return std::string(test.param.name); });

/// A netdev whose directory can't be opened.
class UnopenedNetdev : public SamplerFixture {
 protected:
  void refuse(int errnum) {
    change([&](FakeHost& host) { host.refuse_list(first.netdev_dir(), errnum); });
  }
  std::ptrdiff_t link_gaps() const {
    return std::ranges::count_if(
        gaps(), [](const std::string& gap) { return gap.starts_with("mlx5_0/1 link:"); });
  }
  /// Each link that comes has no counts, and the gap is there at once.
  void expect_a_link_without_counts() {
    std::size_t links = 0;
    for (int period = 0; period < 3; ++period) {
      for (int quiet = 0; quiet < 2;) {
        all = Snapshot{};
        poll();
        const auto port = all.ports.find("mlx5_0/1");
        if (port != all.ports.end() && port->second.link) {
          ++links;
          EXPECT_EQ(port->second.link->carrier_up_count, std::nullopt);
          EXPECT_EQ(link_gaps(), 1);
        }
        quiet = sampler->settled() ? quiet + 1 : 0;
        if (quiet == 0) wait();
      }
      clock.advance(settings.counters_period);
    }
    EXPECT_GE(links, 3U);
  }
};

TEST_F(UnopenedNetdev, IsAGapOfTheLink) {
  refuse(EACCES);
  start();
  expect_a_link_without_counts();
}

// A kernel before 4.16 has no such counts. The other sources' link comes without them, after the
// files'.
TEST_F(UnopenedNetdev, AMissingFileIsAGapOfTheLink) {
  change([&](FakeHost& host) {
    host.remove(first.netdev_dir() + "/carrier_up_count");
    host.remove(first.netdev_dir() + "/carrier_down_count");
  });
  start();
  expect_a_link_without_counts();
  set(first.netdev_dir() + "/carrier_up_count", "3");
  set(first.netdev_dir() + "/carrier_down_count", "2");
  const auto is_counted = [this] {
    const auto port = all.ports.find("mlx5_0/1");
    return port != all.ports.end() && port->second.link &&
           port->second.link->carrier_up_count == 3U;
  };
  for (int period = 0; period < 200 && !is_counted(); ++period) {
    settle_after(settings.link_period);
  }
  EXPECT_TRUE(is_counted());
  EXPECT_EQ(link_gaps(), 0);
}

TEST_F(UnopenedNetdev, IsOpenedAgainByEachDiscovery) {
  refuse(EACCES);
  start();
  settle();
  ASSERT_TRUE(has_gap("mlx5_0/1", "link", "net/ens1np0: EACCES"));
  settle_after(settings.rescan_period);
  EXPECT_TRUE(has_gap("mlx5_0/1", "link", "net/ens1np0: EACCES"));
  refuse(0);
  settle_after(settings.rescan_period);
  settle_after(settings.counters_period);
  EXPECT_EQ(all.ports.at("mlx5_0/1").link->carrier_up_count, 3U);
  EXPECT_EQ(link_gaps(), 0);
  EXPECT_EQ(count(PortEventKind::kCarrierUp), 0U) << "nothing happened to the link";
  set(first.netdev_dir() + "/carrier_up_count", "4");
  settle_after(settings.link_period);
  EXPECT_EQ(count(PortEventKind::kCarrierUp), 1U) << "watched from then on";
}

TEST_F(UnopenedNetdev, ThatDoesNotExistIsReportedByTheDiscoveryOnly) {
  for (const int errnum : {ENOENT, ENODEV}) {
    refuse(errnum);
    start();
    settle();
    EXPECT_EQ(link_gaps(), 0) << errnum;
  }
}

}  // namespace
}  // namespace linkhealth
