#include "storage/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "storage/ledger_file.h"
#include "storage/memory_schema.h"
#include "storage/memory_writer.h"
#include "storage/reference_file.h"
#include "tests/storage/memory_example.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
namespace fs = std::filesystem;

std::vector<std::string> ids(const Result<std::vector<KeptEvent>>& events) {
  std::vector<std::string> out;
  if (events)
    for (const KeptEvent& event : *events) out.push_back(event.id);
  return out;
}

class MemoryTest : public testing::Test {
 protected:
  std::unique_ptr<Memory> open(WallTime now = memory_time(0)) {
    MemorySettings settings;
    settings.directory = temp_.path();
    return Memory::open(settings, now);
  }
  TempDirectory temp_;
};

TEST_F(MemoryTest, ANewOneRemembersNothingAndSaysNothing) {
  const auto memory = open();
  EXPECT_THAT(memory->take_notes(), IsEmpty());
  EXPECT_EQ(memory->remembered().ledger, LedgerState{});
  EXPECT_TRUE(memory->remembered().references.ports.empty());
}

TEST_F(MemoryTest, FaultsRepairsAndWhatGoesWithThemSurviveARestart) {
  ASSERT_TRUE(open()->write(event_batch(1)));
  EXPECT_EQ(open()->remembered().ledger, memory_ledger(1));
}

TEST_F(MemoryTest, AClosedFaultIsNoLongerOpenAndStaysInThePast) {
  auto memory = open();
  ASSERT_TRUE(memory->write(event_batch(1)));
  MemoryBatch closed;
  closed.now = memory_time(100);
  closed.events = {memory_event(1, "closed")};
  closed.ledger = memory_ledger(1);
  closed.ledger->faults.clear();
  ASSERT_TRUE(memory->write(closed));
  memory = open();
  EXPECT_THAT(memory->remembered().ledger.faults, IsEmpty());
  EXPECT_THAT(memory->remembered().ledger.repairs, SizeIs(1));
  EXPECT_THAT(memory->past({kMemoryPort, memory_time(200)})->events, SizeIs(2));
}

TEST_F(MemoryTest, ReferencesSurviveARestart) {
  MemoryBatch batch;
  batch.references =
      ReferenceState{{{kMemoryPort, "AC1", "", memory_time(0), 400000, 4, {{"rx_dbm.1", {-1.5}}}}}};
  ASSERT_TRUE(open()->write(batch));
  EXPECT_EQ(open()->remembered().references, *batch.references);
}

TEST_F(MemoryTest, StateOfAReleaseBeforeIsTakenOverOnceAndRenamed) {
  const ReferenceState references{{{kMemoryPort, "AC1", "", memory_time(0), 400000, 4, {}}}};
  std::ofstream(temp_.file("ledger.json")) << ledger_json(memory_ledger(7));
  std::ofstream(temp_.file("references.json")) << references_json(references);
  auto memory = open();
  EXPECT_THAT(memory->take_notes(), IsEmpty());
  EXPECT_EQ(memory->remembered().ledger, memory_ledger(7));
  EXPECT_EQ(memory->remembered().references, references);
  EXPECT_FALSE(fs::exists(temp_.file("ledger.json")));
  EXPECT_TRUE(fs::exists(temp_.file("ledger.json.imported")));
  EXPECT_TRUE(fs::exists(temp_.file("references.json.imported")));
  memory = open();
  EXPECT_EQ(memory->remembered().ledger, memory_ledger(7)) << "from the database now";
}

TEST_F(MemoryTest, ADamagedStateOfAReleaseBeforeIsSetAsideWithOneSentence) {
  std::ofstream(temp_.file("ledger.json")) << "{";
  const auto memory = open();
  EXPECT_THAT(memory->take_notes(),
              ElementsAre(HasSubstr("kept as " + temp_.file("ledger.json.damaged"))));
  EXPECT_TRUE(memory->write(event_batch(1)));
}

