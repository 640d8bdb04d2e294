#include "exporters/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace linkhealth {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

FaultReport dirty_connector() {
  FaultReport fault;
  fault.id = "gpu-0417:0000:1b:00.0/1:dirty_connector:1763640312";
  fault.fault = "dirty_connector";
  fault.end = End::kPath;
  fault.confidence = 0.83;
  fault.opened_at = *parse_rfc3339("2026-11-20T12:05:12Z");
  fault.last_seen_at = *parse_rfc3339("2026-11-20T12:06:12.5Z");
  fault.summary = "lane 2 receives -9.1 dBm";
  fault.evidence = {{"rx_power_low", -9.1, "<", -6.4, "dBm", "lane 2", "module", "", true}};
  fault.missing = {{"far_tx_low", "no peer data", "read leaf-12", ""}};
  fault.differential = {{"dirty_connector", End::kPath, 0.83},
                        {"failing_transmitter", End::kFar, 0.11}};
  fault.repair = {"clean both ends"};
  fault.verify = "no uncorrectable block for 30 minutes";
  return fault;
}

Report sample_report() {
  PortReport port;
  port.port = "mlx5_0/1";
  port.health = Health::kDegraded;
  port.peer = "leaf-12 Ethernet17/1";
  port.faults = {dirty_connector()};
  port.latest.id.device = "mlx5_0";
  port.latest.link.emplace().speed_mbps = 400000;
  port.latest.counters.emplace().set("symbol_error", 7);
  port.latest.module.emplace().lanes.emplace_back().rx_power_mw = 0.123;
  port.figures.pre_fec_ber = 3.4e-5;
  port.figures.carrier_since = SteadyTime(Milliseconds(1500));
  port.gaps = {{"mlx5_0/1", "module", "EBUSY"}};
  port.symptoms = {{"rx_power_low", "present", ""}};
  port.expected.peer_system = "leaf-12";
  Report report;
  report.node = "gpu-0417";
  report.at = *parse_rfc3339("2026-11-20T12:05:12Z");
  report.t = SteadyTime(Milliseconds(7512000));
  report.ports = {port};
  report.gaps = {{"", "kernel_log", "EPERM"}};
  report.timings = {{"counters", 0.25}};
  return report;
}

TEST(ReportJson, HasTheDocumentedKeysInTheDocumentedOrder) {
  EXPECT_THAT(
      report_json(sample_report()),
      StartsWith(
          R"({"schema":"linkhealth.report/1","node":"gpu-0417","at":"2026-11-20T12:05:12Z","t":7512.0,"ports":[)"
          R"({"port":"mlx5_0/1","health":"degraded","exempt":"","peer":"leaf-12 Ethernet17/1","faults":[)"
          R"({"id":"gpu-0417:0000:1b:00.0/1:dirty_connector:1763640312","fault":"dirty_connector","end":"path",)"
          R"("severity":"warning","confidence":0.83,"state":"open","opened_at":"2026-11-20T12:05:12Z",)"
          R"("last_seen_at":"2026-11-20T12:06:12.500Z","summary":"lane 2 receives -9.1 dBm",)"
          R"("evidence":[{"symptom":"rx_power_low","observed":-9.1,"op":"<","threshold":-6.4,"unit":"dBm",)"
          R"("where":"lane 2","source":"module","supports":true}],)"
          R"("missing":[{"symptom":"far_tx_low","why":"no peer data","how":"read leaf-12"}],)"
          R"("differential":[{"fault":"dirty_connector","end":"path","confidence":0.83},)"
          R"({"fault":"failing_transmitter","end":"far","confidence":0.11}],)"
          R"("repair":["clean both ends"],"verify":"no uncorrectable block for 30 minutes"}],)"));
}

TEST(ReportJson, HasReadingsAndConclusions) {
  const std::string json = report_json(sample_report());
  EXPECT_THAT(
      json, HasSubstr(R"("now":{"id":{"device":"mlx5_0","port":1},"link":{"speed_mbps":400000},)"
                      R"("counters":{"symbol_error":7},"module":{"present":true,"kind":"unknown",)"
                      R"("lanes":[{"rx_power_mw":0.123}]}},)"));
  EXPECT_THAT(
      json,
      HasSubstr(
          R"("figures":{"pre_fec_ber":3.4e-05,"involuntary_downs_24h":0,)"
          R"("involuntary_downs_total":0,"voluntary_downs_total":0,"involuntary_downs_told":0,)"
          R"("carrier_since_t":1.5},)"));
  EXPECT_THAT(json, HasSubstr(R"("gaps":[{"port":"mlx5_0/1","probe":"module","reason":"EBUSY"}])"));
  EXPECT_THAT(json, testing::Not(HasSubstr("timings")));
}

TEST(ReportJson, ReadsBackToTheSameBytes) {
  const std::string json = report_json(sample_report());
  const auto read = parse_report(json);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(report_json(*read), json);
  EXPECT_EQ(read->ports[0].latest, sample_report().ports[0].latest);
  EXPECT_EQ(read->ports[0].faults[0].differential[1].end, End::kFar);
}

TEST(ReportJson, WhatIsNoReportIsOneClearError) {
  EXPECT_THAT(parse_report("").error().message, StartsWith("not valid JSON"));
  EXPECT_THAT(parse_report("{}").error().message, StartsWith("not a report"));
  EXPECT_THAT(parse_report(R"({"schema":"linkhealth.report/1","ports":[{"health":"fine"}]})")
                  .error()
                  .message,
              StartsWith("ports > 1 > health: unknown word"));
}

TEST(ReportJson, APortAloneIsItsPartOfTheReport) {
  const Report report = sample_report();
  EXPECT_THAT(report_json(report), HasSubstr(port_json(report.ports[0])));
}

TEST(EventJson, IsOneLineWithTheFault) {
  const FaultEvent event{SteadyTime(Milliseconds(1250)), *parse_rfc3339("2026-11-20T12:05:12Z"),
                         FaultEventKind::kOpened, "mlx5_0/1", dirty_connector()};
  const std::string line = event_json_line(event);
  EXPECT_THAT(
      line,
      StartsWith(R"({"t":1.25,"at":"2026-11-20T12:05:12Z","event":"opened","port":"mlx5_0/1",)"
                 R"("fault":{"id":)"));
  EXPECT_THAT(
      line,
      HasSubstr(
          R"(,"id":"gpu-0417:0000:1b:00.0/1:dirty_connector:1763640312/opened/1795176312000")"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(EventJson, TextFromOutsideStaysValidJson) {
  FaultEvent event;
  event.fault.summary = "a \"quoted\"\nline \x01 \xff \xc3\xa9";
  EXPECT_THAT(event_json_line(event), HasSubstr(R"("summary":"a \"quoted\"\nline \u0001 )"
                                                "\xef\xbf\xbd \xc3\xa9\""));
}

}  // namespace
}  // namespace linkhealth
