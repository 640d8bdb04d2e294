// The labelled recordings with parts removed: removing what does not decide must not change the
// answer, and removing what does must lead to an honest one.
#include <gtest/gtest.h>

#include <filesystem>

#include "storage/recording/recording.h"
#include "tests/sim/degrade.h"
#include "tests/sim/score.h"
#include "tests/sim/truth_file.h"

namespace linkhealth::sim {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(LINKHEALTH_SHARED) / "recordings";

Score replay(const TruthFile& truth, std::string_view kind) {
  Score score;
  for (const auto& [name, ports] : truth) {
    auto reader = RecordingReader::open((kFolder / name).string());
    EXPECT_TRUE(reader) << name;
    if (!reader) continue;
    auto header = reader.value().header();
    EXPECT_TRUE(header) << name;
    if (!header) continue;
    double keep_from_s = 1e18;
    for (const auto& [port, row] : ports)
      keep_from_s = std::min(keep_from_s, row.onset_s.value_or(1e18) - 1800);
    Degrader degrader(*find_degrade(kind), keep_from_s > 1e17 ? 0 : keep_from_s);
    degrader.header(header.value());
    Engine engine = engine_for(header.value());
    score.begin_case(name, ports);
    for (auto next = reader.value().next(); next && next.value(); next = reader.value().next())
      if (const auto snapshot = degrader.apply(std::move(*next.value())))
        score.step(engine.step(*snapshot), steady_seconds(snapshot->taken_at));
    score.end_case();
  }
  return score;
}

class DegradedRecordings : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    auto read = read_truth_file((kFolder / "truth.json").string());
    if (!read) GTEST_SKIP() << "no labelled recordings in " << kFolder;
    truth_ = read.value();
  }
  TruthFile truth_;
};

std::string name_of(const testing::TestParamInfo<std::string_view>& info) {
  return std::string(info.param);
}

class StaysRight : public DegradedRecordings {};
TEST_P(StaysRight, WithoutWhatDoesNotDecide) {
  const Score score = replay(truth_, GetParam());
  EXPECT_EQ(score.share(&Outcome::right), 1.0) << score.text(5);
  EXPECT_EQ(score.share(&Outcome::in_first_three), 1.0);
}
INSTANTIATE_TEST_SUITE_P(Kinds, StaysRight,
                         testing::Values("thin", "no_lanes", "no_bits", "slow_module",
                                         "no_thresholds", "no_uptime", "no_carrier_count",
                                         "late_start", "holes", "split_groups", "no_serial",
                                         "own_periods"),
                         name_of);

class FallsBack : public DegradedRecordings {};
TEST_P(FallsBack, ToUnknownOrANameThatFits) {
  const Score score = replay(truth_, GetParam());
  EXPECT_GE(score.share(&Outcome::right), 0.86) << score.text(5);
  EXPECT_LE(score.confidently_wrong(), 3U) << score.text(5);
  // Three of the four recordings without a fault had one that was repaired: while it lasts, its
  // name may differ.
  EXPECT_LE(score.false_diagnoses().size(), 3U) << score.text(5);
}
INSTANTIATE_TEST_SUITE_P(Kinds, FallsBack,
                         testing::Values("no_expected", "no_peer", "no_down_reason", "no_module",
                                         "no_events", "no_pcie", "no_transport"),
                         name_of);

TEST(Degrader, AThinnedRecordingKeepsEveryEventAndEveryGroup) {
  Degrader degrader(*find_degrade("thin"), 0);
  std::size_t events = 0, modules = 0, kept = 0;
  for (int i = 0; i < 9; ++i) {
    Snapshot snapshot;
    snapshot.taken_at = steady_from_seconds(i * 10);
    snapshot.events.push_back({snapshot.taken_at, "mlx5_0/1", PortEventKind::kCarrierDown, ""});
    if (i % 4 == 1) snapshot.ports["mlx5_0/1"].module = ModuleSample{};
    snapshot.ports["mlx5_0/1"].link = LinkSample{};
    if (const auto out = degrader.apply(snapshot)) {
      ++kept;
      events += out->events.size();
      modules += out->ports.at("mlx5_0/1").module ? 1 : 0;
      EXPECT_TRUE(out->ports.at("mlx5_0/1").link);
    }
  }
  EXPECT_EQ(kept, 3U);
  EXPECT_EQ(events, 9U);
  EXPECT_EQ(modules, 2U);
}

}  // namespace
}  // namespace linkhealth::sim
