// The maintenance files: what is found, and a directory that does not answer.
#include "daemon/sampling/maintenance_reader.h"

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <future>
#include <memory>

#include "tests/support/manual_clock.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Milliseconds kLong{60'000};  // only for a test that has failed

TEST(MaintenanceReaderTest, ReadsTheDirectoryWhenItIsDue) {
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
  EXPECT_THAT(later.complaints, IsEmpty()) << "reported once";
}

TEST(MaintenanceReaderTest, WithoutADirectoryThereIsNoMaintenance) {
  const testing::ManualClock clock;
  MaintenanceReader reader("", clock);
  const auto news = reader.wait(kLong);
  EXPECT_FALSE(news.maintenance);
  EXPECT_THAT(news.complaints, IsEmpty());
}

TEST(MaintenanceReaderTest, ADirectoryThatDoesNotAnswerDelaysNothingAndIsReportedOnce) {
  std::promise<void> answer;
  const auto begun = std::make_shared<std::atomic<bool>>(false);
  const auto read = [begun, answered = answer.get_future().share()] {
    *begun = true;
    begun->notify_all();
    answered.wait();
    MaintenanceDir::Found found;
    found.maintenance.emplace_back();
    return found;
  };
  testing::ManualClock clock;
  MaintenanceReader reader("/nfs/work", clock, read);
  std::vector<std::string> complaints;
  for (int second = 0; second < 60; ++second) {
    const auto news = reader.poll();
    EXPECT_FALSE(news.maintenance) << "the last content stays in force";
    complaints.insert(complaints.end(), news.complaints.begin(), news.complaints.end());
    begun->wait(false);
    clock.advance(Milliseconds(1'000));
  }
  EXPECT_THAT(complaints,
              ElementsAre("maintenance_dir: /nfs/work has not answered for 15 s: its last "
                          "content stays in force"));
  answer.set_value();
  const auto news = reader.wait(kLong);
  ASSERT_TRUE(news.maintenance);
  EXPECT_THAT(*news.maintenance, SizeIs(1));
  EXPECT_THAT(news.complaints, ElementsAre("maintenance_dir: /nfs/work answers again"));
}

}  // namespace
}  // namespace linkhealth
