// The maintenance files beside the deciding thread: what is found, and a directory that does not
// answer.
#include "daemon/maintenance_reader.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <fstream>
#include <mutex>

#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Milliseconds kLong{
    60'000};  // for a thread to come to it: it is woken, nobody waits that long

SteadyTime at(int seconds) { return SteadyTime(std::chrono::seconds(seconds)); }

TEST(MaintenanceReaderTest, WhatStandsInTheDirectory) {
  const test::TempDirectory temp;
  std::ofstream(temp.file("mlx5_3")) << "reason: fibre";
  std::ofstream(temp.file("all")) << "until: tomorrow";
  MaintenanceReader reader(temp.path());
  reader.wait(kLong);
  const auto news = reader.look(at(0));
  ASSERT_TRUE(news.maintenance);
  EXPECT_THAT(*news.maintenance, SizeIs(1));
  EXPECT_THAT(news.complaints, ElementsAre(HasSubstr("is no instant")));
  EXPECT_FALSE(reader.look(at(1)).maintenance) << "nothing new, and not due";
  std::ofstream(temp.file("mlx5_4")) << "";
  (void)reader.look(at(5));
  reader.wait(kLong);
  const auto later = reader.look(at(6));
  ASSERT_TRUE(later.maintenance);
  EXPECT_THAT(*later.maintenance, SizeIs(2));
  EXPECT_THAT(later.complaints, IsEmpty()) << "said once";
}

TEST(MaintenanceReaderTest, NoDirectoryIsNoWork) {
  MaintenanceReader reader("");
  reader.wait(kLong);
  EXPECT_FALSE(reader.wants_thread());
  const auto news = reader.look(at(100));
  EXPECT_FALSE(news.maintenance);
  EXPECT_THAT(news.complaints, IsEmpty());
}

TEST(MaintenanceReaderTest, WhoeverIsAwakeMakesOneLookWhenItIsDue) {
  const test::TempDirectory temp;
  std::ofstream(temp.file("mlx5_3")) << "reason: fibre";
  MaintenanceReader reader(temp.path());
  EXPECT_FALSE(reader.look(at(0)).maintenance);
  ASSERT_TRUE(reader.wants_thread()) << "due from the start";
  const auto work = reader.work();
  EXPECT_FALSE(reader.wants_thread()) << "one at a time";
  work();
  EXPECT_FALSE(reader.wants_thread());
  EXPECT_TRUE(reader.look(at(1)).maintenance);
  EXPECT_FALSE(reader.wants_thread()) << "not due yet";
  (void)reader.look(at(5));
  EXPECT_TRUE(reader.wants_thread());
}

/// A directory that answers when it is let.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false, asked = false, passed = false;

  MaintenanceDir::Found answer() {
    std::unique_lock lock(mutex);
    asked = true;
    changed.notify_all();
    changed.wait(lock, [this] { return open; });
    passed = true;
    changed.notify_all();
    MaintenanceDir::Found found;
    found.maintenance.emplace_back();
    return found;
  }
  void let() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
  void wait(bool Gate::*what) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return this->*what; });
  }
};

TEST(MaintenanceReaderTest, OneThatDoesNotAnswerHoldsUpNobodyAndIsNamedOnce) {
  const auto gate = std::make_shared<Gate>();
  MaintenanceReader reader("/nfs/work", [gate] { return gate->answer(); });
  reader.wait(Milliseconds(0));
  std::vector<std::string> said;
  for (int second = 0; second < 60; ++second) {
    const auto news = reader.look(at(second));
    EXPECT_FALSE(news.maintenance) << "what was known holds";
    said.insert(said.end(), news.complaints.begin(), news.complaints.end());
  }
  EXPECT_THAT(
      said, ElementsAre(
                "maintenance_dir: /nfs/work does not answer for 15 s: what it said before holds"));
  gate->let();
  reader.wait(kLong);
  const auto news = reader.look(at(61));
  ASSERT_TRUE(news.maintenance);
  EXPECT_THAT(*news.maintenance, SizeIs(1));
  EXPECT_THAT(news.complaints, ElementsAre("maintenance_dir: /nfs/work answers again"));
}

TEST(MaintenanceReaderTest, TheEndLeavesAThreadThatHangsBehind) {
  const auto gate = std::make_shared<Gate>();
  {
    MaintenanceReader reader("/nfs/work", [gate] { return gate->answer(); });
    reader.wait(Milliseconds(0));
    gate->wait(&Gate::asked);
  }
  gate->let();
  gate->wait(&Gate::passed);
}

}  // namespace
}  // namespace linkhealth
