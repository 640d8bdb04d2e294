// Cases from public reports: trees of /sys and recordings in tests/fixtures/cases, dumps of real
// modules in LINKHEALTH_SHARED/cases. Each test says what is right; the source stands in the case's
// expected.txt.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/engine/engine.h"
#include "storage/recording/recording.h"
#include "tests/support/temp_directory.h"

namespace linkhealth::cases {

inline std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(LINKHEALTH_SOURCE_DIR) / "tests/fixtures/cases" / name;
}
/// A dump that stays where it is; the test is skipped where it is absent: see SKIP_WITHOUT.
inline std::filesystem::path shared_case(const std::string& name) {
  return std::filesystem::path(LINKHEALTH_SHARED) / "cases" / name;
}
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): GTEST_SKIP returns from the test itself
#define SKIP_WITHOUT(file) \
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "not beside the project: " << (file)

/// What a person sees who runs the program.
struct Output {
  int exit_code = -1;
  std::string text;  ///< standard output and standard error
};
inline Output run_linkhealth(const std::string& arguments) {
  const std::string command =
      "env -i LANG=C.UTF-8 COLUMNS=100 ASAN_OPTIONS=detect_leaks=0 " LINKHEALTH_PROGRAM " " +
      arguments + " 2>&1 </dev/null";
  Output output;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.text.append(buffer.data(), n);
  const int status = pclose(pipe);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

/// A copied tree of /sys, unpacked for one test.
class Tree {
 public:
  explicit Tree(const std::string& name) {
    const std::string command =
        "tar xzf " + (fixture(name) / "root.tar.gz").string() + " -C " + directory_.path().string();
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  [[nodiscard]] std::filesystem::path root() const { return directory_.path() / "root"; }
  /// `linkhealth COMMAND --once --sysroot ROOT`
  [[nodiscard]] Output once(const std::string& command) const {
    return run_linkhealth(command + " --once --sysroot " + root().string());
  }
  [[nodiscard]] nlohmann::json report() const {
    return nlohmann::json::parse(once("status --json").text, nullptr, false);
  }

 private:
  test::TempDirectory directory_;
};
inline nlohmann::json port_of(const nlohmann::json& report, const std::string& port) {
  for (const auto& row : report.at("ports"))
    if (row.at("port") == port) return row;
  return {};
}

struct Replayed {
  std::shared_ptr<const Report> report;  ///< the last
  std::vector<FaultEvent> events;
  [[nodiscard]] const PortReport& port(const PortKey& key) const {
    static const PortReport kNone;
    const auto row = std::ranges::find(report->ports, key, &PortReport::port);
    return row == report->ports.end() ? kNone : *row;
  }
  [[nodiscard]] std::vector<const FaultEvent*> opened(const PortKey& key) const {
    std::vector<const FaultEvent*> out;
    for (const FaultEvent& event : events)
      if (event.port == key && event.kind == FaultEventKind::kOpened) out.push_back(&event);
    return out;
  }
};
/// `linkhealth replay` of a whole recording, for its values.
inline Replayed replay(const std::filesystem::path& file) {
  Replayed out;
  out.report = std::make_shared<Report>();
  auto reader = RecordingReader::open(file.string());
  if (!reader) {
    ADD_FAILURE() << reader.error().message;
    return out;
  }
  const auto header = reader.value().header();
  if (!header) {
    ADD_FAILURE() << header.error().message;
    return out;
  }
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

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace linkhealth::cases
