// The history of a port: steps, holes, retention and size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "storage/history/history_store.h"
#include "tests/storage/history/history_example.h"

namespace linkhealth {
namespace {

using namespace test;
using testing::Each;
using testing::IsEmpty;
using testing::SizeIs;

class HistoryTimelineTest : public HistoryTest {
 protected:
  void open(std::int64_t second = 0) { store_ = HistoryTest::open(second); }
  void add(std::int64_t second, double temperature_c, const std::string& port = kHistoryPort) {
    add_rows({history_row(second, temperature_c, port)}, second);
  }
  void add_rows(std::vector<SignalRow> rows, std::int64_t now) {
    HistoryBatch batch;
    batch.now = history_time(now);
    batch.rows = std::move(rows);
    const auto written = store_->write(batch);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  PortTimeline timeline(std::int64_t now, double since_s,
                        std::optional<std::uint32_t> step_s = {}) {
    auto timeline = store_->timeline({kHistoryPort, history_time(now), since_s, step_s});
    EXPECT_TRUE(timeline.ok());
    return timeline ? *timeline : PortTimeline{};
  }
  static std::vector<double> temperatures(const PortTimeline& timeline) {
    const SignalSeries* series = timeline.find(Signal::kTemperature);
    return series == nullptr ? std::vector<double>() : series->values;
  }

  std::unique_ptr<HistoryStore> store_;
};

TEST_F(HistoryTimelineTest, APortThatWasNeverSeenHasNoHistory) {
  open();
  const PortTimeline empty = timeline(100, 60);
  EXPECT_THAT(empty.at, IsEmpty());
  EXPECT_THAT(empty.signals, IsEmpty());
}

TEST_F(HistoryTimelineTest, HasTheMaintenanceOfItsTimeOnly) {
  open();
  HistoryBatch batch = event_batch(0);
  Maintenance old, now;
  old.by = now.by = "ann";
  old.since = history_time(100);
  old.ended_at = history_time(200);
  now.since = history_time(300);  // and it lasts
  batch.ledger->maintenance_log = {old, now};
  ASSERT_TRUE(store_->write(batch).ok());
  EXPECT_THAT(timeline(1000, 900).maintenance, testing::ElementsAre(old, now));
  EXPECT_THAT(timeline(1000, 750).maintenance, testing::ElementsAre(now));
  EXPECT_THAT(timeline(250, 200).maintenance, testing::ElementsAre(old)) << "not begun yet";
  open();  // over a restart
  EXPECT_THAT(store_->saved().ledger.maintenance_log, SizeIs(2));
}

TEST_F(HistoryTimelineTest, StepsHaveNoGapsAndAbsentIsNotANumber) {
  open();
  add(0, 50);
  add(30, 53);
  const PortTimeline seen = timeline(35, 3600);
  EXPECT_EQ(seen.step_s, 10U);
  EXPECT_EQ(seen.from, history_time(0)) << "no older rows";
  ASSERT_THAT(seen.at, SizeIs(4));
  EXPECT_EQ(seen.at[3], history_time(30));
  const auto values = temperatures(seen);
  EXPECT_EQ(values[0], 50);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(values[3], 53);
  EXPECT_EQ(seen.find(Signal::kSupply), nullptr) << "never seen: left out";
}

TEST_F(HistoryTimelineTest, LongTimesHaveLongerStepsUpToNow) {
  open();
  for (std::int64_t at = 0; at < 86'400;) {
    std::vector<SignalRow> rows;
    for (const std::int64_t end = at + 670; at < std::min<std::int64_t>(end, 86'400); at += 10)
      rows.push_back(history_row(at, 50 + static_cast<double>(at % 600) / 100));
    add_rows(std::move(rows), at);
  }
  EXPECT_EQ(timeline(86'399, 3600).step_s, 10U);
  const PortTimeline day = timeline(86'399, 86'400);
  EXPECT_EQ(day.step_s, 60U);
  EXPECT_THAT(day.at, SizeIs(1440));
  EXPECT_EQ(temperatures(day)[0], 50.5) << "the highest of the minute";
  EXPECT_EQ(temperatures(day).back(), 55.9) << "the step that is not over";
  const PortTimeline coarse = timeline(86'399, 86'400, 600);
  EXPECT_EQ(coarse.step_s, 600U);
  EXPECT_THAT(temperatures(coarse), Each(55.9));
  for (const double downs : coarse.find(Signal::kCarrierDowns)->values)
    EXPECT_EQ(downs, 60) << "each count once";
}

TEST_F(HistoryTimelineTest, ALongStepGoesOnAfterARestart) {
  open();
  for (std::int64_t at = 0; at < 300; at += 10) add(at, 50);
  open(300);  // the last run did not end in order
  for (std::int64_t at = 300; at <= 600; at += 10) add(at, 40);
  const PortTimeline seen = timeline(605, 3600, 600);
  EXPECT_EQ(temperatures(seen)[0], 50);
  EXPECT_EQ(seen.find(Signal::kCarrierDowns)->values[0], 60) << "30 of before, 30 of after";
}

TEST_F(HistoryTimelineTest, EachPortForItself) {
  open();
  add(0, 50);
  add(0, 60, "0000:2b:00.0/1");
  EXPECT_THAT(temperatures(timeline(5, 60)), testing::ElementsAre(50));
}

TEST_F(HistoryTimelineTest, EachStepIsForgottenInItsTime) {
  settings_.keep_s = {600, 1800, 3600};
  open();
  for (std::int64_t at = 0; at < 7200; at += 10) add(at, 50);
  EXPECT_EQ(timeline(7200, 7200, 10).find(Signal::kTemperature)->values.size(), 361U)
      << "from the first row of any step";
  const auto known = [](const std::vector<double>& values) {
    return std::count_if(values.begin(), values.end(),
                         [](double value) { return !std::isnan(value); });
  };
  EXPECT_EQ(known(temperatures(timeline(7200, 7200, 10))), 61);
  EXPECT_EQ(known(temperatures(timeline(7200, 7200, 60))), 30);
  EXPECT_EQ(known(temperatures(timeline(7200, 7200, 600))), 6);
}

TEST_F(HistoryTimelineTest, TheFileStaysBelowItsBoundWithTheNewestInIt) {
  settings_.max_bytes = 400'000;
  open();
  std::int64_t at = 0;
  for (; at < 40'000; at += 10) {
    HistoryBatch batch;
    batch.now = history_time(at);
    for (int port = 0; port < 10; ++port) {
      batch.rows.push_back(
          history_row(at, 50, port == 0 ? kHistoryPort : "port" + std::to_string(port)));
      for (std::size_t i = static_cast<std::size_t>(Signal::kRxPower); i < kSignalCount; ++i)
        batch.rows.back().values[i] = static_cast<double>(at % 977);
    }
    const auto written = store_->write(batch);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  EXPECT_TRUE(store_->figures().trimmed);
  EXPECT_LE(store_->figures().bytes, 400'000);
  EXPECT_GT(store_->figures().bytes, 200'000);
  EXPECT_EQ(store_->figures().failures, 0U);
  EXPECT_FALSE(std::isnan(temperatures(timeline(at, 3600, 10)).at(0))) << "the last hour is there";
  store_->close();
  EXPECT_LE(std::filesystem::file_size(file()), 400'000U);
}

TEST_F(HistoryTimelineTest, EventsThatFillTheFileGiveWayTooAndAreCounted) {
  settings_.max_bytes = 400'000;
  open();
  for (int i = 0; i < 3000; ++i) {
    HistoryBatch batch = event_batch(i * 10);
    batch.events[0].event.fault.summary = std::string(300, 'x');
    const auto written = store_->write(batch);
    ASSERT_TRUE(written.ok()) << i << ": " << written.error().message;
  }
  EXPECT_GT(store_->figures().trimmed_events, 1000U);
  EXPECT_EQ(store_->figures().failures, 0U);
  EXPECT_EQ(store_->newest_events(1)->back().at, history_time(29990));
  open();
  EXPECT_EQ(store_->saved().ledger, history_ledger(29990)) << "the acknowledgement is known";
}

/// Each hour one row and one event.
TEST_F(HistoryTimelineTest, AClockThatJumpsMonthsAheadAndBackForgetsNothing) {
  open();
  const auto write_hours = [&](int from, int to, std::int64_t ahead_s) {
    for (int hour = from; hour < to; ++hour) {
      HistoryBatch batch = event_batch(hour * 3600);
      batch.now = history_time(hour * 3600 + ahead_s);
      batch.taken_at = SteadyTime(std::chrono::hours(hour));
      batch.rows = {history_row(hour * 3600 + ahead_s, 50)};
      ASSERT_TRUE(store_->write(batch).ok());
    }
  };
  constexpr std::int64_t kDays_s = 90 * 86400;
  write_hours(0, 10, 0);
  write_hours(10, 20, kDays_s + 86400);
  open(20 * 3600);  // a restart in between
  write_hours(20, 30, kDays_s + 86400);
  write_hours(30, 80, 0);
  const PortTimeline seen = timeline(80 * 3600, 81 * 3600, 600);
  EXPECT_EQ(seen.at.front(), history_time(0));
  EXPECT_EQ(std::ranges::count(temperatures(seen), 50), 60) << "but those of the wrong clock";
  EXPECT_EQ(ids_of(store_->newest_events(1000)).size(), 80U);
}

TEST_F(HistoryTimelineTest, AClockThatJumpsAheadAndStaysIsBelievedInTheEnd) {
  open();
  ASSERT_TRUE(store_->write(event_batch(0)));
  open();
  for (int hour = 1; hour <= 25; ++hour) {
    HistoryBatch batch = event_batch(hour);
    batch.now = history_time(365 * 86400 + hour * 3600);
    batch.taken_at = SteadyTime(std::chrono::hours(hour));
    ASSERT_TRUE(store_->write(batch));
    const auto kept = static_cast<int>(ids_of(store_->newest_events(1000)).size());
    EXPECT_EQ(kept, hour < 25 ? hour + 1 : 0) << hour;
  }
}

TEST_F(HistoryTimelineTest, AClockThatJumpsAheadForgetsSlowly) {
  open();
  for (std::int64_t at = 0; at < 6000; at += 10) add(at, 50);
  add(600'000'000, 50);
  EXPECT_GT(timeline(6000, 6000, 10).signals.size(), 0U)
      << "19 years ahead, and not all is gone at once";
}

TEST_F(HistoryTimelineTest, AClockThatIsSetBackOverwritesNothing) {
  open();
  add(100, 50);
  add(100, 99);
  EXPECT_EQ(temperatures(timeline(105, 60)).at(0), 50);
}

TEST_F(HistoryTimelineTest, WithoutHistoryEventsAreStillKept) {
  open();
  add(0, 50);
  settings_.signals = false;
  open(10);
  HistoryBatch batch = event_batch(20);
  batch.rows = {history_row(20, 50)};
  ASSERT_TRUE(store_->write(batch));
  const PortTimeline seen = timeline(30, 60);
  EXPECT_THAT(seen.signals, IsEmpty());
  EXPECT_THAT(seen.events, SizeIs(1));
}

TEST_F(HistoryTimelineTest, ADamagedRowIsUnknown) {
  open();
  add(0, 50);
  add(10, 51);
  store_->close();
  SqlDatabase::open(file())->execute(
      "UPDATE signals SET signals=x'0101' WHERE at_s=(SELECT min(at_s) FROM signals)");
  open(20);
  const PortTimeline seen = timeline(20, 60);
  EXPECT_TRUE(std::isnan(temperatures(seen).at(0)));
  EXPECT_EQ(temperatures(seen).at(1), 51);
}

/// Two cards that swapped their addresses, in the middle of a step of ten minutes.
TEST_F(HistoryTimelineTest, TheHistoryMovesWithACardToItsNewAddress) {
  const std::string other = "0000:2b:00.0/1";
  open();
  for (const std::int64_t second : {0, 10}) {
    add(second, 40);
    add(second, 70, other);
  }
  HistoryBatch batch = event_batch(10);
  batch.identities = {
      {"AC1", "local", kHistoryPort, "mlx5_0/1", "", "", "", history_time(0), history_time(10)}};
  ASSERT_TRUE(store_->write(batch));

  HistoryBatch waiting, moved;
  waiting.now = moved.now = history_time(20);
  waiting.rows = {history_row(20, 40), history_row(20, 70, other)};
  moved.moves = {{{kHistoryPort, other}, {other, kHistoryPort}}};
  moved.rows = {history_row(30, 40, other), history_row(30, 70)};
  waiting.append(moved);
  ASSERT_TRUE(store_->write(waiting));

  EXPECT_THAT(temperatures(timeline(39, 40, 10)), testing::ElementsAre(70, 70, 70, 70))
      << "each only its own";
  EXPECT_THAT(temperatures(timeline(39, 40, 600)), testing::ElementsAre(70))
      << "also the step that is not over";
  EXPECT_THAT(timeline(39, 40).events, IsEmpty());
  EXPECT_THAT(timeline(39, 40).identities, IsEmpty());
  const auto theirs = store_->timeline({other, history_time(39), 40, 10});
  ASSERT_TRUE(theirs.ok());
  EXPECT_THAT(temperatures(*theirs), testing::ElementsAre(40, 40, 40, 40));
  EXPECT_THAT(theirs->events, SizeIs(1));
  EXPECT_THAT(theirs->repairs, SizeIs(1));
  EXPECT_THAT(theirs->identities, SizeIs(1));
}

}  // namespace
}  // namespace linkhealth
