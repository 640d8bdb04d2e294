#include "exporters/metrics/gap_label.h"

#include <gtest/gtest.h>

#include <set>

namespace linkhealth {
namespace {

TEST(GapLabel, KeepsTheCauseAndLeavesTheFilesOut) {
  EXPECT_EQ(gap_label("symbol_error, link_downed and 3 more: Invalid argument"),
            "Invalid argument");
  EXPECT_EQ(gap_label("a: Invalid argument; b: Permission denied; c: Invalid argument"),
            "Invalid argument; Permission denied");
  EXPECT_EQ(gap_label("link_downed: text \"N/A (no PMA)\""), "unexpected text");
  EXPECT_EQ(gap_label("EOPNOTSUPP: the driver does not offer it"), "EOPNOTSUPP");
  EXPECT_EQ(gap_label("no answer within 5 s"), "no answer within 5 s");
  EXPECT_EQ(gap_label("EPERM"), "EPERM");
  EXPECT_EQ(gap_label("not found by the last scan"), "not found by the last scan");
}

TEST(GapLabel, HowToClearAFullCounterIsNoPartOfIt) {
  EXPECT_EQ(gap_label("symbol_error is saturated (a reset of the device may clear "
                      "it (perfquery can on "
                      "InfiniBand only))"),
            "symbol_error is saturated");
  EXPECT_EQ(gap_label("link_downed, symbol_error: each is saturated (perfquery -R "
                      "-C mlx5_0 -P 1)"),
            "each is saturated");
}

TEST(GapLabel, AnyFileContentGivesFewLabels) {
  std::set<std::string> labels;
  for (int i = 0; i < 1'000; ++i) {
    const std::string n = std::to_string(i);
    labels.insert(
        gap_label("link_downed: text \"garbage " + n + "\"; x" + n + ": Invalid argument"));
    labels.insert(gap_label("c" + n + ": text \"a\\\"; b" + n + ": \"\""));
    labels.insert(gap_label("page " + n + " is not readable"));
  }
  EXPECT_LE(labels.size(), 4U);
}

/// The reasons of probes/peer/import_file.cpp, import_check.cpp and peer_import.cpp, as gaps have
/// them.
TEST(GapLabel, AnImportedFilesReasonsStayReadable) {
  const auto same = [](const std::string& reason) {
    EXPECT_EQ(gap_label("leaf-12.json: " + reason), reason);
  };
  same("schema is missing: write linkhealth.import/N");
  same("at is missing: when the readings were taken");
  same("valid_for_s is missing: how long the readings are valid");
  same("valid_for_s must be more than N and at most a day");
  same("ports is missing: write {} when there is nothing to report");
  same("an empty module is not used");
  same("two entries for the same port: neither is used");
  EXPECT_EQ(gap_label("leaf-12.json: ports > mlx5_9/1: names a port that this node does not have"),
            "names a port that this node does not have");
  same("its time is in the future: check the clocks");
  same("past its time of validity");
  same("every user may write to it (chmod o-w)");
  same("changed while it was read: write another name and rename it");
  EXPECT_EQ(gap_label("a.json: unsupported format \"linkhealth.import/2\": this program reads "
                      "linkhealth.import/1"),
            "unsupported format \"...\": this program reads linkhealth.import/N");
  EXPECT_EQ(gap_label("a.json: temperature_c of 4800 is out of range"),
            "temperature_c of N is out of range");
  same("peer source is neither telemetry nor fleet");
  EXPECT_EQ(gap_label("more than 256 files, and the rest is not read"),
            "more than N files, and the rest is not read");
}

TEST(GapLabel, TheContentOfAnImportedFileIsInNoLabel) {
  std::set<std::string> labels;
  for (char c = 'a'; c <= 'z'; ++c) {
    const std::string any(8, c);
    labels.insert(gap_label("a.json: not whole or not the format: ports > " + any +
                            ": expected an object, found \"" + any + "; " + any + " (column 3)"));
    labels.insert(gap_label("a.json: not whole or not the format: expected an object, found " +
                            any + " (column 1)"));
  }
  EXPECT_EQ(labels, std::set<std::string>{"not whole or not the format"});
}

TEST(GapLabel, IsCutBetweenCharacters) {
  EXPECT_EQ(gap_label(std::string(79, 'x') + "°C"), std::string(79, 'x'));
}

TEST(GapLabel, IsNeverLong) { EXPECT_LE(gap_label(std::string(10'000, 'x')).size(), 80U); }

}  // namespace
}  // namespace linkhealth
