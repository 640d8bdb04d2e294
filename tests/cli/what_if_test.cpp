#include "cli/what_if.h"

#include <gtest/gtest.h>

#include <sstream>

#include "daemon/engine/engine.h"

namespace linkhealth::cli {
namespace {

FaultEvent event(double t, FaultEventKind kind, const char* fault, double confidence = 0.8) {
  FaultEvent made;
  made.t = steady_from_seconds(t);
  made.at = WallTime(from_seconds(1'700'000'000 + t));
  made.kind = kind;
  made.port = "mlx5_0/1";
  made.fault.fault = fault;
  made.fault.end = End::kPath;
  made.fault.confidence = confidence;
  return made;
}

std::vector<Episode> episodes(const std::vector<FaultEvent>& events) {
  std::vector<Episode> out;
  for (const FaultEvent& each : events) add_event(out, each);
  return out;
}

TEST(ChangeSetting, TakesAKey) {
  KnobTable knobs(diagnosis_knob_groups());
  ASSERT_TRUE(change_setting(knobs, "diagnosis.flap_losses=7"));
  EXPECT_EQ(diagnosis_settings(knobs).flap_losses, 7);
  ASSERT_TRUE(change_setting(knobs, " diagnosis.flap_losses = 8"));
  EXPECT_EQ(diagnosis_settings(knobs).flap_losses, 8);
}

TEST(ChangeSetting, ErrorsNameTheKey) {
  KnobTable knobs(diagnosis_knob_groups());
  EXPECT_NE(change_setting(knobs, "diagnosis.flap_loses=7")
                .error()
                .message.find("did you mean \"diagnosis.flap_losses\""),
            std::string::npos);
  EXPECT_FALSE(change_setting(knobs, "diagnosis.flap_losses").ok());
  EXPECT_FALSE(change_setting(knobs, "diagnosis.flap_losses=many").ok());
  EXPECT_FALSE(change_setting(knobs, "diagnosis.flap_losses=1e9").ok()) << "out of its range";
}

TEST(Episodes, FromOpeningToClosing) {
  const auto found = episodes({event(10, FaultEventKind::kOpened, "dirty_connector", 0.7),
                               event(20, FaultEventKind::kWorsened, "dirty_connector", 0.9),
                               event(30, FaultEventKind::kProving, "dirty_connector", 0.6),
                               event(40, FaultEventKind::kClosed, "dirty_connector", 0.5),
                               event(90, FaultEventKind::kOpened, "dirty_connector", 0.8)});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].closed_at, WallTime(from_seconds(1'700'000'040)));
  EXPECT_EQ(found[0].confidence, 0.9);
  EXPECT_FALSE(found[1].closed_at.has_value());
}

TEST(MissingIn, ComparesFaultsAndTimes) {
  const auto now = episodes({event(10, FaultEventKind::kOpened, "dirty_connector"),
                             event(10, FaultEventKind::kOpened, "bad_module"),
                             event(50, FaultEventKind::kOpened, "unplugged")});
  const auto then = episodes({event(10, FaultEventKind::kOpened, "dirty_connector"),
                              event(70, FaultEventKind::kOpened, "unplugged")});
  const auto gone = missing_in(now, then);
  ASSERT_EQ(gone.size(), 2U);
  EXPECT_EQ(gone[0].fault, "bad_module");
  EXPECT_EQ(gone[1].fault, "unplugged");
  EXPECT_EQ(missing_in(then, now).size(), 1U);
  EXPECT_TRUE(missing_in(now, now).empty());
}

class WhatIf : public testing::Test {
 protected:
  int run(std::vector<std::string> turns, const std::string& format = "text") {
    ReplayOptions options;
    options.recording = LINKHEALTH_SOURCE_DIR "/demo/dirty_connector.jsonl.gz";
    options.format = format;
    return what_if(options, turns, out, err);
  }
  std::ostringstream out, err;
};

TEST_F(WhatIf, TheDefaultChangesNothing) {
  EXPECT_EQ(run({"diagnosis.flap_losses=3"}), 0);
  EXPECT_NE(out.str().find(": 0 of 1 diagnosis gone, 0 new\n"), std::string::npos) << out.str();
}

TEST_F(WhatIf, ADiagnosisThatComesLater) {
  EXPECT_EQ(run({"diagnosis.open_at=0.999"}), 0) << err.str();
  EXPECT_NE(out.str().find("  - bnxt_re1/1  "), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("dirty connector (path"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find(": 1 of 1 diagnosis gone, 1 new\n"), std::string::npos);
}

TEST_F(WhatIf, AsJson) {
  EXPECT_EQ(run({"ledger.signal_hold_s=3600"}, "json"), 0) << err.str();
  EXPECT_TRUE(out.str().starts_with("{\"schema\":\"linkhealth.what_if/1\"")) << out.str();
  EXPECT_NE(out.str().find("\"gone\":[{\"port\":"), std::string::npos);
  EXPECT_NE(out.str().find("\"fault\":\"dirty_connector\""), std::string::npos);
}

TEST_F(WhatIf, AnUnknownKeyIsOneLine) {
  EXPECT_EQ(run({"ledger.signal_hol_s=3600"}), 2);
  EXPECT_NE(err.str().find("did you mean"), std::string::npos) << err.str();
  EXPECT_TRUE(out.str().empty());
}

}  // namespace
}  // namespace linkhealth::cli
