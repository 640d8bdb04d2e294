// The doctor's hint for each reason.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "daemon/selfcheck/doctor.h"

#include "tests/daemon/selfcheck/doctor_node.h"

namespace linkhealth {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::one_port;
using testing::source;

struct Refusal {
  const char* probe;
  const char* reason;
  Visibility state;
  const char* hint;  ///< part of it; "": none
  bool hangs = false;
};
class DoctorRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(DoctorRefusal, HasItsReasonAndItsHint) {
  Report report = one_port();
  const SourceInfo& row = source_info(*find_source(GetParam().probe));
  if (std::string(GetParam().probe).starts_with("peer_mad")) {
    report.ports[0].latest.id.link_layer = "InfiniBand";
    report.ports[0].latest.module.emplace().present = true;  // imported
  }
  SourceMap sources;
  const std::string reason = GetParam().reason;
  if (GetParam().hangs)
    testing::hang(sources, GetParam().probe, reason);
  else
    testing::set_reason(sources, GetParam().probe, reason);
  if (row.of_node)
    report.sources = sources;
  else
    report.ports[0].latest.sources = sources;
  const DoctorReport doctor = examine(report, {});
  const SourceSight& sight = source(doctor, GetParam().probe);
  EXPECT_EQ(sight.state, GetParam().state);
  EXPECT_EQ(sight.why, GetParam().reason);
  EXPECT_THAT(sight.hint, HasSubstr(GetParam().hint));
  const bool missing = sight.state != Visibility::kNotOffered;
  // All sources read through an interface are hidden with it.
  const auto likewise =
      std::ranges::count(doctor.ports.at(0).sources, sight.why, &SourceSight::why);
  EXPECT_EQ(doctor.hidden,
            missing ? std::max<std::size_t>(1, static_cast<std::size_t>(likewise)) : 0U);
  EXPECT_EQ(self_test_lines(doctor).size(), missing ? 1U : 0U) << "one clear line each";
}
INSTANTIATE_TEST_SUITE_P(
    Table, DoctorRefusal,
    ::testing::Values(
        Refusal{"module", "EPERM", Visibility::kHidden, "CAP_NET_ADMIN"},
        Refusal{"module", "EOPNOTSUPP: the driver does not offer it", Visibility::kNotOffered, ""},
        Refusal{"module", "no answer within 5 s", Visibility::kHidden, "the device hangs", true},
        Refusal{"kernel_log", "/dev/kmsg: Operation not permitted", Visibility::kHidden,
                "CAP_SYSLOG"},
        Refusal{"verbs_events", "EACCES", Visibility::kHidden, "uverbs"},
        Refusal{"peer_mad", "ENOENT", Visibility::kHidden, "ib_umad"},
        // A reset of this node's device does not help against another machine or program.
        Refusal{"peer_mad", "the far end: no answer: Connection timed out", Visibility::kHidden,
                "only its subnet manager: name the far end in the cabling plan or by an import"},
        Refusal{"peer_mad", "state of the far port: no answer: Connection timed out",
                Visibility::kHidden, "set peers.mad to 0"},
        Refusal{"import", "no answer within 30 s", Visibility::kHidden,
                "the directory hangs: restore the server", true},
        Refusal{"peer_lldp", "no answer within 30 s", Visibility::kHidden,
                "lldpd hangs: restart it", true},
        Refusal{"peer_lldp", "lldpd does not answer", Visibility::kHidden, "lldpd"},
        // Libraries that the package only recommends.
        Refusal{"peer_lldp", "cannot load liblldpctl.so.4: cannot open shared object file",
                Visibility::kHidden, "lldpd"},
        Refusal{"peer_mad", "cannot load libibumad.so.3: cannot open shared object file",
                Visibility::kHidden, "libibumad3"},
        Refusal{"verbs_events", "cannot load libibverbs.so.1: cannot open shared object file",
                Visibility::kHidden, "libibverbs1"},
        Refusal{"import", "late.json: stale", Visibility::kHidden, "permissions"},
        Refusal{"devlink", "EPERM", Visibility::kHidden, "network namespace"},
        Refusal{"module", "Too many open files", Visibility::kHidden, "LimitNOFILE"},
        Refusal{"inventory", "/sys/class/infiniband: Permission denied", Visibility::kHidden,
                "may not read"},
        // A right or a mount helps against a refusal, and not against what a device answers.
        Refusal{"module", "EIO", Visibility::kHidden, "reseat the module"},
        Refusal{"module", "the module answers only zeros", Visibility::kHidden,
                "reseat the module"},
        Refusal{"module", "the imported reading has ended, and ethtool reports none",
                Visibility::kHidden, "renew the import"},
        Refusal{"driver_stats", "EBUSY", Visibility::kHidden, "reads are retried automatically"},
        Refusal{"hwmon", "temp1_input: EIO", Visibility::kHidden, "kernel log"},
        Refusal{"pcie", "current_link_speed: text \"Unknown\"", Visibility::kPartly, "kernel log"},
        // A refused file exists: a mount does not help.
        Refusal{"link", "carrier: Permission denied", Visibility::kPartly, "may not read"},
        Refusal{"counters", "symbol_error: EACCES", Visibility::kPartly, "may not read"},
        Refusal{"hw_counters", "hw_counters: EPERM", Visibility::kHidden, "may not read"},
        Refusal{"inventory",
                "mlx5_0 is its RDMA device, and /sys/class/infiniband does not list it",
                Visibility::kHidden, "mount the host's /sys"},
        Refusal{"inventory", "/sys/class/net: ENOENT", Visibility::kHidden,
                "mount the host's /sys"},
        Refusal{"counters", "symbol_error: ENOENT; VL15_dropped: EINVAL", Visibility::kPartly,
                "this kernel or card has no such file"},
        Refusal{"netdev_stats", "ib0 is in another network namespace than the monitor",
                Visibility::kHidden, "network namespace"},
        // One file of twenty that were read: the port has counters.
        Refusal{"counters", "symbol_error: Invalid argument", Visibility::kPartly,
                "the others are read"},
        // A driver does not offer far ends: a kernel module is missing.
        Refusal{"peer_mad",
                "the kernel offers no management interface for mlx5_0 port 1: load ib_umad",
                Visibility::kHidden, "ib_umad"},
        Refusal{"verbs_events", "EOPNOTSUPP", Visibility::kHidden, "uverbs"},
        Refusal{"link_events", "Operation not permitted", Visibility::kHidden,
                "network namespace"}),
    [](const auto& test) { return std::string(test.param.probe) + std::to_string(test.index); });

/// A /sys in part lacks the same of each port: one is shown by name, the others are counted.
TEST(DoctorHints, ASourceOfTheNodeCountsTheGapsOfAllPorts) {
  Report report = one_port();
  for (const char* netdev : {"ens1", "ens2"}) {
    PortReport& port = report.ports.emplace_back(report.ports[0]);
    port.port = netdev;
    testing::set_reason(port, "inventory",
                        "mlx5_1 is its RDMA device, and /sys/class/infiniband does not list it");
  }
  EXPECT_THAT(source(examine(report, {}), "inventory").why,
              AllOf(HasSubstr("ens1: mlx5_1 is its RDMA device"), HasSubstr("(and 1 more)")));
  testing::set_reason(report.sources, "inventory", "default route: EIO");
  EXPECT_THAT(source(examine(report, {}), "inventory").why,
              AllOf(HasSubstr("default route"), HasSubstr("(and 2 more)")));
}

TEST(DoctorHints, CountersThatNoFileHasAreHidden) {
  Report report = one_port();
  report.ports[0].latest.counters.reset();
  testing::set_reason(report.ports[0], "counters", "symbol_error: Invalid argument");
  const DoctorReport doctor = examine(report, {});
  EXPECT_EQ(source(doctor, "counters").state, Visibility::kHidden);
  EXPECT_THAT(source(doctor, "counters").hint, HasSubstr("switch mode"));
}

/// Each of ethtool's counters is of the request that brings it.
TEST(DoctorHints, PauseFramesAreNotTakenForOtherCounters) {
  Report report = one_port();
  report.ports[0].latest.counters.emplace().set("pause_tx_pause_frames", 1);
  const DoctorReport paused = examine(report, {});
  EXPECT_EQ(source(paused, "pause").state, Visibility::kSeen);
  EXPECT_NE(source(paused, "ethtool_stats").state, Visibility::kSeen);
  testing::set_reason(report.ports[0], "ethtool_stats", "EIO");
  EXPECT_EQ(source(examine(report, {}), "ethtool_stats").state, Visibility::kHidden);
}

TEST(DoctorHints, AHungReadHidesAllSourcesReadWithIt) {
  Report report = one_port();
  report.ports[0].latest.counters.emplace().set("fec_corrected_bits", 1);
  testing::hang(report.ports[0].latest.sources.emplace(), "ethtool", "no answer within 5 s");
  const DoctorReport doctor = examine(report, {});
  EXPECT_EQ(source(doctor, "fec").state, Visibility::kPartly) << "it was read before";
  EXPECT_THAT(source(doctor, "fec").hint, HasSubstr("the device hangs"));
  EXPECT_EQ(source(doctor, "pause").state, Visibility::kHidden);
  EXPECT_NE(source(doctor, "netdev_stats").state, Visibility::kHidden)
      << "that is read for the whole node";
}

TEST(DoctorHints, ACardWithoutADriverIsShownOnlyWhereThereIsOne) {
  Report report = one_port();
  for (const SourceSight& source : examine(report, {}).node_sources)
    EXPECT_NE(source.probe, "pci_bus");
  testing::set_reason(report.sources, "pci_bus", "0000:10:00.0 is on the PCI bus without a driver");
  const DoctorReport doctor = examine(report, {});
  EXPECT_EQ(doctor.hidden, 1U);
  EXPECT_THAT(source(doctor, "pci_bus").hint, HasSubstr("load the driver"));
}

TEST(DoctorHints, EverySourceHasAHintAndANameOfItsOwn) {
  for (const SourceInfo& row : source_table()) {
    EXPECT_FALSE(row.hint.empty()) << row.name;
    EXPECT_EQ(find_source(row.name), row.id);
  }
}

}  // namespace
}  // namespace linkhealth
