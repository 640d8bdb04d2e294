#include "storage/history/history_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "storage/history/history_writer.h"
#include "tests/storage/history/history_example.h"

namespace linkhealth {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
namespace fs = std::filesystem;

class HistoryStoreTest : public HistoryTest {
 protected:
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(HistoryStoreTest, StateAndEventsSurviveARestart) {
  auto store = open();
  EXPECT_THAT(store->new_notes(), IsEmpty());
  EXPECT_EQ(store->saved().ledger, LedgerState{});
  HistoryBatch batch = event_batch(1);
  batch.references = ReferenceState{
      {{kHistoryPort, "AC1", "", history_time(0), 400000, 4, {{"rx_dbm.1", {-1.5}}}}}};
  ASSERT_TRUE(store->write(batch));
  store = open();
  EXPECT_EQ(store->saved().ledger, history_ledger(1));
  EXPECT_EQ(store->saved().references, *batch.references);

  HistoryBatch closed;
  closed.now = history_time(100);
  closed.events = {history_event(1, FaultEventKind::kClosed)};
  closed.ledger = history_ledger(1);
  closed.ledger->faults.clear();
  ASSERT_TRUE(store->write(closed));
  ASSERT_TRUE(store->write(closed)) << "an event that is there is not written again";
  store = open();
  EXPECT_THAT(store->saved().ledger.faults, IsEmpty());
  EXPECT_THAT(store->saved().ledger.repairs, SizeIs(1));
  EXPECT_THAT(ids_of(store->newest_events(9)),
              ElementsAre(event_id(batch.events[0].event), event_id(closed.events[0].event)));
  EXPECT_THAT(ids_of(store->newest_events(1)), ElementsAre(event_id(closed.events[0].event)));
  const auto timeline = store->timeline({kHistoryPort, history_time(200)});
  ASSERT_TRUE(timeline);
  EXPECT_THAT(timeline->events, SizeIs(2));
  EXPECT_EQ(timeline->events[0].fault.summary, "lane 2 receives -9.1 dBm");
  EXPECT_THAT(timeline->repairs, SizeIs(1));
}

TEST_F(HistoryStoreTest, IdentitiesRecordWhereAModuleWasAndWhen) {
  auto store = open();
  HistoryBatch batch;
  const auto seen = [](const std::string& port, const std::string& place, int at_s) {
    return KeptIdentity{"S1",
                        "local",
                        port,
                        place,
                        "ACME",
                        "P1",
                        "optical",
                        history_time(at_s),
                        history_time(at_s)};
  };
  batch.identities = {seen(kHistoryPort, "mlx5_0/1", 0)};
  ASSERT_TRUE(store->write(batch));
  batch.identities = {seen(kHistoryPort, "mlx5_0/1", 3600), seen("other", "mlx5_1/1", 9000)};
  ASSERT_TRUE(store->write(batch));
  const auto places = store->identities_of("S1");
  ASSERT_TRUE(places);
  ASSERT_THAT(*places, SizeIs(2));
  EXPECT_EQ(places->at(0).place, "mlx5_1/1") << "seen last first";
  EXPECT_EQ(places->at(1).first_seen_at, history_time(0));
  EXPECT_EQ(places->at(1).last_seen_at, history_time(3600));
  EXPECT_THAT(store->timeline({kHistoryPort, history_time(9000)})->identities, SizeIs(1));
}

TEST_F(HistoryStoreTest, WithoutADirectoryItWorksAndLeavesNothing) {
  auto store = HistoryStore::open(HistorySettings{}, history_time(0));
  ASSERT_TRUE(store->write(event_batch(1)));
  EXPECT_THAT(store->timeline({kHistoryPort, history_time(2)})->events, SizeIs(1));
  EXPECT_TRUE(fs::is_empty(temp_.path()));
}

TEST_F(HistoryStoreTest, AFileOfANewerProgramIsLeftAsItIs) {
  ASSERT_TRUE(open()->write(event_batch(1)));
  SqlDatabase::open(file())->execute("PRAGMA application_id=0x4c480063");
  const auto store = open();
  EXPECT_THAT(store->new_notes(),
              ElementsAre(HasSubstr("written by a newer linkhealth (schema 99")));
  EXPECT_FALSE(store->write(event_batch(2)));
  EXPECT_EQ(SqlDatabase::open(file())->integer("SELECT count(*) FROM events"), 1);
}

TEST_F(HistoryStoreTest, AFileOfANewerProgramKeepsEachByteAlsoAfterThatWasKilled) {
  ASSERT_TRUE(open()->write(event_batch(1)));
  auto newer = SqlDatabase::open(file());
  newer->execute("PRAGMA application_id=0x4c480063; INSERT INTO state VALUES('x', 'y')");
  ASSERT_TRUE(newer->result());
  const std::string killed = temp_.file("killed");  // as it is on the disk now
  fs::create_directory(killed);
  for (const char* part : {"", "-wal"}) fs::copy(file() + part, killed + "/linkhealth.db" + part);
  settings_.directory = killed;
  EXPECT_FALSE(open()->write(event_batch(2)));
  EXPECT_EQ(contents(killed + "/linkhealth.db"), contents(file()));
  EXPECT_GT(contents(file() + "-wal").size(), 0U);
  EXPECT_EQ(contents(killed + "/linkhealth.db-wal"), contents(file() + "-wal"));
}

/// SQLite's file format, 1.3: the schema format number at 47, which versions may write and read.
TEST_F(HistoryStoreTest, AByteOfTheHeaderThatSqliteRefusesIsDamage) {
  for (const int at : {18, 19, 47, 59}) {
    for (const auto& entry : fs::directory_iterator(temp_.path())) fs::remove(entry);
    ASSERT_TRUE(open()->write(event_batch(1)));
    std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary).seekp(at) << '\x7f';
    const auto store = open();
    EXPECT_TRUE(store->write(event_batch(2))) << at;
    EXPECT_THAT(store->new_notes(), SizeIs(1)) << at;
  }
}

TEST_F(HistoryStoreTest, AMissingTableIsDamage) {
  for (const char* table : {"signals", "events", "repairs", "identities", "state"}) {
    for (const auto& entry : fs::directory_iterator(temp_.path())) fs::remove(entry);
    ASSERT_TRUE(open()->write(event_batch(1)));
    SqlDatabase::open(file())->execute((std::string("DROP TABLE ") + table).c_str());
    const auto store = open();
    HistoryBatch batch = event_batch(2);
    batch.rows = {history_row(2, 50)};
    batch.identities = {
        {"AC1", "local", kHistoryPort, "mlx5_0/1", "", "", "", batch.now, batch.now}};
    EXPECT_TRUE(store->write(batch)) << table;
    EXPECT_THAT(store->new_notes(), ElementsAre(HasSubstr("kept as"))) << table;
    EXPECT_THAT(ids_of(store->newest_events(1)), SizeIs(1)) << table;
  }
}

TEST_F(HistoryStoreTest, WhatIsNoRegularFileIsNotOpened) {
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  const auto store = open();
  EXPECT_THAT(store->new_notes(), ElementsAre(HasSubstr("not a regular file")));
  EXPECT_FALSE(store->write(event_batch(1)));
}

TEST_F(HistoryStoreTest, AFileOfAnUnknownSchemaIsSetAside) {
  for (const char* damage : {"PRAGMA application_id=5", "PRAGMA application_id=0x4c480001",
                             "PRAGMA application_id=0", "PRAGMA application_id=-7"}) {
    for (const auto& entry : fs::directory_iterator(temp_.path())) fs::remove(entry);
    ASSERT_TRUE(open()->write(event_batch(1)));
    SqlDatabase::open(file())->execute(damage);
    const auto store = open();
    EXPECT_THAT(store->new_notes(), ElementsAre(HasSubstr("unknown schema"))) << damage;
    EXPECT_EQ(store->saved().ledger, history_ledger(1)) << damage;
    EXPECT_TRUE(store->write(event_batch(2))) << damage;
  }
}

TEST_F(HistoryStoreTest, AFileThatCannotBeOpenedIsRetriedEachTenSeconds) {
  fs::create_directory(file());  // a directory of that name
  const auto store = open();
  EXPECT_THAT(store->new_notes(), SizeIs(1));
  const auto try_at = [&store](int second) {
    HistoryBatch batch = event_batch(1);
    batch.now = history_time(second);
    return store->write(batch);
  };
  EXPECT_THAT(try_at(1).error().message, HasSubstr("linkhealth.db"));
  fs::remove(file());
  EXPECT_THAT(try_at(9).error().message, HasSubstr("linkhealth.db")) << "each write reports why";
  EXPECT_TRUE(try_at(10));
  EXPECT_TRUE(store->figures().working);
}

TEST_F(HistoryStoreTest, AClockThatStepsBackDoesNotDelayTheNextAttempt) {
  fs::create_directory(file());
  const auto store = open();
  fs::remove(file());
  HistoryBatch batch = event_batch(1);
  batch.now = history_time(-1000);
  EXPECT_TRUE(store->write(batch));
}

TEST_F(HistoryStoreTest, TheWriterWritesAllBeforeItEnds) {
  auto store = open();
  std::size_t attempts = 0;
  {
    HistoryWriter writer(*store, [&] { ++attempts; });
    for (int i = 0; i < 50; ++i) writer.add(event_batch(i));
    writer.drain();
    EXPECT_THAT(*store->newest_events(100), SizeIs(50));
    writer.add(event_batch(50));
  }
  EXPECT_GT(attempts, 1U);
  EXPECT_FALSE(fs::exists(file() + "-wal")) << "all is in the file";
  EXPECT_EQ(open()->saved().ledger, history_ledger(50));
}

TEST_F(HistoryStoreTest, TheWriterKeepsWhatCouldNotBeWritten) {
  fs::create_directory(file());
  auto store = open();
  HistoryWriter writer(*store, [] {});
  for (int i = 0; i < 3; ++i) writer.add(event_batch(i));
  writer.drain();
  EXPECT_FALSE(writer.figures().working);
  fs::remove(file());
  writer.add(event_batch(60));
  writer.drain();
  EXPECT_TRUE(writer.figures().working);
  EXPECT_THAT(*store->newest_events(100), SizeIs(4));
}

TEST_F(HistoryStoreTest, TheWriterDropsTheOldestOfTooMuchAndCountsIt) {
  auto store = open();
  std::promise<void> disk;
  HistoryWriter writer(*store, [answer = disk.get_future().share()] { answer.wait(); });
  writer.add(event_batch(1));
  while (store->figures().writes == 0) std::this_thread::yield();
  HistoryBatch batch;
  for (std::size_t i = 0; i < HistoryWriter::kMaxWaitingRows + 7; ++i)
    batch.rows.push_back(history_row(static_cast<std::int64_t>(i) * 10, 50));
  writer.add(batch);
  EXPECT_EQ(writer.figures().dropped_rows, 7U);
  disk.set_value();
  writer.drain();
  EXPECT_EQ(writer.figures().dropped_rows, 7U);
}

}  // namespace
}  // namespace linkhealth
