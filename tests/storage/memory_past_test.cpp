// The history of a port: steps, holes, retention and size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "storage/memory.h"
#include "tests/storage/memory_example.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using namespace test;
using testing::Each;
using testing::IsEmpty;
using testing::SizeIs;

class MemoryPastTest : public testing::Test {
 protected:
  MemoryPastTest() { settings_.directory = temp_.path(); }
  void open(std::int64_t second = 0) { memory_ = Memory::open(settings_, memory_time(second)); }
  void add(std::int64_t second, double temperature_c, const std::string& port = kMemoryPort) {
    MemoryBatch batch;
    batch.now = memory_time(second);
    batch.rows = {memory_row(second, temperature_c, port)};
    const auto written = memory_->write(batch);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  PortPast past(std::int64_t now, double since_s, std::optional<std::uint32_t> step_s = {}) {
    auto past = memory_->past({kMemoryPort, memory_time(now), since_s, step_s});
    EXPECT_TRUE(past.ok());
    return past ? *past : PortPast{};
  }
  static std::vector<double> temperatures(const PortPast& past) {
    const SignalSeries* series = past.find(Signal::kTemperature);
    return series == nullptr ? std::vector<double>() : series->values;
  }

  TempDirectory temp_;
  MemorySettings settings_;
  std::unique_ptr<Memory> memory_;
};

TEST_F(MemoryPastTest, NothingIsRememberedOfAPortThatWasNeverSeen) {
  open();
  const PortPast empty = past(100, 60);
  EXPECT_THAT(empty.at, IsEmpty());
  EXPECT_THAT(empty.signals, IsEmpty());
}

TEST_F(MemoryPastTest, MaintenanceOfTheTimeIsThereAndWhatWasOverBeforeIsNot) {
  open();
  MemoryBatch batch = event_batch(0);
  Maintenance old, now;
  old.by = now.by = "ann";
  old.since = memory_time(100);
  old.ended_at = memory_time(200);
  now.since = memory_time(300);  // and it lasts
  batch.ledger->maintenance_log = {old, now};
  ASSERT_TRUE(memory_->write(batch).ok());
  EXPECT_THAT(past(1000, 900).maintenance, testing::ElementsAre(old, now));
  EXPECT_THAT(past(1000, 750).maintenance, testing::ElementsAre(now));
  EXPECT_THAT(past(250, 200).maintenance, testing::ElementsAre(old)) << "not begun yet";
  open();  // over a restart
  EXPECT_THAT(memory_->remembered().ledger.maintenance_log, SizeIs(2));
}

TEST_F(MemoryPastTest, StepsAreWithoutAHoleAndAbsentIsNotANumber) {
  open();
  add(0, 50);
  add(30, 53);
  const PortPast seen = past(35, 3600);
  EXPECT_EQ(seen.step_s, 10U);
  EXPECT_EQ(seen.from, memory_time(0)) << "nothing is remembered of before";
  ASSERT_THAT(seen.at, SizeIs(4));
  EXPECT_EQ(seen.at[3], memory_time(30));
  const auto values = temperatures(seen);
  EXPECT_EQ(values[0], 50);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(values[3], 53);
  EXPECT_EQ(seen.find(Signal::kSupply), nullptr) << "never seen: left out";
}

TEST_F(MemoryPastTest, LongTimesComeInLongerStepsUpToNow) {
  open();
  for (std::int64_t at = 0; at < 86'400; at += 10)
    add(at, 50 + static_cast<double>(at % 600) / 100);
  EXPECT_EQ(past(86'399, 3600).step_s, 10U);
  const PortPast day = past(86'399, 86'400);
  EXPECT_EQ(day.step_s, 60U);
  EXPECT_THAT(day.at, SizeIs(1440));
  EXPECT_EQ(temperatures(day)[0], 50.5) << "the highest of the minute";
  EXPECT_EQ(temperatures(day).back(), 55.9) << "the step that is not over";
  const PortPast asked = past(86'399, 86'400, 600);
  EXPECT_EQ(asked.step_s, 600U);
  EXPECT_THAT(temperatures(asked), Each(55.9));
  for (const double downs : asked.find(Signal::kCarrierDowns)->values)
    EXPECT_EQ(downs, 60) << "each count once";
}

TEST_F(MemoryPastTest, ALongStepGoesOnAfterARestart) {
  open();
  for (std::int64_t at = 0; at < 300; at += 10) add(at, 50);
  open(300);  // the last run did not end in order
  for (std::int64_t at = 300; at <= 600; at += 10) add(at, 40);
  const PortPast seen = past(605, 3600, 600);
  EXPECT_EQ(temperatures(seen)[0], 50);
  EXPECT_EQ(seen.find(Signal::kCarrierDowns)->values[0], 60) << "30 of before, 30 of after";
}

TEST_F(MemoryPastTest, EachPortForItself) {
  open();
  add(0, 50);
  add(0, 60, "0000:2b:00.0/1");
  EXPECT_THAT(temperatures(past(5, 60)), testing::ElementsAre(50));
}

TEST_F(MemoryPastTest, EachStepIsForgottenInItsTime) {
  settings_.keep_s = {600, 1800, 3600};
  open();
  for (std::int64_t at = 0; at < 7200; at += 10) add(at, 50);
  EXPECT_EQ(past(7200, 7200, 10).find(Signal::kTemperature)->values.size(), 361U)
      << "from the first row of any step";
  const auto known = [](const std::vector<double>& values) {
    return std::count_if(values.begin(), values.end(),
                         [](double value) { return !std::isnan(value); });
  };
  EXPECT_EQ(known(temperatures(past(7200, 7200, 10))), 61);
  EXPECT_EQ(known(temperatures(past(7200, 7200, 60))), 30);
  EXPECT_EQ(known(temperatures(past(7200, 7200, 600))), 6);
}

TEST_F(MemoryPastTest, TheFileStaysBelowItsBoundWithTheNewestInIt) {
  settings_.max_bytes = 400'000;
  open();
  std::int64_t at = 0;
  for (; at < 40'000; at += 10) {
    MemoryBatch batch;
    batch.now = memory_time(at);
    for (int port = 0; port < 10; ++port) {
      batch.rows.push_back(
          memory_row(at, 50, port == 0 ? kMemoryPort : "port" + std::to_string(port)));
      for (std::size_t i = static_cast<std::size_t>(Signal::kRxPower); i < kSignalCount; ++i)
        batch.rows.back().values[i] = static_cast<double>(at % 977);
    }
    const auto written = memory_->write(batch);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  EXPECT_TRUE(memory_->figures().trimmed);
  EXPECT_LE(memory_->figures().bytes, 400'000);
  EXPECT_GT(memory_->figures().bytes, 200'000);
  EXPECT_EQ(memory_->figures().failures, 0U);
  EXPECT_FALSE(std::isnan(temperatures(past(at, 3600, 10)).at(0))) << "the last hour is there";
  memory_->close();
  EXPECT_LE(std::filesystem::file_size(temp_.file("linkhealth.db")), 400'000U);
}

TEST_F(MemoryPastTest, AClockThatJumpsAheadForgetsSlowly) {
  open();
  for (std::int64_t at = 0; at < 6000; at += 10) add(at, 50);
  add(600'000'000, 50);
  EXPECT_GT(past(6000, 6000, 10).signals.size(), 0U)
      << "19 years ahead, and not all is gone at once";
}

TEST_F(MemoryPastTest, AClockThatIsSetBackOverwritesNothing) {
  open();
  add(100, 50);
  add(100, 99);
  EXPECT_EQ(temperatures(past(105, 60)).at(0), 50);
}

TEST_F(MemoryPastTest, WithoutHistoryEventsAreStillKept) {
  open();
  add(0, 50);
  settings_.history = false;
  open(10);
  MemoryBatch batch = event_batch(20);
  batch.rows = {memory_row(20, 50)};
  ASSERT_TRUE(memory_->write(batch));
  const PortPast seen = past(30, 60);
  EXPECT_THAT(seen.signals, IsEmpty());
  EXPECT_THAT(seen.events, SizeIs(1));
}

TEST_F(MemoryPastTest, ADamagedRowIsLeftOutAndCounted) {
  open();
  add(0, 50);
  add(10, 51);
  memory_->close();
  {
    auto database = *SqlDatabase::open(temp_.file("linkhealth.db"));
    ASSERT_TRUE(
        database.execute("UPDATE history_10 SET row=x'0101'||zeroblob(6) WHERE key=(SELECT "
                         "min(key) FROM history_10)"));
  }
  open(20);
  const PortPast seen = past(20, 60);
  EXPECT_EQ(seen.damaged_rows, 1U);
  EXPECT_TRUE(std::isnan(temperatures(seen).at(0)));
  EXPECT_EQ(temperatures(seen).at(1), 51);
}

/// Two cards that swapped their addresses, in the middle of a step of ten minutes.
TEST_F(MemoryPastTest, WhatIsRememberedGoesWithACardToItsNewAddress) {
  const std::string other = "0000:2b:00.0/1";
  open();
  for (const std::int64_t second : {0, 10}) {
    add(second, 40);
    add(second, 70, other);
  }
  MemoryBatch batch = event_batch(10);
  batch.identities = {
      {"AC1", "local", kMemoryPort, "mlx5_0/1", "", "", "", memory_time(0), memory_time(10)}};
  ASSERT_TRUE(memory_->write(batch));

  MemoryBatch waiting, moved;
  waiting.now = moved.now = memory_time(20);
  waiting.rows = {memory_row(20, 40), memory_row(20, 70, other)};
  moved.moves = {{{kMemoryPort, other}, {other, kMemoryPort}}};
  moved.rows = {memory_row(30, 40, other), memory_row(30, 70)};
  waiting.append(moved);
  ASSERT_TRUE(memory_->write(waiting));

  EXPECT_THAT(temperatures(past(39, 40, 10)), testing::ElementsAre(70, 70, 70, 70))
      << "each only its own";
  EXPECT_THAT(temperatures(past(39, 40, 600)), testing::ElementsAre(70))
      << "also the step that is not over";
  EXPECT_THAT(past(39, 40).events, IsEmpty());
  EXPECT_THAT(past(39, 40).identities, IsEmpty());
  const auto theirs = memory_->past({other, memory_time(39), 40, 10});
  ASSERT_TRUE(theirs.ok());
  EXPECT_THAT(temperatures(*theirs), testing::ElementsAre(40, 40, 40, 40));
  EXPECT_THAT(theirs->events, SizeIs(1));
  EXPECT_THAT(theirs->repairs, SizeIs(1));
  EXPECT_THAT(theirs->identities, SizeIs(1));
}

}  // namespace
}  // namespace linkhealth
