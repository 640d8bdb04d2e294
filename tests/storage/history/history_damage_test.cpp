// Damaged files, full and read-only disks, and a kill at any moment: on the real thing.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <set>

#include "storage/history/history_writer.h"
#include "tests/storage/history/history_example.h"
#include "tests/support/rounds.h"

namespace linkhealth {
namespace {

using namespace test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
namespace fs = std::filesystem;

class HistoryDamageTest : public HistoryTest {
 protected:
  std::vector<fs::path> set_aside() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(temp_.path()))
      if (entry.path().string().find(".damaged-") != std::string::npos)
        found.push_back(entry.path());
    return found;
  }
  /// A closed database with an event and so many signal rows.
  void write_database(int rows) const {
    auto store = open();
    ASSERT_TRUE(store->write(event_batch(1)));
    HistoryBatch batch;
    for (int i = 0; i < rows; ++i) batch.rows.push_back(history_row(i * 10, 50));
    ASSERT_TRUE(store->write(batch));
    store->close();
  }
  /// Damages the database and says how; six kinds.
  std::string damage_somehow(std::mt19937& random, int kind) const {
    constexpr std::uintmax_t kPage = 4096, kHeader = 100;
    const auto bytes = fs::file_size(file());
    const std::uintmax_t at = kind == 1 ? random() % kHeader : random() % bytes;
    if (kind <= 1) {
      std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
      const auto old = stream.seekg(static_cast<std::streamoff>(at)).get();
      const int bit = 1 << random() % 8;
      stream.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(old ^ bit));
      return "bit " + std::to_string(bit) + " of byte " + std::to_string(at);
    }
    if (kind == 2) {
      fs::resize_file(file(), at);
      return "cut to " + std::to_string(at);
    }
    if (kind == 3) {
      overwrite(at, std::string(1 + random() % 600, static_cast<char>(random())));
      return "bytes from " + std::to_string(at);
    }
    if (kind == 4) {
      overwrite(at / kPage * kPage, std::string(kPage, static_cast<char>(random())));
      return "page " + std::to_string(at / kPage);
    }
    constexpr std::array kTables = {"signals", "events", "repairs", "identities", "state"};
    const std::string table = kTables[random() % kTables.size()];
    SqlDatabase::open(file())->execute(
        ((random() % 2 == 0 ? "DROP TABLE " : "DELETE FROM ") + table).c_str());
    return "table " + table;
  }
  void overwrite(std::uintmax_t at, const std::string& bytes) const {
    std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary)
            .seekp(static_cast<std::streamoff>(at))
        << bytes;
  }
};

TEST_F(HistoryDamageTest, AFileThatIsNoDatabaseIsSetAsideWithOneError) {
  std::ofstream(file()) << std::string(5000, 'x');
  auto store = open();
  EXPECT_THAT(store->new_notes(),
              ElementsAre(AllOf(HasSubstr("not a database"), HasSubstr("kept as"))));
  EXPECT_THAT(set_aside(), SizeIs(1));
  ASSERT_TRUE(store->write(event_batch(1)));
  store = open();
  EXPECT_THAT(store->new_notes(), IsEmpty()) << "the new one is whole";
  EXPECT_EQ(store->saved().ledger, history_ledger(1));
}

TEST_F(HistoryDamageTest, TheOpenFaultsOfADamagedFileAreTakenOver) {
  write_database(900);
  overwrite(fs::file_size(file()) - 4096, std::string(4096, '\xa5'));  // the last pages are signals
  const auto store = open();
  EXPECT_THAT(store->new_notes(), ElementsAre(HasSubstr("with the open faults of the old one")));
  EXPECT_EQ(store->saved().ledger, history_ledger(1));
  EXPECT_THAT(set_aside(), SizeIs(1));
}

TEST_F(HistoryDamageTest, AnyDamageLeavesAWorkingStore) {
  std::mt19937 random(3);
  int taken_over = 0, of_newer = 0;
  for (int round = 0; round < rounds(60, 600); ++round) {
    for (const auto& entry : fs::directory_iterator(temp_.path())) fs::remove(entry);
    write_database(300);
    const std::string damage = damage_somehow(random, round % 6);
    auto store = open();
    const auto written = store->write(event_batch(2));
    const auto notes = store->new_notes();
    EXPECT_LE(notes.size(), 1U) << "one error at most: " << damage;
    // The one bit that says "a later version": such a file is kept as it is.
    if (!written && written.error().message.find("newer linkhealth") != std::string::npos) {
      ++of_newer;
      continue;
    }
    EXPECT_TRUE(written.ok()) << damage << ": " << written.error().message;
    taken_over += static_cast<int>(!notes.empty());
    const auto timeline = store->timeline({kHistoryPort, history_time(4000)});
    EXPECT_TRUE(timeline.ok() || means_damage(timeline.error())) << damage;
    store->close();
    EXPECT_TRUE(open()->write(event_batch(3)).ok()) << "after a restart: " << damage;
  }
  EXPECT_LE(of_newer, rounds(60, 600) / 50);
  std::cout << "     " << taken_over << " were set aside, " << of_newer << " looked newer\n";
}

TEST_F(HistoryDamageTest, AnEventThatCannotBeReadHidesNoOther) {
  auto store = open();
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(store->write(event_batch(i)));
  store->close();
  SqlDatabase::open(file())->execute("UPDATE events SET document='{\"at' WHERE number=2");
  SqlDatabase::open(file())->execute("UPDATE repairs SET document='[' WHERE at_ms%2000=0");
  store = open();
  EXPECT_THAT(ids_of(store->newest_events(10)), SizeIs(2));
  const auto timeline = store->timeline({kHistoryPort, history_time(20)});
  ASSERT_TRUE(timeline.ok()) << timeline.error().message;
  EXPECT_THAT(timeline->events, SizeIs(2));
}

