#include "exporters/text/check.h"

#include <gtest/gtest.h>

#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

CheckView now() { return {test::example_now()}; }

TEST(CheckTest, EachHealthHasItsLevel) {
  EXPECT_EQ(check_port(test::healthy_port("mlx5_0", "ens1np0", "0000:1b:00.0")).level,
            CheckLevel::kOk);
  EXPECT_EQ(check_port(test::exempt_port()).level, CheckLevel::kOk);
  EXPECT_EQ(check_port(test::dirty_port()).level, CheckLevel::kWarning);
  EXPECT_EQ(check_port(test::down_port()).level, CheckLevel::kCritical);
  EXPECT_EQ(check_port(test::blind_port()).level, CheckLevel::kUnknown);
}

TEST(CheckTest, LosingDataIsCriticalAndARepairThatProvesItselfIsNot) {
  PortReport port = test::dirty_port();
  port.faults[0].severity = Severity::kCritical;
  EXPECT_EQ(check_port(port).level, CheckLevel::kCritical);
  port.faults[0].state = FaultState::kProving;
  EXPECT_EQ(check_port(port).level, CheckLevel::kWarning);
}

TEST(CheckTest, WhatAnAdministratorSetDownIsAWarning) {
  PortReport port = test::down_port();
  port.faults[0].fault = "admin_down";
  port.faults[0].severity = Severity::kNotice;
  EXPECT_EQ(check_port(port).level, CheckLevel::kWarning);
}

TEST(CheckTest, TheWorstComesFirstAndUnknownIsLessThanBad) {
  const Check all = check(test::example_report(), nullptr, now());
  EXPECT_EQ(check_line(all, false),
            "LINKHEALTH CRITICAL - mlx5_7/1 far port down (91%); mlx5_3/1 dirty connector (83%); "
            "mlx5_9/1 unknown: "
            "cannot read counters: EINVAL from the device\n");
  EXPECT_EQ(check_line(all, true).substr(check_line(all, true).find('|')),
            "| ports=5 problems=3;0 down=1;;0\n");
  EXPECT_EQ(all.drain_reason, "linkhealth: mlx5_7/1 far port down (91%) +2");
}

TEST(CheckTest, OnePortAndAllWell) {
  const Report report = test::example_report();
  EXPECT_EQ(check_line(check(report, &report.ports[0], now()), false),
            "LINKHEALTH OK - mlx5_0/1 healthy\n");
  EXPECT_EQ(check(report, &report.ports[0], now()).drain_reason, "");
  Report good = report;
  good.ports = {report.ports[0], report.ports[3]};
  EXPECT_EQ(check_line(check(good, nullptr, now()), false), "LINKHEALTH OK - 2 ports, 1 exempt\n");
}

TEST(CheckTest, AnUnknownPortHasTheDecisiveReason) {
  Report report = test::example_report();
  report.ports = {test::blind_port()};
  PortReport& port = report.ports[0];
  port.gaps = {{port.port, "peer_lldp", "no neighbour"}, {port.port, "link", "Input/output error"}};
  EXPECT_EQ(check_line(check(report, nullptr, now()), false),
            "LINKHEALTH UNKNOWN - mlx5_9/1 unknown: cannot read link: Input/output error\n");
  port.gaps.push_back(
      {port.port, "rdma_device", "the RDMA device is gone, its network interface is still there"});
  const Check gone = check(report, nullptr, now());
  EXPECT_EQ(gone.text,
            "mlx5_9/1 unknown: the RDMA device is gone, its network interface is still there");
  EXPECT_EQ(gone.drain_reason, "linkhealth: mlx5_9/1 unknown: the RDMA device is gone");
  port.gaps.clear();
  EXPECT_EQ(check(report, nullptr, now()).text, "mlx5_9/1 unknown");
}

TEST(CheckTest, MaintenanceIsOk) {
  Report report = test::example_report();
  report.ports = {test::down_port()};
  report.ports[0].maintenance.emplace();
  EXPECT_EQ(check_line(check(report, nullptr, now()), false),
            "LINKHEALTH OK - 1 port, 1 in maintenance\n");
}

