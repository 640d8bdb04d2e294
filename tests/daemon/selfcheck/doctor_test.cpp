// What the doctor makes of reports and of a node's facts.
#include "daemon/selfcheck/doctor.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "exporters/json/doctor_json.h"
#include "exporters/text/doctor_text.h"
#include "tests/daemon/selfcheck/doctor_node.h"
#include "tests/probes/sysfs/sysfs_tree.h"
#include "tests/support/fake_host.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using testing::one_port;
using testing::source;

TEST(Doctor, SourcesAreSeenOrNotReadYet) {
  Report report = one_port();
  report.ports[0].latest.counters->set("devlink_fw_error", 0);
  const DoctorReport doctor = examine(report, {});
  EXPECT_EQ(source(doctor, "devlink").state, Visibility::kSeen);
  EXPECT_EQ(source(doctor, "link").state, Visibility::kSeen);
  EXPECT_EQ(source(doctor, "counters").state, Visibility::kSeen);
  EXPECT_EQ(source(doctor, "pcie").state, Visibility::kSeen);
  EXPECT_EQ(source(doctor, "module").state, Visibility::kNoWord);
  EXPECT_EQ(source(doctor, "peer_mad").state, Visibility::kNotUsed) << "an Ethernet port";
  EXPECT_EQ(doctor.hidden, 0U);
  EXPECT_TRUE(self_test_lines(doctor).empty());
}

TEST(Doctor, ACounterThatIsFullCountsNoFurther) {
  Report report = one_port();
  report.ports[0].latest.counters->set("link_error_recovery", 254);
  EXPECT_EQ(source(examine(report, {}), "counters").state, Visibility::kSeen);
  report.ports[0].latest.counters->set("link_error_recovery", 255);
  const DoctorReport doctor = examine(report, {});
  EXPECT_EQ(source(doctor, "counters").state, Visibility::kPartly);
  EXPECT_EQ(source(doctor, "counters").why, "saturated: link_error_recovery (255)");
  EXPECT_THAT(source(doctor, "counters").hint,
              AllOf(HasSubstr("reset of the device"), Not(HasSubstr("perfquery -R"))))
      << "Ethernet has no performance management agent";
  report.ports[0].latest.id.link_layer = "InfiniBand";
  EXPECT_THAT(source(examine(report, {}), "counters").hint,
              HasSubstr("perfquery -R -C mlx5_0 -P 1 clears it;"))
      << "without a device and a port it clears another one's";
  EXPECT_THAT(self_test_lines(doctor),
              ElementsAre(HasSubstr("verbs port counters partial: saturated")));
  testing::set_reason(report.ports[0], "counters", "port_rcv_errors: EISDIR");
  EXPECT_EQ(source(examine(report, {}), "counters").state, Visibility::kPartly);
  EXPECT_EQ(source(examine(report, {}), "counters").why,
            "port_rcv_errors: EISDIR; saturated: link_error_recovery (255)");
}

/// A container with the node's /sys and a network of its own.
TEST(Doctor, AnInterfaceInAnotherNamespaceHidesAllSourcesReadThroughIt) {
  Report report = one_port();
  const std::string why = "ens1np0 is in another network namespace than the monitor";
  testing::set_reason(report.ports[0], "link_modes", why);
  const DoctorReport doctor = examine(report, {});
  for (const char* probe :
       {"link_modes", "down_reason", "fec", "ethtool_stats", "pause", "driver_stats", "module"}) {
    EXPECT_EQ(source(doctor, probe).state, Visibility::kHidden) << probe;
    EXPECT_EQ(source(doctor, probe).why, why) << probe;
    EXPECT_THAT(source(doctor, probe).hint, HasSubstr("the host's network namespace")) << probe;
  }
  EXPECT_EQ(source(doctor, "hwmon").state, Visibility::kNoWord) << "a file of the card";
  EXPECT_EQ(source(doctor, "counters").state, Visibility::kSeen);
  EXPECT_EQ(doctor.hidden, 8U) << "devlink, too";
  EXPECT_THAT(self_test_lines(doctor),
              ElementsAre(HasSubstr("speed and lanes; why a link is down; FEC mode")))
      << "one cause is one line";
}

/// With IPoIB ethtool answers EOPNOTSUPP, without it there is no interface.
TEST(Doctor, TheModuleOfAnInfiniBandPortComesByImportOnly) {
  for (const bool ipoib : {false, true}) {
    Report report = one_port();
    PortId& id = report.ports[0].latest.id;
    id.link_layer = "InfiniBand";
    id.netdev = ipoib ? "ib0" : "";
    if (ipoib)
      testing::set_reason(report.ports[0], "module",
                          "EOPNOTSUPP: the driver has no module interface");
    const DoctorReport without = examine(report, {});
    EXPECT_EQ(source(without, "module").state, Visibility::kHidden);
    EXPECT_EQ(source(without, "module").why,
              "the kernel provides no access to the module of an InfiniBand port");
    EXPECT_THAT(source(without, "module").hint, HasSubstr("docs/import.md"));
    report.ports[0].latest.module.emplace().present = true;
    const DoctorReport imported = examine(report, {});
    EXPECT_EQ(source(imported, "module").state, Visibility::kSeen);
    for (const std::string& line : imported.ports[0].not_noticed)
      EXPECT_THAT(line, Not(HasSubstr("needs the module")));
  }
}

