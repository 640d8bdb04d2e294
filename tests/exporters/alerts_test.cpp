#include "exporters/alerts.h"

#include <gmock/gmock.h>

#include <fstream>

#include "exporters/webhook.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

TEST(AlertName, IsThatOfTheRules) {
  EXPECT_EQ(alert_name("dirty_connector", End::kPath), "LinkDirtyConnector");
  EXPECT_EQ(alert_name("failing_transmitter", End::kLocal), "LinkFailingTransmitter");
  EXPECT_EQ(alert_name("failing_transmitter", End::kFar), "LinkFailingTransmitterFar");
  EXPECT_EQ(alert_name("far_port_down", End::kFar), "LinkFarPortDown");
  EXPECT_EQ(alert_name("pcie_degraded", End::kNode), "PcieDegraded");
  EXPECT_EQ(alert_name("nic_fault", End::kNode), "NicFault");
}

TEST(AlertName, EachIsInTheRuleFile) {
  std::ifstream file(LINKHEALTH_SOURCE_DIR "/dashboards/rules/linkhealth-alerts-faults.yaml");
  const std::string rules{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(rules.empty());
  // "fault="dirty_connector", end="path"" below "alert: LinkDirtyConnector"
  std::size_t count = 0;
  for (auto at = rules.find("- alert: "); at != std::string::npos;
       at = rules.find("- alert: ", at + 1), ++count) {
    const std::string name = rules.substr(at + 9, rules.find('\n', at) - at - 9);
    const auto value = [&](const std::string& key) {
      const auto begin = rules.find(key + "=\"", at) + key.size() + 2;
      return rules.substr(begin, rules.find('"', begin) - begin);
    };
    const auto end = parse_end(value("end"));
    ASSERT_TRUE(end) << name;
    EXPECT_EQ(alert_name(value("fault"), *end), name);
  }
  EXPECT_GE(count, 20U);
}

TEST(MakeAlert, LabelsGroupBySwitchAndFault) {
  const PortReport port = test::dirty_port();
  const Alert alert = make_alert({"gpu-0417", {{"rack", "r7"}, {"row 1", "x"}}}, port.port, &port,
                                 port.faults.front());
  EXPECT_EQ(alert.labels.at("alertname"), "LinkDirtyConnector");
  EXPECT_EQ(alert.labels.at("peer_system"), "leaf-12");
  EXPECT_EQ(alert.labels.at("fault"), "dirty_connector");
  EXPECT_EQ(alert.labels.at("device"), "mlx5_3");
  EXPECT_EQ(alert.labels.at("port"), "1");
  EXPECT_EQ(alert.labels.at("row_1"), "x") << "a label's name has no blank";
  EXPECT_THAT(alert.annotations.at("summary"),
              HasSubstr("gpu-0417 mlx5_3/1 to leaf-12 Ethernet20/1, rack r7: dirty connector ("));
  EXPECT_EQ(alert.starts_at, port.faults.front().opened_at);
  const Alert unknown = make_alert({"gpu-0417", {}}, "ens8", nullptr, port.faults.front());
  EXPECT_EQ(unknown.labels.count("peer_system"), 0U);
  EXPECT_EQ(unknown.labels.at("device"), "ens8");
}

TEST(MakeAlert, SaysWhoTookNoteOfIt) {
  FaultReport fault;
  fault.fault = "dirty_connector";
  EXPECT_EQ(make_alert({"gpu-1", {}}, "mlx5_0/1", nullptr, fault).annotations.count("acknowledged"),
            0U);
  fault.acknowledged = Acknowledgement{"ann", "ticket 4711", *parse_rfc3339("2026-11-20T10:00:00Z"),
                                       *parse_rfc3339("2026-11-20T12:00:00.250Z")};
  const Alert alert = make_alert({"gpu-1", {}}, "mlx5_0/1", nullptr, fault);
  EXPECT_EQ(alert.annotations.at("acknowledged"), "by ann until 2026-11-20 12:00:00Z: ticket 4711");
  EXPECT_EQ(alert.labels.count("acknowledged"), 0U) << "other labels would be another alert";
  fault.acknowledged =
      Acknowledgement{"ann", "", *parse_rfc3339("2026-11-20T10:00:00Z"), std::nullopt};
  EXPECT_EQ(make_alert({"gpu-1", {}}, "mlx5_0/1", nullptr, fault).annotations.at("acknowledged"),
            "by ann until the fault closes");
}

TEST(AlertsJson, AnAlertNeverEndsBeforeItStarts) {
  Alert alert;
  alert.labels["a"] = "\"\n";
  alert.starts_at = test::example_now();
  alert.ends_at = test::example_now() - Milliseconds(1000);
  EXPECT_EQ(
      alerts_json({alert}, test::example_now()),
      R"([{"labels":{"a":"\"\u000a"},"annotations":{},"startsAt":"2026-11-20T11:59:59Z","endsAt":"2026-11-20T11:59:59Z"}])");
  EXPECT_EQ(alerts_json({}, test::example_now()), "[]");
}

TEST(Webhook, PlaceholdersAreFilledAndEscaped) {
  FaultEvent event = test::example_event(FaultEventKind::kOpened);
  event.fault.summary = "a \"quote\" and a \n line";
  const auto body = WebhookTemplate::parse(
      R"({"t":"{{ summary }}","k":"{{kind}}","sure":{{confidence_percent}},"e":{{event}},"l":{{labels}}})",
      "f");
  ASSERT_TRUE(body) << body.error().message;
  event.fault.confidence = 1;
  EXPECT_EQ(body->fill(event, "id", "n", "{}", {{"a", "b"}}),
            R"({"t":"a \"quote\" and a \u000a line","k":"opened","sure":99,"e":{},"l":{"a":"b"}})");
  EXPECT_EQ(WebhookTemplate::plain().fill(event, "id", "n", "{\"x\":1}", {}), "{\"x\":1}");
}

TEST(Webhook, AValueIsNeverATemplate) {
  FaultEvent event = test::example_event(FaultEventKind::kOpened);
  event.fault.summary = "{{port}}";
  const auto body = WebhookTemplate::parse(R"(["{{summary}}"])", "f");
  EXPECT_EQ(body->fill(event, "", "", "", {}), R"(["{{port}}"])");
}

TEST(Webhook, WhatIsWrongIsSaid) {
  const auto error = [](const char* text) {
    const auto made = WebhookTemplate::parse(text, "hook.json");
    return made ? std::string("good") : made.error().message;
  };
  EXPECT_EQ(error(R"({"a":"{{prot}}"})"),
            "hook.json: there is no {{prot}} (did you mean {{port}}?)");
  EXPECT_EQ(error(R"({"a":"{{port"})"), "hook.json: a {{ has no }}");
  EXPECT_THAT(error(R"({"a":{{port}}})"), HasSubstr("hook.json: what it gives is no JSON"));
  EXPECT_THAT(error(""), HasSubstr("no JSON"));
  for (const auto name : WebhookTemplate::placeholders()) {
    const bool text = name != "event" && name != "labels" && name != "confidence_percent";
    const std::string one = "{{" + std::string(name) + "}}";
    EXPECT_EQ(error((text ? "[\"" + one + "\"]" : "[" + one + "]").c_str()), "good") << name;
  }
}

}  // namespace
}  // namespace linkhealth
