#include "exporters/metrics/metrics.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/support/golden.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const MonitorFigures kMonitor = {.version = "1.2.3", .loop_lateness_s = 0.0002};

std::string render(const Report& report, MetricGroups groups = {}) {
  return metrics_text(report, FaultEventCounts(), kMonitor, groups);
}

FaultEventCounts some_events() {
  FaultEventCounts counts;
  for (const FaultEventKind kind : {FaultEventKind::kOpened, FaultEventKind::kClosed}) {
    FaultEvent event = test::example_event(kind);
    event.t -= std::chrono::hours(1);
    counts.add(event);
  }
  return counts;
}

TEST(Metrics, DefaultSet) {
  test::expect_golden("tests/golden/metrics/default.prom",
                      metrics_text(test::example_report(), some_events(), kMonitor, {}));
}

TEST(Metrics, AllGroups) {
  test::expect_golden("tests/golden/metrics/all.prom",
                      metrics_text(test::example_report(), some_events(), kMonitor,
                                   {.counters = true, .optics = true}));
}

Report measured() {
  Report report;
  report.ports = {test::measured_port()};
  return report;
}

TEST(Metrics, WhatHardwareMeasuresOfItself) {
  test::expect_golden("tests/golden/metrics/hardware.prom",
                      render(measured(), {.counters = true, .optics = true}));
}

TEST(Metrics, WhatIsNotKnownHasNoSeries) {
  const std::string text = render(measured(), {.counters = true, .optics = true});
  EXPECT_THAT(
      text,
      HasSubstr(
          R"(linkhealth_module_lane_esnr_db{device="mlx5_9",port="1",lane="3",side="media"} 20.25)"));
  EXPECT_THAT(text, Not(HasSubstr(R"(port="1",lane="2",side="media"})")))
      << "0 dB is CMIS's word for none";
  EXPECT_THAT(
      text,
      Not(HasSubstr(
          R"(linkhealth_pcie_current_link_transfers_per_second{device="mlx5_9",port="1",end="bridge"})")));
  EXPECT_THAT(text, Not(HasSubstr(R"(severity="nonfatal")")));
  EXPECT_THAT(render(measured()), Not(HasSubstr("linkhealth_pcie"))) << "not by default";
}

TEST(Metrics, TheReasonOfALinkThatIsDownEndsWithIt) {
  Report report;
  report.ports = {test::down_port()};
  EXPECT_THAT(render(report), HasSubstr("linkhealth_link_down_reason_info{"));
  report.ports[0].latest.link->carrier = true;
  EXPECT_THAT(render(report), Not(HasSubstr("linkhealth_link_down_reason_info{")));
}

TEST(Metrics, TheLastFlapOfEachPortHasItsTime) {
  Report report;
  report.ports = {test::healthy_port("mlx5_0", "eth0", ""),
                  test::healthy_port("mlx5_1", "eth1", "")};
  report.ports[1].figures.last_involuntary_down_at = WallTime(Milliseconds(1'795'175'969'250));
  const std::string text = render(report);
  EXPECT_THAT(text, HasSubstr("linkhealth_link_last_down_timestamp_seconds{device=\"mlx5_1\",port="
                              "\"1\"} 1795175969\n"));
  EXPECT_THAT(text,
              Not(HasSubstr("linkhealth_link_last_down_timestamp_seconds{device=\"mlx5_0\"")));
}

TEST(Metrics, ConfigurationMayAddAGroupToEveryScrape) {
  SettingTable table(metric_setting_groups());
  EXPECT_FALSE(metric_groups(table).counters || metric_groups(table).optics);
  ASSERT_TRUE(table.set("metrics", "optics", 1));
  MonitorFigures monitor = kMonitor;
  monitor.always = metric_groups(table);
  const std::string text = metrics_text(test::example_report(), {}, monitor, {});
  EXPECT_THAT(text, HasSubstr("linkhealth_module_lane_rx_power_watts{"));
  EXPECT_THAT(text, Not(HasSubstr("linkhealth_raw_total")));
}

TEST(Metrics, TheFarEndsLightIsTheOtherHalfOfTheBudget) {
  Report report;
  report.ports = {test::healthy_port("mlx5_0", "eth0", "")};
  ModuleSample& far = report.ports[0].latest.peer->module.emplace();
  far.lanes.resize(2);
  far.lanes[1].tx_power_mw = 1.5;
  const std::string text = render(report, {.optics = true});
  EXPECT_THAT(
      text,
      HasSubstr(
          "linkhealth_peer_lane_tx_power_watts{device=\"mlx5_0\",port=\"1\",lane=\"2\"} 0.0015"));
  EXPECT_THAT(text,
              Not(HasSubstr(
                  "linkhealth_peer_lane_tx_power_watts{device=\"mlx5_0\",port=\"1\",lane=\"1\"}")));
}