/// A pod without the host's network: the namespace hides the interface, and would bring no module.
TEST(Doctor, TheHostsNetworkGivesOfAnInfiniBandPortWhatIpoibOffers) {
  Report report = one_port();
  report.ports[0].latest.id.link_layer = "InfiniBand";
  testing::set_reason(report.ports[0], "link_modes",
                      "ens1np0 is in another network namespace than the monitor");
  const DoctorReport doctor = examine(report, {});
  EXPECT_THAT(source(doctor, "module").why,
              HasSubstr("no access to the module of an InfiniBand port"));
  EXPECT_THAT(source(doctor, "module").hint, HasSubstr("docs/import.md"));
  for (const char* probe : {"down_reason", "fec", "ethtool_stats", "pause"}) {
    EXPECT_EQ(source(doctor, probe).state, Visibility::kNotOffered) << probe;
    EXPECT_EQ(source(doctor, probe).hint, "") << probe;
  }
  for (const char* probe : {"link_modes", "driver_stats"})
    EXPECT_THAT(source(doctor, probe).hint, HasSubstr("the host's network namespace")) << probe;
}

/// The error of `linkhealth module PORT`.
TEST(Doctor, WhyAPortHasNoModule) {
  const auto why = [](auto change) {
    Report report = one_port();
    change(report.ports[0]);
    return why_no_module(report.ports[0], report, {});
  };
  EXPECT_EQ(why([](PortReport&) {}), "not read yet");
  EXPECT_THAT(why([](PortReport& port) { port.latest.id.link_layer = "InfiniBand"; }),
              HasSubstr("InfiniBand port: import the readings of another program"));
  EXPECT_EQ(why([](PortReport& port) { port.exempt = "vf: a virtual function"; }),
            "vf: a virtual function");
  EXPECT_EQ(why([](PortReport& port) { port.exempt = "unused (never linked)"; }), "not read yet");
  EXPECT_THAT(why([](PortReport& port) { port.latest.id.netdev = ""; }),
              HasSubstr("no network interface"));
  EXPECT_THAT(
      why([](PortReport& port) { testing::set_reason(port, "module", std::string(kModuleLeft)); }),
      HasSubstr("reads resume when the maintenance ends"));
  EXPECT_THAT(why([](PortReport& port) { testing::set_reason(port, "module", "EPERM"); }),
              HasSubstr("EPERM: give the daemon CAP_NET_ADMIN"));
}

TEST(Doctor, ALinkOfWhichOnlySettingsAreKnownIsNotSeen) {
  Report report = one_port();
  testing::set_reason(report.ports[0], "link", "EACCES");
  EXPECT_EQ(source(examine(report, {}), "link").state, Visibility::kPartly)
      << "some of it came from elsewhere";
  report.ports[0].latest.link->carrier.reset();
  report.ports[0].latest.link->speed_mbps = 400'000;
  EXPECT_EQ(source(examine(report, {}), "link").state, Visibility::kHidden);
  report.ports[0].latest.sources.reset();
  EXPECT_EQ(source(examine(report, {}), "link").state, Visibility::kNoWord);
}

TEST(Doctor, TenPortsWithOneCauseAreOneLine) {
  Report report = one_port();
  for (int i = 1; i < 10; ++i) {
    report.ports.push_back(report.ports[0]);
    report.ports.back().port = "mlx5_" + std::to_string(i) + "/1";
  }
  for (PortReport& port : report.ports) testing::set_reason(port, "module", "EPERM");
  const DoctorReport doctor = examine(report, {});
  EXPECT_EQ(doctor.hidden, 10U);
  ASSERT_EQ(self_test_lines(doctor).size(), 1U);
  EXPECT_THAT(self_test_lines(doctor)[0], HasSubstr("CAP_NET_ADMIN"));
}

TEST(Doctor, FactsOfTheNodeCountWhereNoPortHasAStatus) {
  NodeFacts facts;
  facts.access["kernel_log"] = "/dev/kmsg: No such file or directory";
  facts.of_daemon = false;  // a daemon that is refused has a gap
  const DoctorReport doctor = examine(one_port(), facts);
  EXPECT_EQ(source(doctor, "kernel_log").state, Visibility::kHidden);
  EXPECT_EQ(doctor.hidden, 1U);
}