TEST(CheckTest, AnOldSampleIsUnknown) {
  CheckView late = now();
  late.now += std::chrono::minutes(5);
  const Check old = check(test::example_report(), nullptr, late);
  EXPECT_EQ(check_line(old, false), "LINKHEALTH UNKNOWN - the last sample is 5 min old\n");
}

TEST(CheckTest, NoPortIsNotWell) {
  Report none;
  none.at = now().now;
  EXPECT_EQ(check(none, nullptr, now()).level, CheckLevel::kUnknown);
}

TEST(CheckTest, WhereNothingIsJudgedNothingIsOk) {
  Report report = test::example_report();
  report.ports = {test::exempt_port()};
  const Check none = check(report, nullptr, now());
  EXPECT_EQ(none.level, CheckLevel::kUnknown);
  EXPECT_TRUE(none.text.starts_with("none of 1 port is monitored (")) << none.text;
  EXPECT_EQ(none.drain_reason, "") << "nothing is known to be wrong";
  EXPECT_EQ(check(report, &report.ports[0], now()).level, CheckLevel::kUnknown);
  report.ports.push_back(test::healthy_port("mlx5_0", "ens1np0", "0000:1b:00.0"));
  EXPECT_EQ(check(report, nullptr, now()).level, CheckLevel::kOk);
  report.ports[0].note = std::string(kRefusedEntry) + ": virtual function of 0000:1b:00.0";
  const Check refused = check(report, nullptr, now());
  EXPECT_EQ(refused.level, CheckLevel::kUnknown) << "the configuration expects it";
  EXPECT_NE(refused.text.find("cannot be monitored"), std::string::npos);
}

TEST(CheckTest, ACardWithoutItsPortIsNamed) {
  Report report = test::example_report();
  report.ports = {test::healthy_port("mlx5_0", "ens1np0", "0000:1b:00.0")};
  report.gaps = {{"", "pci_bus", "0000:3b:00.0 is on the PCI bus without a driver"}};
  EXPECT_EQ(check(report, nullptr, now()).level, CheckLevel::kOk) << "nobody uses it, perhaps";
  report.gaps = {
      {"", "pci_bus",
       "0000:65:01.0 is on the PCI bus with the driver mlx5_core, which created no port"}};
  const Check missed = check(report, nullptr, now());
  EXPECT_EQ(missed.level, CheckLevel::kUnknown);
  EXPECT_TRUE(missed.text.starts_with("0000:65:01.0 is on the PCI bus")) << missed.text;
}

TEST(CheckTest, HowMuchCannotBeSeenIsSaid) {
  Report report = test::example_report();
  report.ports = {test::healthy_port("mlx5_0", "ens1np0", "0000:1b:00.0")};
  CheckView view = now();
  view.sight = SightCount{147, 160};
  EXPECT_EQ(check(report, nullptr, view).text,
            "1 port; 147 of 160 sources unreadable, see linkhealth doctor");
  view.sight = SightCount{0, 160};
  EXPECT_EQ(check(report, nullptr, view).text, "1 port");
}

TEST(CheckTest, ADryRunIsOk) {
  Report report = test::example_report();
  report.dry_run = true;
  const Check dry = check(report, nullptr, now());
  EXPECT_EQ(dry.level, CheckLevel::kOk);
  EXPECT_TRUE(dry.text.starts_with("dry run, would be CRITICAL: mlx5_7/1 far port down"))
      << dry.text;
  EXPECT_EQ(dry.drain_reason, "");
}

TEST(CheckTest, ADrainReasonIsShortAndPlain) {
  Report report = test::example_report();
  report.ports = {test::dirty_port()};
  report.ports[0].port = std::string(80, 'x');
  report.ports[0].faults[0].acknowledged = Acknowledgement{"ann", "", WallTime(), {}};
  const Check found = check(report, nullptr, now());
  EXPECT_LE(found.drain_reason.size(), kDrainReasonColumns);
  report.ports[0].port = "mlx5_3/1";
  EXPECT_EQ(check(report, nullptr, now()).drain_reason,
            "linkhealth: mlx5_3/1 dirty connector (83%)");
  EXPECT_EQ(check(report, nullptr, now()).text,
            "mlx5_3/1 dirty connector (83%), acknowledged by ann");
}

}  // namespace
}  // namespace linkhealth
