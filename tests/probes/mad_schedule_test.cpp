#include "probes/mad_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace linkhealth {
namespace {

using namespace std::chrono_literals;

SteadyTime at(Milliseconds time) { return SteadyTime(time); }

TEST(MadPhase, IsTheSameOnEveryStartAndInsideThePeriod) {
  for (const char* guid : {"", "a", "b83f:d203:0012:3456/1"}) {
    EXPECT_EQ(mad_phase(guid, 60s), mad_phase(guid, 60s));
    EXPECT_GE(mad_phase(guid, 60s), 0ms);
    EXPECT_LT(mad_phase(guid, 60s), 60s);
  }
  EXPECT_EQ(mad_phase("a", 0ms), 0ms);
}

TEST(MadPhase, ThousandsOfNeighbouringGuidsAreSpreadEvenly) {
  // 4,000 nodes with 8 ports each in 60 slots of a second: 533 on average, and chance alone gives
  // sqrt(533) = 23.
  std::map<long, int> slots;
  for (int node = 0; node < 4000; ++node)
    for (int port = 1; port <= 8; ++port) {
      const std::string guid =
          "b83f:d203:0012:" + std::to_string(1000 + node) + "/" + std::to_string(port);
      ++slots[mad_phase(guid, 60s) / 1s];
    }
  ASSERT_EQ(slots.size(), 60U);
  for (const auto& [slot, count] : slots) {
    EXPECT_GT(count, 533 - 5 * 23) << slot;
    EXPECT_LT(count, 533 + 5 * 23) << slot;
  }
}

class MadScheduleTest : public ::testing::Test {
 protected:
  /// Runs from `from` to `to` as the thread does; when each port was asked.
  std::map<PortKey, std::vector<SteadyTime>> run(SteadyTime from, SteadyTime to, MadOutcome outcome,
                                                 int mads = 6) {
    std::map<PortKey, std::vector<SteadyTime>> asked;
    for (SteadyTime now = from; now < to;) {
      if (const PortKey* key = schedule_.next(now)) {
        const PortKey copy = *key;
        asked[copy].push_back(now);
        schedule_.done(copy, outcome, mads, now);
      }
      now = std::max(schedule_.next_due(now), now + 1ms);
    }
    return asked;
  }
  void set(int count) {
    std::vector<MadSchedule::Port> ports;
    for (int i = 0; i < count; ++i)
      ports.push_back({"mlx5_" + std::to_string(i) + "/1", "guid" + std::to_string(i)});
    schedule_.set_ports(ports, at(1000s));
  }
  MadTiming timing_;
  MadSchedule schedule_{timing_};
};

TEST_F(MadScheduleTest, NothingToDoWithoutPorts) {
  EXPECT_EQ(schedule_.next(at(5s)), nullptr);
  EXPECT_EQ(schedule_.next_due(at(5s)), at(65s));
}

TEST_F(MadScheduleTest, APeriodOfNothingIsASecond) {
  timing_ = {};
  timing_.period = 0ms;
  schedule_ = MadSchedule(timing_);
  set(1);
  EXPECT_LE(run(at(1000s), at(1020s), MadOutcome::kAnswered)["mlx5_0/1"].size(), 40U);
}

TEST_F(MadScheduleTest, TheFirstRoundComesSoonAndTheOthersInThePortsOwnPlace) {
  set(8);
  const auto asked = run(at(1000s), at(1000s + 10min), MadOutcome::kAnswered);
  ASSERT_EQ(asked.size(), 8U);
  for (const auto& [key, times] : asked) {
    EXPECT_LT(times.front(), at(1013s)) << key;  // 10 s and the budget of eight rounds
    const Milliseconds phase = mad_phase("guid" + key.substr(5, 1), 60s);
    for (std::size_t i = 1; i < times.size(); ++i) {
      const auto late = (times[i].time_since_epoch() - phase) % Milliseconds(60s);
      EXPECT_LT(late, 3s) << key;
      EXPECT_GE(times[i] - times[i - 1], 30s - 3s);
    }
    EXPECT_GE(times.size(), 10U);
    EXPECT_LE(times.size(), 12U);
  }
}

TEST_F(MadScheduleTest, TheNodeKeepsItsBudgetHoweverManyPortsAreDue) {
  set(64);
  std::vector<SteadyTime> all;
  for (const auto& [key, times] : run(at(1000s), at(1060s), MadOutcome::kAnswered))
    all.insert(all.end(), times.begin(), times.end());
  std::sort(all.begin(), all.end());
  ASSERT_GE(all.size(), 64U);
  for (std::size_t i = 1; i < all.size(); ++i)
    EXPECT_GE(all[i] - all[i - 1], 300ms);  // 6 MADs at 20 a second
}

TEST_F(MadScheduleTest, AFarEndThatDoesNotAnswerIsAskedLessAndLessOften) {
  set(1);
  auto times = run(at(1000s), at(1000s + 3h), MadOutcome::kFailed, 3)["mlx5_0/1"];
  ASSERT_GT(times.size(), 10U);
  for (std::size_t i = 1; i < times.size(); ++i) {
    EXPECT_LE(times[i] - times[i - 1], 10min);
    if (i > 5) {
      EXPECT_GE(times[i] - times[i - 1], 9min);
    }
  }
  EXPECT_LT(times[1] - times[0], 3min);
  // One answer, and it is as before.
  const SteadyTime again = times.back() + 10min;
  times = run(again, again + 10min, MadOutcome::kAnswered)["mlx5_0/1"];
  EXPECT_GE(times.size(), 9U);
}

TEST_F(MadScheduleTest, ALinkThatIsDownIsNotTheFarEndsFailure) {
  set(1);
  const auto times = run(at(1000s), at(1000s + 30min), MadOutcome::kLinkDown, 1)["mlx5_0/1"];
  EXPECT_GE(times.size(), 30U);
}

TEST_F(MadScheduleTest, PortsThatStayKeepTheirTimesAndOthersAreForgotten) {
  set(2);
  run(at(1000s), at(1030s), MadOutcome::kAnswered);
  const SteadyTime due = schedule_.next_due(at(1030s));
  set(2);
  EXPECT_EQ(schedule_.next_due(at(1030s)), due);
  schedule_.set_ports({}, at(1030s));
  EXPECT_EQ(schedule_.next(at(2000s)), nullptr);
  schedule_.done("mlx5_0/1", MadOutcome::kAnswered, 1, at(2000s));  // gone meanwhile
}

}  // namespace
}  // namespace linkhealth