TEST(Doctor, ADeviceThatCanBeOpenedIsNotSeenBeforeItIsRead) {
  NodeFacts facts;
  facts.of_daemon = false;
  facts.access["kernel_log"] = facts.access["verbs_events"] = facts.access["peer_lldp"] = "";
  DoctorReport doctor = examine(one_port(), facts);
  for (const char* probe :
       {"link_events", "device_events", "kernel_log", "verbs_events", "peer_lldp", "import"})
    EXPECT_EQ(source(doctor, probe).state, Visibility::kNoWord) << probe;
  facts.open = {"link_events",  "device_events", "kernel_log",
                "verbs_events", "peer_lldp",     "import"};
  doctor = examine(one_port(), facts);
  for (const char* probe : {"link_events", "device_events", "kernel_log", "verbs_events"})
    EXPECT_EQ(source(doctor, probe).state, Visibility::kSeen) << probe;
  for (const char* probe : {"peer_lldp", "import"})
    EXPECT_EQ(source(doctor, probe).state, Visibility::kNoWord) << probe << " has read nothing";
}

TEST(Doctor, ASourceThatIsSwitchedOffIsNeitherSeenNorHidden) {
  NodeFacts facts;  // of a daemon, with nothing open
  facts.access["peer_lldp"] = "/run/lldpd.socket: Permission denied";
  const DoctorReport doctor = examine(one_port(), facts);
  for (const char* probe : {"kernel_log", "verbs_events", "peer_lldp", "import"}) {
    EXPECT_EQ(source(doctor, probe).state, Visibility::kNotUsed) << probe;
    EXPECT_THAT(source(doctor, probe).why, HasSubstr("disabled")) << probe;
  }
  EXPECT_EQ(doctor.hidden, 0U);
  EXPECT_THAT(doctor_text(doctor, {}),
              HasSubstr("disabled by the configuration: verbs_events, peer_lldp"));
}

TEST(Doctor, OfAPlayedRecordingNothingIsSwitchedOff) {
  const DoctorReport doctor = examine(one_port(), played_node_facts());
  EXPECT_EQ(source(doctor, "kernel_log").state, Visibility::kNoWord);
  EXPECT_THAT(doctor_text(doctor, {}),
              AllOf(HasSubstr("plays a recording"), Not(HasSubstr("disabled")),
                    Not(HasSubstr("capabilities"))));
}

TEST(Doctor, AFeedThatLostEventsIsSeenInPart) {
  Report report = one_port();
  testing::set_reason(report.sources, "kernel_log", "lines were overwritten before they were read");
  NodeFacts facts;
  facts.open = {"kernel_log"};
  EXPECT_EQ(source(examine(report, facts), "kernel_log").state, Visibility::kPartly);
  EXPECT_EQ(source(examine(report, facts), "kernel_log").hint, "") << "nothing brings it back";
  facts.open.clear();
  EXPECT_EQ(source(examine(report, facts), "kernel_log").state, Visibility::kHidden);
}

TEST(Doctor, AnImportIsSeenWhereAReadingCameFromIt) {
  NodeFacts facts;
  facts.open = {"import"};
  Report report = one_port();
  report.ports[0].latest.peer.emplace().source = "lldp";
  EXPECT_EQ(source(examine(report, facts), "import").state, Visibility::kNoWord)
      << "lldpd reported that";
  report.ports[0].latest.peer->module_source = "telemetry";
  EXPECT_EQ(source(examine(report, facts), "import").state, Visibility::kSeen);
  report.ports[0].latest.peer->module_source.clear();
  report.ports[0].latest.peer->counters_source = "fleet";
  EXPECT_EQ(source(examine(report, facts), "import").state, Visibility::kSeen);
  testing::set_reason(report.ports[0], "import", "old.json: past its time of validity");
  EXPECT_EQ(source(examine(report, facts), "import").state, Visibility::kPartly);
  report = one_port();
  report.ports[0].latest.id.link_layer = "InfiniBand";
  report.ports[0].latest.module.emplace();
  EXPECT_EQ(source(examine(report, facts), "import").state, Visibility::kSeen)
      << "only an import can have read it";
}

TEST(Doctor, HiddenSourcesMakeFaultsConfusable) {
  Report report = one_port();
  DoctorReport doctor = examine(report, {});
  const auto words = [&doctor] {
    std::string all;
    for (const auto* list : {&doctor.ports[0].not_noticed, &doctor.ports[0].not_told_apart})
      for (const std::string& line : *list) all += line + "\n";
    return all;
  };
  EXPECT_THAT(words(), HasSubstr("dirty_connector from damaged_fiber"));
  EXPECT_THAT(words(), Not(HasSubstr("pcie_degraded (needs")));
  EXPECT_THAT(words(), Not(HasSubstr("unplugged (needs the far module)\nmodule")))
      << "a link that is down is noticed";
  report.ports[0].latest.pcie.reset();
  doctor = examine(report, {});
  EXPECT_THAT(words(), HasSubstr("pcie_degraded (needs PCIe)"));
}

