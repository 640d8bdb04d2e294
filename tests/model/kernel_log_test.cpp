#include "model/kernel_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace linkhealth {
namespace {

struct Line {
  std::string pattern;  ///< "-": none
  std::string text;
};

std::vector<Line> read_lines() {
  std::vector<Line> lines;
  std::ifstream file(std::string(LINKHEALTH_SOURCE_DIR) + "/tests/fixtures/kernel_log_lines.txt");
  for (std::string line; std::getline(file, line);)
    if (const auto tab = line.find('\t'); tab != std::string::npos && line.front() != '#')
      lines.push_back({line.substr(0, tab), line.substr(tab + 1)});
  return lines;
}

TEST(KernelLogTable, ClassifiesALineOfEachPattern) {
  std::set<std::string_view> matched;
  for (const Line& line : read_lines()) {
    const KernelLogPattern* pattern = classify_kernel_log(line.text);
    EXPECT_EQ(pattern == nullptr ? "-" : pattern->name, line.pattern) << line.text;
    if (pattern != nullptr) matched.insert(pattern->name);
  }
  std::set<std::string_view> names;
  for (const KernelLogPattern& pattern : kernel_log_patterns()) {
    EXPECT_TRUE(matched.contains(pattern.name)) << pattern.name << " matches no line";
    EXPECT_TRUE(names.insert(pattern.name).second) << pattern.name;
    EXPECT_FALSE(pattern.parts.front().empty()) << pattern.name;
  }
}

TEST(KernelLogTable, PartsMatchInTheirOrder) {
  EXPECT_EQ(classify_kernel_log("limited by 63.0 Gb/s available PCIe bandwidth"), nullptr);
  EXPECT_EQ(classify_kernel_log(""), nullptr);
}

TEST(KernelLogTable, TheFirstMatchingPatternDecides) {
  const char* const line = "mlx5_core 0000:d2:00.0: Health issue observed, severity(3) ERROR:";
  EXPECT_TRUE(is_kernel_log(line, KernelLogClass::kFatal));
  EXPECT_FALSE(is_kernel_log(line, KernelLogClass::kNicHot));
}

}  // namespace
}  // namespace linkhealth
