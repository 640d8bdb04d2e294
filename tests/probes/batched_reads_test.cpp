// Against this machine's kernel: there is no fake of io_submit.
#include "probes/batched_reads.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "probes/live_host.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

/// Some kernels have no such calls, and some containers refuse them: nothing to test there.
bool is_offered() {
  const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  std::array<char, 8> buffer{};
  std::array<DescriptorRead, 1> reads{{{fd, buffer, 0}}};
  const bool offered = BatchedReads().read(reads) == 1;
  close(fd);
  return offered;
}

class BatchedReadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_offered()) GTEST_SKIP() << "this kernel does not offer io_submit";
  }
  void TearDown() override {
    for (const int fd : open_) close(fd);
  }
  void put(const std::string& name, const std::string& content) {
    std::ofstream(directory_.file(name)) << content;
  }
  int open_file(const std::string& name) {
    return open_.emplace_back(open(directory_.file(name).c_str(), O_RDONLY | O_CLOEXEC));
  }

  test::TempDirectory directory_;
  std::vector<int> open_;
};

TEST_F(BatchedReadsTest, EachReadHasTheContentOfItsFileAsItIsNow) {
  constexpr std::size_t kFiles = BatchedReads::kAtOnce;
  BatchedReads batches;
  std::array<std::array<char, 16>, kFiles> texts{};
  std::vector<DescriptorRead> reads;
  for (std::size_t i = 0; i < kFiles; ++i) {
    put(std::to_string(i), "");
    reads.push_back({open_file(std::to_string(i)), texts.at(i), 0});
  }
  for (int round = 0; round < 40; ++round) {  // more results than the kernel's ring holds
    for (std::size_t i = 0; i < kFiles; ++i)
      put(std::to_string(i), std::to_string(round * 1000 + static_cast<int>(i)));
    ASSERT_EQ(batches.read(reads), kFiles);
    for (std::size_t i = 0; i < kFiles; ++i)
      EXPECT_EQ(std::string(texts.at(i).data(), static_cast<std::size_t>(reads[i].got)),
                std::to_string(round * 1000 + static_cast<int>(i)));
  }
}

TEST_F(BatchedReadsTest, AFileThatCannotBeReadSoIsLeftAndThoseBeforeItAreRead) {
  put("a", "one\n");
  put("b", "two\n");
  BatchedReads batches;
  std::array<std::array<char, 16>, 3> texts{};
  // A directory has no read_iter, as files of kernfs had none before 5.13.
  const int directory = open_.emplace_back(open(directory_.path().c_str(), O_RDONLY | O_CLOEXEC));
  std::array<DescriptorRead, 3> reads{
      {{open_file("a"), texts[0], 0}, {directory, texts[1], 0}, {open_file("b"), texts[2], 0}}};
  EXPECT_EQ(batches.read(reads), 1U);
  EXPECT_EQ(reads[0].got, 4);
  EXPECT_EQ(batches.read(std::span(reads).subspan(2)), 1U)
      << "one file of another kind is no reason to give up";
  EXPECT_EQ(batches.read(std::span(reads).subspan(1)), 0U);
  EXPECT_EQ(batches.read(std::span(reads).first(1)), 0U)
      << "a kernel that refused the first is not asked again";
}

TEST_F(BatchedReadsTest, ThreadsReadAtTheSameTimeEachItsOwn) {
  BatchedReads batches;
  std::array<int, 4> wrong{};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < wrong.size(); ++thread) {
    const std::string content = std::string(thread + 1, 'x');
    put(content, content);
    threads.emplace_back([&batches, &wrong, thread, fd = open_file(content)] {
      std::array<std::array<char, 16>, 8> texts{};
      std::array<DescriptorRead, 8> reads;
      for (std::size_t i = 0; i < reads.size(); ++i) reads.at(i) = {fd, texts.at(i), 0};
      for (int round = 0; round < 500; ++round) {
        wrong.at(thread) += batches.read(reads) == reads.size() ? 0 : 1;
        for (DescriptorRead& read : reads)
          wrong.at(thread) += std::exchange(read.got, -1) == static_cast<int>(thread) + 1 ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ::testing::Each(0));
}

/// What a Host with batches gives of `paths`, and what one without.
void expect_same(const std::vector<std::string>& paths) {
  LiveHost host("", std::make_shared<BatchedReads>());
  LiveHost plain;
  std::vector<std::unique_ptr<HostFile>> files;
  std::vector<std::array<char, 4096>> texts(paths.size() * 2);
  std::vector<FileRead> together;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto file = host.open_file(paths[i]);
    ASSERT_TRUE(file) << file.error().message;
    files.push_back(*std::move(file));
    together.push_back({files.back().get(), texts[2 * i], std::size_t{0}});
    together.push_back({});  // one that is left alone
  }
  host.read_together(together);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Result<std::size_t>& got = together[2 * i].got;
    const auto alone = files[i]->read(texts[2 * i + 1]);
    ASSERT_EQ(got.ok(), alone.ok()) << paths[i];
    if (!got) {
      EXPECT_EQ(got.error().errnum, alone.error().errnum) << paths[i];
      EXPECT_EQ(got.error().message, alone.error().message) << paths[i];
    } else {
      EXPECT_EQ(std::string(texts[2 * i].data(), *got),
                std::string(texts[2 * i + 1].data(), *alone))
          << paths[i];
    }
    EXPECT_EQ(*together[2 * i + 1].got, 0U);
  }
}

TEST_F(BatchedReadsTest, FilesOfSysfsGiveWhatTheyGiveOneByOne) {
  // The loopback interface has no speed (EINVAL) and no identity of a port (EOPNOTSUPP); /proc has
  // no read_iter for some.
  std::vector<std::string> paths;
  for (int i = 0; i < 12; ++i)
    for (const char* name : {"mtu", "speed", "flags", "ifindex", "operstate", "carrier_down_count"})
      paths.push_back(std::string("/sys/class/net/lo/") + name);
  paths.insert(paths.begin() + 20, "/proc/self/mem");
  expect_same(paths);
}

TEST(BatchedReads, WithoutThemAHostReadsOneByOne) {
  LiveHost host;
  auto mtu = *host.open_file("/sys/class/net/lo/mtu");
  std::array<std::array<char, 64>, 2> texts{};
  std::array<FileRead, 2> reads{
      {{mtu.get(), texts[0], std::size_t{0}}, {mtu.get(), texts[1], std::size_t{0}}}};
  host.read_together(reads);
  EXPECT_GT(*reads[0].got, 1U);
  EXPECT_EQ(texts[0], texts[1]);
}

}  // namespace
}  // namespace linkhealth
