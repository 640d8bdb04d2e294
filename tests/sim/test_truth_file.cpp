#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/sim/truth_file.h"
#include "tests/support/temp_directory.h"

namespace linkhealth::sim {
namespace {

TEST(TruthFile, ReadsBackWhatItWrites) {
  Truth truth;
  truth.fault = "failing_transmitter";
  truth.end = End::kFar;
  truth.onset_s = 12.5;
  truth.also_accept = {{"dirty_connector", End::kNone}, {"bad_module", End::kLocal}};
  truth.tolerate = {"admin_down"};
  truth.far_level = 2;
  truth.medium = "400G-DR4";
  const test::TempDirectory directory;
  const std::string path = directory.file("truth.json");
  ASSERT_TRUE(write_truth_file(path, {{"a.jsonl.gz", {{"mlx5_0/1", truth}}}}));
  const auto back = read_truth_file(path);
  ASSERT_TRUE(back) << back.error().message;
  const Truth& read = back.value().at("a.jsonl.gz").at("mlx5_0/1");
  EXPECT_EQ(read.fault, truth.fault);
  EXPECT_EQ(read.end, End::kFar);
  EXPECT_EQ(read.onset_s, 12.5);
  ASSERT_EQ(read.also_accept.size(), 2u);
  EXPECT_EQ(read.also_accept[1].end, End::kLocal);
  EXPECT_EQ(read.tolerate, truth.tolerate);
  EXPECT_EQ(read.far_level, 2);
}

TEST(TruthFile, AnInvalidFileIsAnError) {
  const test::TempDirectory directory;
  EXPECT_FALSE(read_truth_file(directory.file("nowhere.json")));
  const std::string path = directory.file("broken.json");
  std::ofstream(path) << "{\"a\": ";
  const auto broken = read_truth_file(path);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("broken.json"), std::string::npos);
}

}  // namespace
}  // namespace linkhealth::sim
