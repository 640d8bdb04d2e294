// Replays every labelled recording of LINKHEALTH_SHARED/recordings: the diagnosis at the end is right (or what the
// recording cannot tell from it), good ports stay healthy, what was repaired is closed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "daemon/engine.h"
#include "storage/recording.h"
#include "tests/sim/score.h"
#include "tests/sim/truth_file.h"

namespace linkhealth {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(LINKHEALTH_SHARED) / "recordings";

const sim::TruthFile& truth_file() {
  static const sim::TruthFile kTruth = [] {
    auto read = sim::read_truth_file((kFolder / "truth.json").string());
    return read ? read.value() : sim::TruthFile{};
  }();
  return kTruth;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [name, ports] : truth_file()) out.push_back(name);
  return out;
}

struct Replay {
  std::shared_ptr<const Report> report;
  std::vector<FaultEvent> events;
};

Replay replay(const std::string& name) {
  Replay out;
  auto reader = RecordingReader::open((kFolder / name).string());
  if (!reader) return out;
  const auto header = reader.value().header();
  if (!header) return out;
  EngineSettings settings;
  settings.node = header.value().node;
  settings.knobs = KnobTable(engine_knob_groups());
  settings.expected = header.value().expected;
  Engine engine(std::move(settings));
  for (auto next = reader.value().next(); next && next.value(); next = reader.value().next()) {
    Engine::Step step = engine.step(*next.value());
    out.report = step.report;
    for (FaultEvent& event : step.events) out.events.push_back(std::move(event));
  }
  return out;
}

class Labelled : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Labelled);

TEST_P(Labelled, IsRight) {
  const Replay seen = replay(GetParam());
  ASSERT_NE(seen.report, nullptr);
  for (const auto& [key, truth] : truth_file().at(GetParam())) {
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
          << port->faults[0].fault << "/" << to_string(port->faults[0].end) << ": " << port->faults[0].summary;
      continue;
    }
    EXPECT_TRUE(port->faults.empty()) << port->faults[0].fault << ": " << port->faults[0].summary;
    for (const FaultEvent& event : seen.events) {
      const bool tolerated =
          std::find(truth.tolerate.begin(), truth.tolerate.end(), event.fault.fault) != truth.tolerate.end() ||
          !truth.repaired.empty();
      EXPECT_TRUE(event.port != key || tolerated) << event.fault.fault << " at " << steady_seconds(event.t);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recording, Labelled, testing::ValuesIn(names()),
                         [](const auto& row) { return row.param.substr(0, row.param.find('.')); });

TEST(LabelledRecordings, AreThere) {
  if (truth_file().empty()) GTEST_SKIP() << "no labelled recordings in " << kFolder;
  EXPECT_GE(truth_file().size(), 46U);
}

}  // namespace
}  // namespace linkhealth