TEST(Metrics, AnImportedModuleHasItsTime) {
  Report report;
  report.ports = {test::healthy_port("mlx5_0", "eth0", "")};
  EXPECT_THAT(render(report, {.optics = true}),
              Not(HasSubstr("linkhealth_module_import_timestamp_seconds{")));
  report.ports[0].latest.module->imported_at = WallTime(std::chrono::seconds(1'795'175'969));
  EXPECT_THAT(
      render(report, {.optics = true}),
      HasSubstr(
          "linkhealth_module_import_timestamp_seconds{device=\"mlx5_0\",port=\"1\"} 1795175969\n"));
}

TEST(Metrics, WhatHardwareDoesNotMeasureHasNoSeries) {
  Report report = test::example_report();
  report.ports = {test::blind_port()};
  const std::string text = render(report, {.counters = true, .optics = true});
  for (const char* name :
       {"linkhealth_link_up", "linkhealth_pre_fec_ber", "linkhealth_rx_power_margin_db",
        "linkhealth_raw_total", "linkhealth_module_info", "linkhealth_bandwidth", "linkhealth_fec",
        "linkhealth_fault_active"})
    EXPECT_THAT(text, Not(HasSubstr(name)));
  EXPECT_THAT(
      text,
      HasSubstr(
          "linkhealth_gap{device=\"mlx5_9\",port=\"1\",probe=\"module\",reason=\"EBUSY\"} 1"));
}

TEST(Metrics, AConfidenceIsWholePerCentAndNeverCertain) {
  Report report;
  report.ports = {test::down_port()};
  const auto shown = [&](double confidence) {
    report.ports[0].faults.at(0).confidence = confidence;
    const std::string text = render(report);
    const std::size_t begin = text.find(' ', text.find("linkhealth_fault_active{")) + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(shown(0.98769), "0.99");
  EXPECT_EQ(shown(0.634), "0.63");
  EXPECT_EQ(shown(0.99999), "0.99");
  EXPECT_EQ(shown(0.0004), "0.01");
}

TEST(Metrics, ADownLinkHasBandwidthZeroAndNoSpeed) {
  Report report;
  report.ports = {test::down_port()};
  const std::string text = render(report);
  EXPECT_THAT(text, HasSubstr("linkhealth_link_up{device=\"mlx5_7\",port=\"1\"} 0"));
  EXPECT_THAT(
      text,
      HasSubstr("linkhealth_bandwidth_available_bytes_per_second{device=\"mlx5_7\",port=\"1\"} 0"));
  EXPECT_THAT(text, Not(HasSubstr("linkhealth_link_speed_bytes_per_second{")));
}

TEST(Metrics, WildTextFromAModuleLosesNothing) {
  Report report = test::example_report();
  report.ports[0].latest.module->vendor = "a\"b\\c\nd\xff";
  EXPECT_THAT(render(report), HasSubstr(R"(vendor="a\"b\\c?d?")"));
  report.ports[0].latest.module->vendor = "a\"b\\c\x1b[31md";
  EXPECT_THAT(render(report), HasSubstr(R"(vendor="a\"b\\c?[31md")")) << "no escapes of a terminal";
}

TEST(Metrics, ASeriesComesOnce) {
  Report report = test::example_report();
  report.gaps.push_back(report.gaps.front());
  report.timings = {{"counters", 0.25}, {"counters", 0.5}};
  const std::string text = render(report);
  const std::string_view line = "linkhealth_gap{device=\"\",port=\"\",probe=\"kernel_log\"";
  const auto first = text.find(line);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find(line, first + 1), std::string::npos);
  EXPECT_THAT(text, HasSubstr("linkhealth_probe_duration_seconds{probe=\"counters\"} 0.75"));
}

TEST(Metrics, AnEventsSeriesShowsZeroForAMinute) {
  FaultEventCounts counts;
  counts.add(test::example_event(FaultEventKind::kOpened));
  const std::string opened =
      R"(linkhealth_fault_events_total{device="mlx5_3",port="1",fault="dirty_connector",event="opened"} )";
  Report report;
  report.t = test::example_t();
  EXPECT_THAT(metrics_text(report, counts, kMonitor, {}), HasSubstr(opened + "0\n"));
  report.t += std::chrono::seconds(59);
  counts.add(test::example_event(FaultEventKind::kOpened));
  EXPECT_THAT(metrics_text(report, counts, kMonitor, {}), HasSubstr(opened + "0\n"));
  report.t += std::chrono::seconds(1);
  const std::string text = metrics_text(report, counts, kMonitor, {});
  EXPECT_THAT(text, HasSubstr(opened + "2\n"));
  EXPECT_THAT(text, Not(HasSubstr("event=\"closed\""))) << "what never happened has no series";
}

TEST(Metrics, EventsSeriesAreBounded) {
  FaultEventCounts counts;
  FaultEvent event = test::example_event(FaultEventKind::kOpened);
  for (int port = 0; port < 1000; ++port) {
    event.port = "mlx5_" + std::to_string(port) + "/1";
    counts.add(event);
  }
  EXPECT_EQ(counts.events().size(), FaultEventCounts::kMaxPortRows + 1);
  EXPECT_EQ(counts.events().at({"", "dirty_connector", FaultEventKind::kOpened}).count,
            1000 - FaultEventCounts::kMaxPortRows);
}

TEST(Metrics, RepairsAreCountedOnceWhenTheirFaultCloses) {
  FaultEvent event = test::example_event(FaultEventKind::kClosed);
  const auto did = [](RepairAction action, RepairOutcome outcome) {
    RepairRecord record;
    record.action = action;
    record.outcome = outcome;
    return record;
  };
  event.fault.repairs = {did(RepairAction::kFibreReseated, RepairOutcome::kFailed),
                         did(RepairAction::kModuleReplaced, RepairOutcome::kHeld),
                         did(RepairAction::kPortBounced, RepairOutcome::kPending)};
  FaultEventCounts counts;
  counts.add(test::example_event(FaultEventKind::kOpened));
  counts.add(event);
  // it came back and closed again: the earlier repairs are still in its history
  event.fault.repairs.back().outcome = RepairOutcome::kHeld;
  counts.add(event);
  ASSERT_EQ(counts.repairs().size(), 3U);
  for (const auto& [key, row] : counts.repairs()) EXPECT_EQ(row.count, 1U) << to_string(key.action);
  EXPECT_TRUE(counts.repairs().contains({RepairAction::kFibreReseated, RepairOutcome::kFailed}));
  Report report;
  report.t = test::example_t() + std::chrono::minutes(2);
  EXPECT_THAT(metrics_text(report, counts, kMonitor, {}),
              HasSubstr(R"(linkhealth_repairs_total{action="module_replaced",outcome="held"} 1)"));
}

TEST(Metrics, WhereAPortStands) {
  Report report = test::example_report();
  report.ports = {test::healthy_port("mlx5_0", "eth0", "")};
  MonitorFigures monitor = kMonitor;
  report.site = {{"rack", "r12"}, {"row", "3"}, {"u", "14"}, {"pod", "a"}, {"rail", "9"}};
  report.ports[0].expected.rail = "0";
  monitor.started_at = test::example_now();
  const std::string text = metrics_text(report, {}, monitor, {});
  EXPECT_THAT(text, HasSubstr(R"(pod="a",row="3",rack="r12",u="14",rail="0"} 1)"));
  EXPECT_THAT(text, HasSubstr("linkhealth_node_info{nodename=\"" + report.node +
                              R"(",pod="a",row="3",rack="r12",u="14"} 1)"));
  EXPECT_THAT(text, HasSubstr("process_start_time_seconds 1795176000\n"));
}

TEST(Metrics, TheExpectedSpeedIsTheBestEverSeenWhereNoneIsConfigured) {
  Report report = test::example_report();
  report.ports = {test::healthy_port("mlx5_0", "eth0", "")};
  PortReport& port = report.ports[0];
  port.figures.best_speed_mbps = 200000;
  EXPECT_THAT(render(report),
              HasSubstr("expected_bytes_per_second{device=\"mlx5_0\",port=\"1\"} 50000000000\n"));
  port.expected.speed_mbps.reset();
  EXPECT_THAT(render(report),
              HasSubstr("expected_bytes_per_second{device=\"mlx5_0\",port=\"1\"} 25000000000\n"));
}

TEST(Metrics, ThePortsSourcesAreCountedByState) {
  Report report = test::example_report();
  report.ports = {test::healthy_port("mlx5_0", "eth0", "")};
  MonitorFigures monitor = kMonitor;
  monitor.sight["mlx5_0/1"] = {.unreadable = 3, .sources = 14};
  const std::string text = metrics_text(report, {}, monitor, {});
  EXPECT_THAT(
      text, HasSubstr(R"(linkhealth_port_sources{device="mlx5_0",port="1",state="readable"} 11)"));
  EXPECT_THAT(
      text, HasSubstr(R"(linkhealth_port_sources{device="mlx5_0",port="1",state="unreadable"} 3)"));
}

TEST(Metrics, TheFarEndHasItsSourceAndTime) {
  Report report = test::example_report();
  PortReport seen = test::healthy_port("mlx5_0", "eth0", "");
  seen.latest.peer->age_s = 30.4;
  PortReport planned = test::healthy_port("mlx5_1", "eth1", "");
  planned.latest.peer.reset();
  planned.expected.peer_system = "leaf-9";
  report.ports = {seen, planned};
  const std::string text = render(report);
  EXPECT_THAT(text, HasSubstr(R"(peer_port="Ethernet17/1",peer_source="lldp")"));
  EXPECT_THAT(text, HasSubstr(R"(peer_system="leaf-9",peer_port="",peer_source="plan")"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "linkhealth_peer_read_timestamp_seconds{device=\"mlx5_0\",port=\"1\"} 1795175969\n"));
  EXPECT_THAT(text, Not(HasSubstr("linkhealth_peer_read_timestamp_seconds{device=\"mlx5_1\"")));
}

/// docs/metrics.md: at most 15 series a link, 120 a node of 8 links, where everything is known and
/// nothing is wrong.
TEST(Metrics, TheDefaultSetIsLean) {
  Report report = test::example_report();
  report.ports.clear();
  report.gaps.clear();
  MonitorFigures monitor = kMonitor;
  for (int number = 0; number < 8; ++number) {
    report.ports.push_back(
        test::healthy_port("mlx5_" + std::to_string(number), "eth" + std::to_string(number), ""));
    report.ports.back().latest.peer->age_s = 30;
    monitor.sight[report.ports.back().port] = {.unreadable = 0, .sources = 14};
  }
  report.timings.clear();
  for (const char* probe : {"link", "counters", "ethtool", "pcie", "driver_stats", "devlink",
                            "netdev_stats", "inventory", "module", "lldp", "mad", "import"})
    report.timings.push_back({probe, 0.001});
  monitor.started_at = test::example_now();
  monitor.store = StoreHealth{};
  const auto series = [&](const Report& of) {
    const std::string text = metrics_text(of, {}, monitor, {});
    std::ptrdiff_t lines = 0;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      lines += text[at] == '#' ? 0 : 1;
    return lines;
  };
  const auto all = series(report);
  EXPECT_LE(all, 120);
  report.ports.pop_back();
  EXPECT_LE(all - series(report), 15);
  EXPECT_GT(all, 90) << "something is missing";
}

TEST(Metrics, APlainEthernetPortHasItsNetdevAsDevice) {
  Report report;
  report.ports = {test::healthy_port("mlx5_0", "eth0", "")};
  report.ports[0].port = report.ports[0].latest.id.device = "eth0";
  EXPECT_THAT(render(report), HasSubstr("linkhealth_link_up{device=\"eth0\",port=\"1\"} 1"));
}

TEST(Metrics, AnExemptPortHasItsCountersOnly) {
  Report report = measured();
  PortReport& port = report.ports[0];
  port.health = Health::kExempt;
  port.exempt = "virtual NIC (efa)";
  port.latest.id.exempt = port.exempt;
  port.latest.counters.emplace().set("rx_drops", 7);
  port.latest.link.emplace().state = "ACTIVE";
  port.latest.link->speed_mbps = 100'000;
  const std::string text = render(report, {.counters = true});
  EXPECT_THAT(text,
              HasSubstr(R"(linkhealth_raw_total{device="mlx5_9",port="1",counter="rx_drops"} 7)"));
  EXPECT_THAT(text,
              HasSubstr(R"(linkhealth_port_state_info{device="mlx5_9",port="1",state="ACTIVE")"));
  EXPECT_THAT(text, HasSubstr("linkhealth_bandwidth_available_bytes_per_second{device=\"mlx5_9\","
                              "port=\"1\"} 12500000000"));
  EXPECT_THAT(text, Not(HasSubstr("linkhealth_link_up{")));
  EXPECT_THAT(text, Not(HasSubstr("linkhealth_link_downs_total{")));
}

TEST(Metrics, ThePageDescribesTheTable) {
  test::expect_golden("docs/metrics.md", metrics_reference());
}

TEST(Metrics, PromtoolFindsNothing) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
  const std::string path =
      ::testing::TempDir() + "linkhealth_metrics_" + std::to_string(getpid()) + ".prom";
  Report report = test::example_report();
  report.ports.push_back(test::down_port());
  report.ports.push_back(test::measured_port());
  std::ofstream(path) << metrics_text(report, some_events(), kMonitor,
                                      {.counters = true, .optics = true});
  EXPECT_EQ(std::system(("promtool check metrics < " + path + " >&2").c_str()), 0);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace linkhealth