TEST_F(MemoryTest, AnEventIsUndeliveredUntilItIsMarked) {
  auto memory = open();
  memory->add_sink("journal");
  memory->add_sink("webhook");
  ASSERT_TRUE(memory->write(event_batch(1)));
  ASSERT_TRUE(memory->write(event_batch(2)));
  EXPECT_THAT(ids(memory->undelivered("journal", 1)), ElementsAre(memory_event(1).id))
      << "oldest first";
  memory->mark_delivered("journal", memory_event(1).id);
  EXPECT_THAT(ids(memory->undelivered("journal", 9)), ElementsAre(memory_event(2).id));
  EXPECT_THAT(*memory->undelivered("webhook", 9), SizeIs(2)) << "each sink for itself";
  EXPECT_THAT(*memory->undelivered("nobody", 9), IsEmpty());
  memory = open();
  memory->add_sink("journal");
  EXPECT_THAT(ids(memory->undelivered("journal", 9)), ElementsAre(memory_event(2).id))
      << "over a restart";
  EXPECT_EQ(memory->undelivered("journal", 9)->at(0), memory_event(2)) << "with all that it had";
}

TEST_F(MemoryTest, TheNewestEventsAreThereAfterARestart) {
  auto memory = open();
  for (int number = 1; number <= 3; ++number) ASSERT_TRUE(memory->write(event_batch(number)));
  memory = open();
  EXPECT_THAT(ids(memory->newest_events(2)), ElementsAre(memory_event(2).id, memory_event(3).id))
      << "oldest first";
  EXPECT_THAT(*memory->newest_events(9), SizeIs(3));
}

TEST_F(MemoryTest, MarkingAnEarlierEventTakesNothingBack) {
  auto memory = open();
  memory->add_sink("journal");
  ASSERT_TRUE(memory->write(event_batch(1)));
  ASSERT_TRUE(memory->write(event_batch(2)));
  memory->mark_delivered("journal", memory_event(2).id);
  memory->mark_delivered("journal", memory_event(1).id);
  memory->mark_delivered("journal", "no such event");
  EXPECT_THAT(*memory->undelivered("journal", 9), IsEmpty());
}

TEST_F(MemoryTest, ANewSinkBeginsWithTheNextEvent) {
  auto memory = open();
  ASSERT_TRUE(memory->write(event_batch(1)));
  memory->add_sink("webhook");
  EXPECT_THAT(*memory->undelivered("webhook", 9), IsEmpty());
  ASSERT_TRUE(memory->write(event_batch(2)));
  memory = open();
  memory->add_sink("webhook");
  EXPECT_THAT(ids(memory->undelivered("webhook", 9)), ElementsAre(memory_event(2).id));
}

TEST_F(MemoryTest, TheSameEventIsWrittenOnce) {
  auto memory = open();
  memory->add_sink("journal");
  ASSERT_TRUE(memory->write(event_batch(1)));
  ASSERT_TRUE(memory->write(event_batch(1)));
  EXPECT_THAT(*memory->undelivered("journal", 9), SizeIs(1));
}

TEST_F(MemoryTest, IdentitiesSayWhereAModuleWasAndWhen) {
  auto memory = open();
  MemoryBatch batch;
  batch.identities = {{"S1", "local", kMemoryPort, "mlx5_0/1", "ACME", "P1", "optical",
                       memory_time(0), memory_time(0)}};
  ASSERT_TRUE(memory->write(batch));
  batch.identities = {{"S1", "local", kMemoryPort, "mlx5_0/1", "ACME", "P1", "optical",
                       memory_time(3600), memory_time(3600)},
                      {"S1", "local", "other", "mlx5_1/1", "ACME", "P1", "optical",
                       memory_time(9000), memory_time(9000)}};
  ASSERT_TRUE(memory->write(batch));
  const auto places = memory->identities_of("S1");
  ASSERT_TRUE(places.ok());
  ASSERT_THAT(*places, SizeIs(2));
  EXPECT_EQ(places->at(0).place, "mlx5_1/1") << "seen last first";
  EXPECT_EQ(places->at(1).first_seen_at, memory_time(0));
  EXPECT_EQ(places->at(1).last_seen_at, memory_time(3600));
  EXPECT_THAT(memory->past({kMemoryPort, memory_time(9000)})->identities, SizeIs(1));
}

TEST_F(MemoryTest, AMemoryWithoutADirectoryWorksAndLeavesNothing) {
  auto memory = Memory::open(MemorySettings{}, memory_time(0));
  ASSERT_TRUE(memory->write(event_batch(1)));
  EXPECT_THAT(memory->past({kMemoryPort, memory_time(2)})->events, SizeIs(1));
  EXPECT_TRUE(fs::is_empty(temp_.path()));
}

