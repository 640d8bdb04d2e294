// The maintenance files: what is found, and a directory that does not answer.
#include "daemon/sampling/maintenance_reader.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <fstream>
#include <mutex>

#include "tests/support/manual_clock.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Milliseconds kLong{
    60'000};  // for a thread to come to it: it is woken, nobody waits that long

TEST(MaintenanceReaderTest, WhatStandsInTheDirectory) {
  testing::ManualClock clock;
  const test::TempDirectory temp;
  std::ofstream(temp.file("mlx5_3")) << "reason: fibre";
  std::ofstream(temp.file("all")) << "until: tomorrow";
  MaintenanceReader reader(temp.path(), clock);
  const auto news = reader.wait(kLong);
  ASSERT_TRUE(news.maintenance);
  EXPECT_THAT(*news.maintenance, SizeIs(1));
  EXPECT_THAT(news.complaints, ElementsAre(HasSubstr("is not a time")));
  clock.advance(Milliseconds(4'000));
  EXPECT_FALSE(reader.wait(Milliseconds(0)).maintenance) << "nothing new, and not due";
  std::ofstream(temp.file("mlx5_4")) << "";
  clock.advance(Milliseconds(1'000));
  const auto later = reader.wait(kLong);
  ASSERT_TRUE(later.maintenance);
  EXPECT_THAT(*later.maintenance, SizeIs(2));
  EXPECT_THAT(later.complaints, IsEmpty()) << "said once";
}

TEST(MaintenanceReaderTest, NoDirectoryIsNoWork) {
  const testing::ManualClock clock;
  MaintenanceReader reader("", clock);
  const auto news = reader.wait(kLong);
  EXPECT_FALSE(news.maintenance);
  EXPECT_THAT(news.complaints, IsEmpty());
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

TEST(MaintenanceReaderTest, OneThatDoesNotAnswerDelaysNothingAndIsNamedOnce) {
  const auto gate = std::make_shared<Gate>();
  testing::ManualClock clock;
  MaintenanceReader reader("/nfs/work", clock, [gate] { return gate->answer(); });
  reader.wait(Milliseconds(0));
  gate->wait(&Gate::asked);
  std::vector<std::string> said;
  for (int second = 0; second < 60; ++second) {
    clock.advance(Milliseconds(1'000));
    const auto news = reader.poll();
    EXPECT_FALSE(news.maintenance) << "what was known holds";
    said.insert(said.end(), news.complaints.begin(), news.complaints.end());
  }
  EXPECT_THAT(said, ElementsAre("maintenance_dir: /nfs/work does not answer for 15 s: its last "
                                "content stays in force"));
  gate->let();
  const auto news = reader.wait(kLong);
  ASSERT_TRUE(news.maintenance);
  EXPECT_THAT(*news.maintenance, SizeIs(1));
  EXPECT_THAT(news.complaints, ElementsAre("maintenance_dir: /nfs/work answers again"));
}

TEST(MaintenanceReaderTest, TheEndLeavesAThreadThatHangsBehind) {
  const auto gate = std::make_shared<Gate>();
  const testing::ManualClock clock;
  {
    MaintenanceReader reader("/nfs/work", clock, [gate] { return gate->answer(); });
    reader.wait(Milliseconds(0));
    gate->wait(&Gate::asked);
  }
  gate->let();
  gate->wait(&Gate::passed);
}

}  // namespace
}  // namespace linkhealth
