// Counter files on a real file system, read in one go and one by one: both say the same.
#include "probes/kept_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "probes/batched_reads.h"
#include "probes/live_host.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class CounterFilesTest : public ::testing::TestWithParam<bool> {
 protected:
  void put(const std::string& name, const std::string& text) {
    std::ofstream(directory_.file(name)) << text;
  }
  CounterFiles files(const std::vector<std::string>& names) {
    return {directory_.path(), "", names};
  }
  std::map<std::string, std::uint64_t> read(CounterFiles& files) {
    std::map<std::string, std::uint64_t> values;
    const auto take = [&](std::size_t index, std::uint64_t value) {
      values.emplace(std::string(files.counter_name(index)), value);
    };
    EXPECT_EQ(files.read(host_, take, [] { return false; }), ReadStatus::kOk);
    return values;
  }

  test::TempDirectory directory_;
  LiveHost host_{"", GetParam() ? std::make_shared<BatchedReads>() : nullptr};
};

TEST_P(CounterFilesTest, EachReadSaysWhatStandsThereNow) {
  put("link_downed", "0\n");
  put("port_rcv_data", "18446744073709551615\n");  // twenty digits
  put("symbol_error", "  7 ");
  put("unheard_of", "12");
  CounterFiles all = files({"link_downed", "port_rcv_data", "symbol_error", "unheard_of"});
  for (int round = 0; round < 3; ++round) {
    put("link_downed", std::to_string(round) + "\n");
    EXPECT_THAT(read(all), ElementsAre(Pair("link_downed", round),
                                       Pair("port_rcv_data", 18'446'744'073'709'551'615U),
                                       Pair("symbol_error", 7), Pair("unheard_of", 12)));
    EXPECT_EQ(all.reasons(), "");
  }
}

TEST_P(CounterFilesTest, AFileThatFailsHidesNoOtherAndIsAskedAgain) {
  for (const char* name : {"link_downed", "symbol_error", "VL15_dropped"}) put(name, "1\n");
  CounterFiles all = files({"link_downed", "symbol_error", "VL15_dropped"});
  EXPECT_EQ(read(all).size(), 3U);
  for (const char* odd : {"N/A (no PMA)\n", "", "-1\n", "1x\n", "18446744073709551616\n"}) {
    put("symbol_error", odd);
    EXPECT_THAT(read(all), ElementsAre(Pair("VL15_dropped", 1), Pair("link_downed", 1))) << odd;
    EXPECT_THAT(all.reasons(), HasSubstr("symbol_error: ")) << odd;
    put("symbol_error", "5\n");
    EXPECT_EQ(read(all).size(), 2U) << "left alone once";
    EXPECT_EQ(read(all).at("symbol_error"), 5U);
    EXPECT_EQ(all.reasons(), "");
  }
}

TEST_P(CounterFilesTest, AFileThatComesLaterIsOpenedLater) {
  put("link_downed", "1\n");
  CounterFiles all = files({"link_downed", "symbol_error"});
  EXPECT_THAT(read(all), ElementsAre(Pair("link_downed", 1)));
  EXPECT_EQ(all.reasons(), "symbol_error: ENOENT");
  put("symbol_error", "3\n");
  read(all);
  EXPECT_EQ(read(all).at("symbol_error"), 3U);
}

TEST_P(CounterFilesTest, ReadsThatFailAreCountedOnlyWhenTheyWereMade) {
  put("link_downed", "1\n");
  put("symbol_error", "odd\n");
  CounterFiles all = files({"link_downed", "symbol_error"});
  read(all);
  EXPECT_EQ(all.reads(), 2U);
  read(all);  // the odd one is left alone
  EXPECT_EQ(all.reads(), 3U);
}

TEST_P(CounterFilesTest, MoreFilesThanGoIntoOneCall) {
  std::vector<std::string> names;
  for (int i = 0; i < 70; ++i) {
    names.push_back("counter_" + std::to_string(i));
    put(names.back(), std::to_string(i * 1000) + "\n");
  }
  put("counter_40", "odd\n");
  CounterFiles all = files(names);
  for (int round = 0; round < 3; ++round) {
    const auto values = read(all);
    EXPECT_EQ(values.size(), 69U);
    for (const auto& [name, value] : values)
      EXPECT_EQ(name, "counter_" + std::to_string(value / 1000));
  }
}

TEST_P(CounterFilesTest, OtherReadsAreMadeBesideThemWhereThereAreFiles) {
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("counter_" + std::to_string(i));
  for (const std::string& name : names) put(name, "1\n");
  put("state", "4: ACTIVE\n");
  KeptFile state("state");
  std::array<char, 16> text{};
  ASSERT_TRUE(state.read(host_, directory_.path(), text));
  CounterFiles all = files(names), none = files({});
  for (const int of_each : {0, 40, 40}) {  // the first time none of them is open
    text.fill('x');
    std::array<DescriptorRead, 1> beside = {{{state.descriptor(), text, 0}}};
    std::size_t taken = 0;
    CounterFiles& some = of_each == 0 ? none : all;
    some.read(
        host_, [&](std::size_t, std::uint64_t) { ++taken; }, [] { return false; }, beside);
    EXPECT_EQ(taken, of_each);
    EXPECT_EQ(beside[0].got, of_each == 0 ? 0 : 10);
    EXPECT_EQ(text[0], of_each == 0 ? 'x' : '4');
  }
  std::array<DescriptorRead, 1> closed = {{{9999, text, 0}}};
  all.read(
      host_, [](std::size_t, std::uint64_t) {}, [] { return false; }, closed);
  EXPECT_EQ(closed[0].got, -EBADF);
}

TEST(KeptFilesTest, SayWhatFailsAsLongAsItDoes) {
  constexpr std::array kNames = {"state", "rate"};
  KeptFiles files(kNames);
  EXPECT_EQ(files.reasons(), "");
  files.reject(1, "EIO", 1);
  files.reject(0, "EIO", 1);
  EXPECT_EQ(files.reasons(), "state, rate: EIO");
  files[0].accept();
  EXPECT_EQ(files.reasons(), "rate: EIO");
  files[1].accept();
  EXPECT_EQ(files.reasons(), "");
  files.reject(0, "empty", 1);
  EXPECT_EQ(files.reasons(), "state: empty");
}

std::string way_of(const ::testing::TestParamInfo<bool>& in_one_go) {
  return in_one_go.param ? "InOneGo" : "OneByOne";
}
INSTANTIATE_TEST_SUITE_P(Reads, CounterFilesTest, ::testing::Bool(), way_of);

}  // namespace
}  // namespace linkhealth