TEST(MemorySchemaTest, MigratesStepByStepAndKeepsWhatIsThere) {
  const TempDirectory temp;
  constexpr std::array<const char*, 2> kNext{"CREATE TABLE a(x); INSERT INTO a VALUES(7);",
                                             "ALTER TABLE a ADD COLUMN y DEFAULT 8;"};
  auto database = *SqlDatabase::open(temp.file("db"));
  ASSERT_TRUE(migrate(database, Migrations(kNext).first(1)));
  ASSERT_TRUE(migrate(database, kNext));
  ASSERT_TRUE(migrate(database, kNext)) << "nothing to do";
  EXPECT_EQ(*database.integer("SELECT x + y FROM a"), 15);
  EXPECT_EQ(*database.integer("PRAGMA user_version"), 2);
}

TEST(MemorySchemaTest, AFailedMigrationLeavesTheVersionBefore) {
  const TempDirectory temp;
  constexpr std::array<const char*, 2> kBad{"CREATE TABLE a(x)",
                                            "CREATE TABLE b(x); INSERT INTO missing VALUES(1)"};
  auto database = *SqlDatabase::open(temp.file("db"));
  EXPECT_FALSE(migrate(database, kBad));
  EXPECT_EQ(*database.integer("PRAGMA user_version"), 1);
  EXPECT_EQ(*database.integer("SELECT count(*) FROM sqlite_master WHERE name='b'"), 0);
}

TEST_F(MemoryTest, AFileOfANewerProgramIsLeftAsItIs) {
  ASSERT_TRUE(open()->write(event_batch(1)));
  {
    auto database = *SqlDatabase::open(temp_.file("linkhealth.db"));
    ASSERT_TRUE(database.execute("PRAGMA user_version=99; PRAGMA application_id=0x4c480063"));
  }
  const auto memory = open();
  EXPECT_THAT(memory->take_notes(),
              ElementsAre(HasSubstr("written by a newer linkhealth (schema 99")));
  EXPECT_FALSE(memory->write(event_batch(2)).ok());
  auto database = *SqlDatabase::open(temp_.file("linkhealth.db"));
  EXPECT_EQ(*database.integer("SELECT count(*) FROM events"), 1);
}

TEST_F(MemoryTest, AVersionThatTheHeaderContradictsIsDamageAndTheOpenFaultsAreTakenOver) {
  for (const char* damage :
       {"PRAGMA user_version=99", "PRAGMA user_version=0", "PRAGMA user_version=-7",
        "PRAGMA application_id=5", "PRAGMA application_id=0x4c480063",
        "PRAGMA application_id=0; PRAGMA user_version=99"}) {
    for (const auto& entry : fs::directory_iterator(temp_.path())) fs::remove(entry);
    ASSERT_TRUE(open()->write(event_batch(1)));
    {
      auto database = *SqlDatabase::open(temp_.file("linkhealth.db"));
      ASSERT_TRUE(database.execute(damage));
    }
    const auto memory = open();
    EXPECT_THAT(memory->take_notes(), ElementsAre(HasSubstr("damaged: its header says schema")))
        << damage;
    EXPECT_EQ(memory->remembered().ledger, memory_ledger(1)) << damage;
    EXPECT_TRUE(memory->write(event_batch(2)).ok()) << damage;
  }
}

TEST_F(MemoryTest, AFileFromBeforeTheMarkIsTakenAsItIsAndMarked) {
  ASSERT_TRUE(open()->write(event_batch(1)));
  {
    auto database = *SqlDatabase::open(temp_.file("linkhealth.db"));
    ASSERT_TRUE(database.execute("PRAGMA application_id=0"));
  }
  const auto memory = open();
  EXPECT_THAT(memory->take_notes(), IsEmpty());
  EXPECT_EQ(memory->remembered().ledger, memory_ledger(1));
  auto database = *SqlDatabase::open(temp_.file("linkhealth.db"));
  EXPECT_EQ(*database.integer("PRAGMA application_id"), 0x4c480001);
}

TEST_F(MemoryTest, AFileThatCannotBeOpenedIsTriedLessAndLess) {
  fs::create_directory(temp_.file("linkhealth.db"));  // something is in the way
  const auto memory = open();
  const auto at = [](int seconds) {
    MemoryBatch batch = event_batch(1);
    batch.events.clear();
    batch.now = memory_time(seconds);
    return batch;
  };
  // Tried at 0, 1, 3, 7, 15 s: what is in the way goes at 8 s.
  for (int second = 1; second <= 8; ++second) {
    const auto written = memory->write(at(second));
    ASSERT_FALSE(written.ok());
    EXPECT_THAT(written.error().message, HasSubstr("linkhealth.db"))
        << "why it fails is said each time";
  }
  fs::remove(temp_.file("linkhealth.db"));
  for (int second = 9; second < 15; ++second)
    EXPECT_FALSE(memory->write(at(second)).ok()) << second;
  EXPECT_TRUE(memory->write(at(15)).ok());
  fs::remove_all(temp_.file("linkhealth.db"));
}