/// Runs `body` in a child; its exit code is what `body` returns.
template <typename Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The steps of a full disk, each with its own exit code: in a child, because the limit is the
/// process's.
int write_on_a_full_disk(HistoryStore& store) {
  HistoryWriter writer(store, [] {});
  const auto write = [&writer](int number) {
    writer.add(event_batch(number));
    writer.drain();
    return writer.figures().working;
  };
  if (!write(1)) return 1;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = 4096;  // nothing more goes into any file
  setrlimit(RLIMIT_FSIZE, &limit);
  for (int i = 2; i < 12; ++i)
    if (write(i)) return 2;
  const HistoryFigures full = writer.figures();
  if (full.failures != 10 || full.error.empty()) return 3;
  limit.rlim_cur = before;
  setrlimit(RLIMIT_FSIZE, &limit);
  if (!write(12)) return 4;
  return writer.figures().error.empty() ? 0 : 5;
}

TEST_F(HistoryDamageTest, AFullDiskLosesNoEvent) {
  EXPECT_EQ(in_child([this] {
              const auto store = open();
              return write_on_a_full_disk(*store);
            }),
            0);
  auto store = open();
  EXPECT_THAT(store->new_notes(), IsEmpty());
  EXPECT_EQ(store->saved().ledger, history_ledger(12));
  EXPECT_THAT(store->timeline({kHistoryPort, history_time(20)})->events, SizeIs(12));
}

TEST_F(HistoryDamageTest, ADirectoryThatCannotBeWrittenIsOneErrorAndKnownFaultsAreKnown) {
  {
    auto store = open();
    ASSERT_TRUE(store->write(event_batch(1)));
    store->close();
  }
  constexpr auto kRead = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
  fs::permissions(temp_.path(),
                  kRead | fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec);
  fs::permissions(file(), kRead);
  const int code = in_child([this] {
    if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0) return 1;
    auto store = open();
    if (store->new_notes().size() != 1) return 2;
    if (!(store->saved().ledger == history_ledger(1))) return 3;
    if (store->write(event_batch(2))) return 4;
    if (!store->new_notes().empty()) return 5;  // reported once
    return store->figures().working ? 6 : 0;
  });
  fs::permissions(temp_.path(), fs::perms::owner_all);
  EXPECT_EQ(code, 0);
}

/// A small daemon: writes events one after the other and reports each that is written through a
/// pipe.
[[noreturn]] void write_until_killed(HistoryStore& store, int pipe, int first) {
  for (int i = first;; ++i) {
    HistoryBatch batch = event_batch(i);
    batch.rows = {history_row(std::int64_t{i} * 10, 50)};
    if (!store.write(batch)) _exit(2);
    const std::string line = event_id(batch.events[0].event) + "\n";
    if (write(pipe, line.data(), line.size()) < 0) _exit(1);
  }
}

/// The whole lines of `text` and of what still is in the pipe.
std::vector<std::string> lines_of(int fd, std::string text) {
  std::array<char, 65536> chunk{};
  for (ssize_t got = 0; (got = read(fd, chunk.data(), chunk.size())) > 0;)
    text.append(chunk.data(), static_cast<std::size_t>(got));
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    if (end == std::string::npos) break;
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST_F(HistoryDamageTest, AKillAtAnyMomentLosesNothingThatWasWritten) {
  std::mt19937 random(11);
  std::size_t total = 0;  // events in the database, over all lives
  for (int life = 0; life < rounds(40, 1000); ++life) {
    std::array<int, 2> pipes{};
    ASSERT_EQ(pipe2(pipes.data(), O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto store = open();
      write_until_killed(*store, pipes[1], static_cast<int>(total) + 1);
    }
    close(pipes[1]);
    // The kill comes after so many bytes were reported, not after a time: the moment within the
    // next write is the machine's.
    std::string first;
    for (std::size_t wanted = 1 + random() % 1500; first.size() < wanted;) {
      char byte = 0;
      ASSERT_EQ(read(pipes[0], &byte, 1), 1);
      first += byte;
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status))
        << "life " << life << " ended by itself with " << WEXITSTATUS(status);
    const auto reported = lines_of(pipes[0], first);
    close(pipes[0]);

    const auto store = open();
    EXPECT_THAT(store->new_notes(), IsEmpty()) << "life " << life;
    const auto timeline = store->timeline({kHistoryPort, history_time(10'000'000), 1e8});
    ASSERT_TRUE(timeline.ok());
    const auto ids = ids_of(timeline->events);
    ASSERT_GE(ids.size(), total + reported.size());
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), ids.size()) << "none is there twice";
    for (std::size_t i = 0; i < reported.size(); ++i)
      ASSERT_EQ(ids[total + i], reported[i]) << "reported, and not in the database";
    EXPECT_LE(ids.size(), total + reported.size() + 1) << "at most one was written, not reported";
    ASSERT_THAT(store->saved().ledger.faults, SizeIs(1));
    EXPECT_EQ(store->saved().ledger.faults[0].id, timeline->events.back().fault.id)
        << "the state is that of the last event, never that of another";
    total = ids.size();
  }
  EXPECT_GT(total, 200U);
  std::cout << "     " << rounds(40, 1000) << " kills, " << total
            << " events, none lost, none doubled\n";
}

}  // namespace
}  // namespace linkhealth