TEST(Doctor, AnExemptPortIsNotJudged) {
  Report report = one_port();
  report.ports[0].exempt = "virtual function of 0000:1b:00.0";
  DoctorReport doctor = examine(report, {});
  EXPECT_TRUE(doctor.ports[0].sources.empty());
  EXPECT_THAT(doctor_text(doctor, {}), HasSubstr("exempt: virtual function"));
  for (PortSight& port : doctor.ports) port.exempt = "unused";
  EXPECT_THAT(doctor_text(doctor, {}), HasSubstr("; no port of this node is monitored"));
  doctor.ports.front().exempt.clear();
  EXPECT_THAT(doctor_text(doctor, {}), Not(HasSubstr("no port of this node")));
}

TEST(Doctor, CapabilitiesByName) {
  EXPECT_THAT(effective_capabilities("Name:\tx\nCapEff:\t0000000400001000\n"),
              ElementsAre("CAP_NET_ADMIN", "CAP_SYSLOG"));
  EXPECT_TRUE(effective_capabilities("CapEff:\t0000000000000000\n").empty());
  EXPECT_TRUE(effective_capabilities("garbage").empty());
}

TEST(Doctor, FactsOfAContainerWithPartialSys) {
  testing::FakeHost host;
  testing::add_nic(host, {});
  host.set(testing::Nic().pci_dir() + "/infiniband/mlx5_0/fw_ver", "28.39.1002\n");
  host.set("/sys/module/mlx5_core/version", "24.01-0.3.3\n");
  host.set("/proc/sys/kernel/osrelease", "6.1.0\n");
  host.set("/proc/self/status", "CapEff:\t0000000000000000\n");
  host.set_error("/dev/kmsg", EPERM);
  NodeFacts facts = gather_node_facts(host, true, false, {}, "/run/own/lldpd.socket");
  EXPECT_EQ(facts.kernel, "6.1.0");
  EXPECT_EQ(facts.firmware.at("mlx5_0"), "28.39.1002");
  EXPECT_EQ(facts.driver_versions.at("mlx5_core"), "24.01-0.3.3");
  EXPECT_THAT(facts.access.at("kernel_log"), HasSubstr("Operation not permitted"));
  EXPECT_THAT(facts.access.at("peer_mad"), HasSubstr("/sys/class/infiniband_mad"));
  EXPECT_THAT(facts.access.at("peer_lldp"), HasSubstr("/run/own/lldpd.socket"));
  // With the devices: a Host opens what is no regular file and refuses it with EINVAL.
  host.make_dir("/sys/class/infiniband_mad/umad0");
  host.set_error("/dev/infiniband/umad0", EINVAL);
  host.set_error("/dev/kmsg", EINVAL);
  facts = gather_node_facts(host, true, false, {}, "/run/own/lldpd.socket");
  EXPECT_EQ(facts.access.at("peer_mad"), "");
  EXPECT_EQ(facts.access.at("kernel_log"), "");
  host.set_error("/dev/infiniband/umad0", EACCES);
  EXPECT_THAT(
      gather_node_facts(host, true, false, {}, "/run/own/lldpd.socket").access.at("peer_mad"),
      HasSubstr("Permission denied"));
}

TEST(Doctor, ACopyHidesWhatAKernelAnswersAndNotImports) {
  NodeFacts facts;
  facts.of_daemon = false;
  facts.copied_tree = true;
  const DoctorReport doctor = examine(one_port(), facts);
  EXPECT_EQ(source(doctor, "kernel_log").state, Visibility::kHidden);
  EXPECT_THAT(source(doctor, "kernel_log").why, HasSubstr("a copy of /sys"));
  EXPECT_EQ(source(doctor, "import").state, Visibility::kNoWord) << "a file needs no kernel";
}

TEST(Doctor, EveryExampleIsDrawnAndWritten) {
  const DoctorReport doctor = examine(test::example_report(), {});
  for (const int width : {40, 80, 200})
    for (const bool ascii : {false, true}) {
      const std::string text =
          doctor_text(doctor, {.colour = false, .width_columns = width, .ascii = ascii});
      EXPECT_THAT(text, HasSubstr("gpu-0417"));
      EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    }
  const std::string json = doctor_json(doctor);
  EXPECT_THAT(json, HasSubstr("\"schema\":\"linkhealth.doctor/1\""));
  EXPECT_THAT(json, HasSubstr("\"port\":\"mlx5_3/1\""));
}

}  // namespace
}  // namespace linkhealth