TEST_F(MemoryTest, AClockThatStepsBackDoesNotHoldUpTheNextTry) {
  fs::create_directory(temp_.file("linkhealth.db"));
  const auto memory = open();
  fs::remove(temp_.file("linkhealth.db"));
  MemoryBatch batch = event_batch(1);
  batch.now = memory_time(-1000);
  EXPECT_TRUE(memory->write(batch).ok());
}

TEST_F(MemoryTest, TheWriterWritesAllBeforeItEnds) {
  auto memory = open();
  memory->add_sink("journal");
  std::size_t sent = 0;
  {
    MemoryWriter writer(*memory, [&] {
      const auto events = memory->undelivered("journal", 100);
      ASSERT_TRUE(events.ok());
      sent += events->size();
      if (!events->empty()) memory->mark_delivered("journal", events->back().id);
    });
    for (int i = 0; i < 50; ++i) writer.remember(event_batch(i));
    writer.drain();
    EXPECT_EQ(sent, 50U) << "each was handed on once";
    writer.remember(event_batch(50));
  }
  EXPECT_EQ(sent, 51U);
  EXPECT_FALSE(fs::exists(temp_.file("linkhealth.db-wal"))) << "all is in the file";
  EXPECT_EQ(open()->remembered().ledger, memory_ledger(50));
}

/// `step` is the number of a step of 10 s.
MemoryBatch row_batch(std::int64_t step) {
  MemoryBatch batch;
  batch.now = memory_time(step * 10);
  batch.rows.push_back(memory_row(step * 10, 50));
  return batch;
}

TEST_F(MemoryTest, RowsAloneAreGatheredForAMinuteOrUntilSomethingElseComes) {
  auto memory = open();
  MemoryWriter writer(*memory, [] {});
  writer.drain();
  const std::uint64_t before = writer.figures().writes;
  const auto writes = [&] { return writer.figures().writes - before; };
  for (int step = 0; step < 6; ++step) writer.remember(row_batch(step));
  EXPECT_EQ(writes(), 0U);
  writer.remember(row_batch(6));  // a minute after the first
  while (writes() == 0) std::this_thread::yield();
  writer.remember(row_batch(7));
  writer.remember(event_batch(1));  // is never waited with, and takes the row along
  while (writes() < 2) std::this_thread::yield();
  writer.drain();
  EXPECT_EQ(writes(), 2U);
  MemoryBatch many;
  for (std::size_t i = 0; i <= MemoryWriter::kGatheredRows; ++i)
    many.rows.push_back(memory_row(80, 50));
  many.now = memory_time(80);
  writer.remember(many);
  while (writes() < 3) std::this_thread::yield();
}

TEST_F(MemoryTest, WhoAsksForThePastSeesWhatWasGathered) {
  auto memory = open();
  MemoryWriter writer(*memory, [] {});
  for (int step = 0; step < 3; ++step) writer.remember(row_batch(step));
  PastQuery query;
  query.port = memory_row(0, 50).port;
  query.now = memory_time(30);
  query.since_s = 60;
  const auto past = memory->past(query);
  ASSERT_TRUE(past.ok());
  ASSERT_FALSE(past->signals.empty());
  EXPECT_EQ(std::ranges::count_if(past->signals.front().values,
                                  [](double value) { return !std::isnan(value); }),
            3);
}

TEST_F(MemoryTest, WhatIsTooMuchToWaitIsDroppedAndCounted) {
  auto memory = open();
  std::mutex gate;
  std::unique_lock closed(gate);
  MemoryWriter writer(*memory, [&] { const std::lock_guard wait(gate); });  // a disk that hangs
  MemoryBatch batch;
  for (std::size_t i = 0; i < Memory::kMaxWaitingRows + 7; ++i)
    batch.rows.push_back(memory_row(static_cast<std::int64_t>(i) * 10, 50));
  writer.remember(batch);
  EXPECT_EQ(writer.figures().dropped_rows, 7U);
  closed.unlock();
  writer.drain();
  EXPECT_EQ(writer.figures().dropped_rows, 7U);
}

}  // namespace
}  // namespace linkhealth
