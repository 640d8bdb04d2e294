#include "exporters/gap_label.h"

#include <gtest/gtest.h>

#include <set>

namespace linkhealth {
namespace {

TEST(GapLabel, KeepsTheCauseAndLeavesTheFilesOut) {
  EXPECT_EQ(gap_label("symbol_error, link_downed and 3 more: Invalid argument"), "Invalid argument");
  EXPECT_EQ(gap_label("a: Invalid argument; b: Permission denied; c: Invalid argument"),
            "Invalid argument; Permission denied");
  EXPECT_EQ(gap_label("link_downed: text \"N/A (no PMA)\""), "unexpected text");
  EXPECT_EQ(gap_label("EOPNOTSUPP: the driver does not offer it"), "EOPNOTSUPP");
  EXPECT_EQ(gap_label("no answer within 5 s"), "no answer within 5 s");
  EXPECT_EQ(gap_label("EPERM"), "EPERM");
  EXPECT_EQ(gap_label("not found by the last search"), "not found by the last search");
}

TEST(GapLabel, WhateverAFileSaysThereAreFewLabels) {
  std::set<std::string> labels;
  for (int i = 0; i < 1'000; ++i) {
    const std::string n = std::to_string(i);
    labels.insert(gap_label("link_downed: text \"garbage " + n + "\"; x" + n + ": Invalid argument"));
    labels.insert(gap_label("c" + n + ": text \"a\\\"; b" + n + ": \"\""));
    labels.insert(gap_label("page " + n + " is not readable"));
  }
  EXPECT_LE(labels.size(), 4U);
}

TEST(GapLabel, IsNeverLong) { EXPECT_LE(gap_label(std::string(10'000, 'x')).size(), 80U); }

}  // namespace
}  // namespace linkhealth
