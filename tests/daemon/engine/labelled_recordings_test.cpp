// Replays every labelled recording of LINKHEALTH_SHARED/recordings, and those of
// tests/fixtures/told_apart, which were wrong once: the diagnosis at the end is right (or what the
// recording cannot tell from it), good ports stay healthy, what was repaired is closed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "daemon/engine/engine.h"
#include "storage/recording/recording.h"
#include "tests/sim/score.h"
#include "tests/sim/truth_file.h"

namespace linkhealth {
namespace {

using std::filesystem::path;

struct Recording {
  path file;
  std::map<PortKey, sim::Truth> truth;
};
void PrintTo(const Recording& recording, std::ostream* out) {
  *out << recording.file.filename().string();
}

std::vector<Recording> recordings_of(const path& folder) {
  std::vector<Recording> out;
  if (const auto read = sim::read_truth_file((folder / "truth.json").string()))
    for (const auto& [name, ports] : read.value()) out.push_back({folder / name, ports});
  return out;
}

std::vector<Recording> shared() { return recordings_of(path(LINKHEALTH_SHARED) / "recordings"); }
std::vector<Recording> told_apart() {
  return recordings_of(path(LINKHEALTH_SOURCE_DIR) / "tests/fixtures/told_apart");
}

struct Replay {
  std::shared_ptr<const Report> report;
  std::vector<FaultEvent> events;
};

Replay replay(const path& file) {
  Replay out;
  auto reader = RecordingReader::open(file.string());
  if (!reader) return out;
  const auto header = reader.value().header();
  if (!header) return out;
  EngineSettings settings;
  settings.node = header.value().node;
  settings.setting_table = SettingTable(diagnosis_setting_groups());
  settings.expected = header.value().expected;
  Engine engine(std::move(settings));
  for (auto next = reader.value().next(); next && next.value(); next = reader.value().next()) {
    Engine::Step step = engine.step(*next.value());
    out.report = step.report;
    for (FaultEvent& event : step.events) out.events.push_back(std::move(event));
  }
  return out;
}

class Labelled : public testing::TestWithParam<Recording> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Labelled);

TEST_P(Labelled, IsRight) {
  const Replay seen = replay(GetParam().file);
  ASSERT_NE(seen.report, nullptr);
  for (const auto& [key, truth] : GetParam().truth) {
    SCOPED_TRACE(key);
    const auto port = std::find_if(seen.report->ports.begin(), seen.report->ports.end(),
                                   [&key = key](const PortReport& row) { return row.port == key; });
    ASSERT_NE(port, seen.report->ports.end());
    if (!truth.exempt.empty()) {
      EXPECT_EQ(port->health, Health::kExempt);
      EXPECT_NE(port->exempt, "");
    }
    if (truth.fault != "healthy") {
      ASSERT_FALSE(port->faults.empty());
      EXPECT_TRUE(sim::is_right(truth, port->faults[0].fault, port->faults[0].end))
          << port->faults[0].fault << "/" << to_string(port->faults[0].end) << ": "
          << port->faults[0].summary;
      continue;
    }
    EXPECT_TRUE(port->faults.empty()) << port->faults[0].fault << ": " << port->faults[0].summary;
    for (const FaultEvent& event : seen.events) {
      const bool tolerated = std::find(truth.tolerate.begin(), truth.tolerate.end(),
                                       event.fault.fault) != truth.tolerate.end() ||
                             !truth.repaired.empty();
      EXPECT_TRUE(event.port != key || tolerated)
          << event.fault.fault << " at " << steady_seconds(event.t);
    }
  }
}

std::string name_of(const testing::TestParamInfo<Recording>& row) {
  return row.param.file.stem().stem().string();
}
INSTANTIATE_TEST_SUITE_P(Recording, Labelled, testing::ValuesIn(shared()), name_of);
INSTANTIATE_TEST_SUITE_P(ToldApart, Labelled, testing::ValuesIn(told_apart()), name_of);

TEST(LabelledRecordings, AreThere) {
  EXPECT_EQ(told_apart().size(), 14U);
  if (shared().empty()) GTEST_SKIP() << "no labelled recordings in " << LINKHEALTH_SHARED;
  EXPECT_GE(shared().size(), 46U);
}

}  // namespace
}  // namespace linkhealth
