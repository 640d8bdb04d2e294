#include "exporters/metrics.h"

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
  constexpr std::array<std::string_view, 2> kNames = {"dirty_connector", "unplugged"};
  FaultEventCounts counts(kNames);
  counts.add(test::example_event(FaultEventKind::kOpened));
  counts.add(test::example_event(FaultEventKind::kClosed));
  return counts;
}

TEST(Metrics, DefaultSet) {
  test::expect_golden("tests/golden/metrics/default.prom",
                      metrics_text(test::example_report(), some_events(), kMonitor, {}));
}

TEST(Metrics, AllGroups) {
  test::expect_golden("tests/golden/metrics/all.prom", metrics_text(test::example_report(), some_events(), kMonitor,
                                                                    {.counters = true, .optics = true}));
}

TEST(Metrics, WhatIsNotKnownHasNoSeries) {
  Report report = test::example_report();
  report.ports = {test::blind_port()};
  const std::string text = render(report, {.counters = true, .optics = true});
  for (const char* name :
       {"linkhealth_link_up", "linkhealth_pre_fec_ber", "linkhealth_rx_power_margin_db", "linkhealth_raw_total",
        "linkhealth_module_info", "linkhealth_bandwidth", "linkhealth_fec", "linkhealth_fault_active"})
    EXPECT_THAT(text, Not(HasSubstr(name)));
  EXPECT_THAT(text, HasSubstr("linkhealth_gap{device=\"mlx5_9\",port=\"1\",probe=\"module\",reason=\"EBUSY\"} 1"));
}

TEST(Metrics, ADownLinkHasBandwidthZeroAndNoSpeed) {
  Report report;
  report.ports = {test::down_port()};
  const std::string text = render(report);
  EXPECT_THAT(text, HasSubstr("linkhealth_link_up{device=\"mlx5_7\",port=\"1\"} 0"));
  EXPECT_THAT(text, HasSubstr("linkhealth_bandwidth_available_bytes_per_second{device=\"mlx5_7\",port=\"1\"} 0"));
  EXPECT_THAT(text, Not(HasSubstr("linkhealth_link_speed_bytes_per_second{")));
}

TEST(Metrics, WildTextFromAModuleLosesNothing) {
  Report report = test::example_report();
  report.ports[0].latest.module->vendor = "a\"b\\c\nd\xff";
  EXPECT_THAT(render(report), HasSubstr(R"(vendor="a\"b\\c?d?")"));
  report.ports[0].latest.module->vendor = "a\"b\\c\nd";
  EXPECT_THAT(render(report), HasSubstr(R"(vendor="a\"b\\c\nd")"));
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

TEST(Metrics, FaultEventsBeginAtZero) {
  const std::string text = metrics_text(Report{}, some_events(), kMonitor, {});
  EXPECT_THAT(text, HasSubstr("linkhealth_fault_events_total{fault=\"unplugged\",event=\"opened\"} 0"));
  EXPECT_THAT(text, Not(HasSubstr("fault=\"unplugged\",event=\"closed\"")));
  EXPECT_THAT(text, HasSubstr("linkhealth_fault_events_total{fault=\"dirty_connector\",event=\"closed\"} 1"));
  EXPECT_THAT(text, HasSubstr("linkhealth_fault_events_total{fault=\"dirty_connector\",event=\"reopened\"} 0"));
}

TEST(Metrics, APlainEthernetPortHasItsNetdevAsDevice) {
  Report report;
  report.ports = {test::healthy_port("mlx5_0", "eth0", "")};
  report.ports[0].port = report.ports[0].latest.id.device = "eth0";
  EXPECT_THAT(render(report), HasSubstr("linkhealth_link_up{device=\"eth0\",port=\"1\"} 1"));
}

TEST(Metrics, ThePageDescribesTheTable) { test::expect_golden("docs/metrics.md", metrics_reference()); }

TEST(Metrics, PromtoolFindsNothing) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
  const std::string path = ::testing::TempDir() + "linkhealth_metrics_" + std::to_string(getpid()) + ".prom";
  std::ofstream(path) << metrics_text(test::example_report(), some_events(), kMonitor,
                                      {.counters = true, .optics = true});
  EXPECT_EQ(std::system(("promtool check metrics < " + path + " >&2").c_str()), 0);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace linkhealth
