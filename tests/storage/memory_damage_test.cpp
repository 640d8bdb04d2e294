// Damaged files, full and read-only disks, and a kill at any moment: on the real thing.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "storage/memory.h"
#include "tests/storage/memory_example.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using namespace test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
namespace fs = std::filesystem;

class MemoryDamageTest : public testing::Test {
 protected:
  std::unique_ptr<Memory> open() const {
    MemorySettings settings;
    settings.directory = temp_.path();
    return Memory::open(settings, memory_time(0));
  }
  [[nodiscard]] std::string file() const { return temp_.file("linkhealth.db"); }
  std::vector<fs::path> set_aside() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(temp_.path()))
      if (entry.path().string().find(".damaged-") != std::string::npos)
        found.push_back(entry.path());
    return found;
  }
  TempDirectory temp_;
};

TEST_F(MemoryDamageTest, AFileThatIsNoDatabaseIsSetAsideWithOneError) {
  std::ofstream(file()) << std::string(5000, 'x');
  auto memory = open();
  EXPECT_THAT(memory->take_notes(),
              ElementsAre(AllOf(HasSubstr("not a database"), HasSubstr("kept as"))));
  EXPECT_THAT(set_aside(), SizeIs(1));
  ASSERT_TRUE(memory->write(event_batch(1)));
  memory = open();
  EXPECT_THAT(memory->take_notes(), IsEmpty()) << "the new one is whole";
  EXPECT_EQ(memory->remembered().ledger, memory_ledger(1));
}

TEST_F(MemoryDamageTest, TheOpenFaultsOfADamagedFileAreTakenOver) {
  {
    auto memory = open();
    ASSERT_TRUE(memory->write(event_batch(1)));
    MemoryBatch batch;
    for (int i = 0; i < 900; ++i) batch.rows.push_back(memory_row(i * 10, 50));
    ASSERT_TRUE(memory->write(batch));
    memory->close();
  }
  // The last pages are history: overwrite one of them.
  const auto bytes = fs::file_size(file());
  std::fstream damaged(file(), std::ios::in | std::ios::out | std::ios::binary);
  damaged.seekp(static_cast<std::streamoff>(bytes - 4096));
  damaged << std::string(4096, '\xa5');
  damaged.close();
  const auto memory = open();
  EXPECT_THAT(memory->take_notes(), ElementsAre(HasSubstr("with the open faults that it had")));
  EXPECT_EQ(memory->remembered().ledger, memory_ledger(1));
  EXPECT_THAT(set_aside(), SizeIs(1));
}

TEST_F(MemoryDamageTest, AnyDamageLeavesADaemonThatGoesOn) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    for (const auto& entry : fs::directory_iterator(temp_.path())) fs::remove(entry);
    {
      auto memory = open();
      ASSERT_TRUE(memory->write(event_batch(1)));
      MemoryBatch batch;
      for (int i = 0; i < 300; ++i) batch.rows.push_back(memory_row(i * 10, 50));
      ASSERT_TRUE(memory->write(batch));
      memory->close();
    }
    const auto bytes = fs::file_size(file());
    if (round % 3 == 0) {
      fs::resize_file(file(), random() % bytes);
    } else {
      std::fstream damaged(file(), std::ios::in | std::ios::out | std::ios::binary);
      damaged.seekp(static_cast<std::streamoff>(random() % bytes));
      damaged << std::string(1 + random() % 600, static_cast<char>(random()));
    }
    auto memory = open();
    const auto written = memory->write(event_batch(2));
    EXPECT_TRUE(written.ok()) << "round " << round << ": " << written.error().message;
    EXPECT_LE(memory->take_notes().size(), 1U) << "one error at most";
    const auto past = memory->past({kMemoryPort, memory_time(4000)});
    EXPECT_TRUE(past.ok() || means_damage(past.error()));
  }
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
int write_on_a_full_disk(Memory& memory) {
  memory.add_sink("journal");
  if (!memory.write(event_batch(1))) return 1;
  memory.mark_delivered("journal", memory_event(1).id);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = 4096;  // nothing more goes into any file
  setrlimit(RLIMIT_FSIZE, &limit);
  for (int i = 2; i < 12; ++i)
    if (memory.write(event_batch(i))) return 2;
  const MemoryFigures full = memory.figures();
  if (full.working || full.failures != 10 || full.error.empty()) return 3;
  const auto events = memory.undelivered("journal", 100);
  if (!events || events->size() != 10 || events->front().id != memory_event(2).id) return 4;
  memory.mark_delivered("journal", memory_event(6).id);
  if (memory.undelivered("journal", 100)->size() != 5) return 5;
  limit.rlim_cur = before;
  setrlimit(RLIMIT_FSIZE, &limit);
  if (!memory.write(event_batch(12))) return 6;
  if (!memory.figures().working || !memory.figures().error.empty()) return 7;
  return memory.undelivered("journal", 100)->size() == 6 ? 0 : 8;
}

TEST_F(MemoryDamageTest, AFullDiskLosesNothingThatIsTold) {
  EXPECT_EQ(in_child([this] {
              const auto memory = open();
              return write_on_a_full_disk(*memory);
            }),
            0);
  auto memory = open();
  EXPECT_THAT(memory->take_notes(), IsEmpty());
  EXPECT_EQ(memory->remembered().ledger, memory_ledger(12));
  memory->add_sink("journal");
  EXPECT_THAT(*memory->undelivered("journal", 100), SizeIs(6))
      << "what was sent meanwhile is not sent again";
  EXPECT_THAT(memory->past({kMemoryPort, memory_time(20)})->events, SizeIs(12));
}

TEST_F(MemoryDamageTest, ADirectoryThatCannotBeWrittenIsOneErrorAndKnownFaultsAreKnown) {
  {
    auto memory = open();
    ASSERT_TRUE(memory->write(event_batch(1)));
    memory->close();
  }
  constexpr auto kRead = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
  fs::permissions(temp_.path(),
                  kRead | fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec);
  fs::permissions(file(), kRead);
  const int code = in_child([this] {
    if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0) return 1;
    auto memory = open();
    if (memory->take_notes().size() != 1) return 2;
    if (!(memory->remembered().ledger == memory_ledger(1))) return 3;
    memory->add_sink("journal");
    if (memory->write(event_batch(2))) return 4;
    if (!memory->take_notes().empty()) return 5;  // not said again
    const auto events = memory->undelivered("journal", 9);
    if (!events || events->size() != 1) return 6;  // told all the same
    return memory->figures().working ? 7 : 0;
  });
  fs::permissions(temp_.path(), fs::perms::owner_all);
  EXPECT_EQ(code, 0);
}

TEST_F(MemoryDamageTest, ADiskThatCanBeWrittenAgainIsWritten) {
  fs::create_directory(temp_.file("linkhealth.db"));  // something is in the way
  auto memory = open();
  EXPECT_THAT(memory->take_notes(), SizeIs(1));
  memory->add_sink("journal");
  EXPECT_FALSE(memory->write(event_batch(1)).ok());
  fs::remove(temp_.file("linkhealth.db"));
  EXPECT_TRUE(memory->write(event_batch(4)).ok());
  EXPECT_THAT(memory->past({kMemoryPort, memory_time(20)})->events, SizeIs(2));
}

/// A daemon in small: writes events one after the other, tells each that is written, marks it. What
/// it tells goes through a pipe, as to a sender.
[[noreturn]] void write_until_killed(Memory& memory, int told, int first) {
  memory.add_sink("journal");
  const auto tell_all = [&] {
    const auto events = memory.undelivered("journal", 100);
    if (!events) _exit(1);
    for (const KeptEvent& event : *events) {
      const std::string line = event.id + "\n";
      if (write(told, line.data(), line.size()) < 0) _exit(1);
      memory.mark_delivered("journal", event.id);
    }
  };
  tell_all();
  for (int i = first;; ++i) {
    MemoryBatch batch = event_batch(i);
    batch.rows = {memory_row(std::int64_t{i} * 10, 50)};
    if (!memory.write(batch)) _exit(2);
    tell_all();
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

TEST_F(MemoryDamageTest, AKillAtAnyMomentLosesNothingThatWasToldAndTellsNothingAsNew) {
  std::mt19937 random(11);
  std::vector<std::string> told;  // over all lives
  for (int life = 0; life < 40; ++life) {
    std::array<int, 2> pipes{};
    ASSERT_EQ(pipe2(pipes.data(), O_CLOEXEC), 0);
    const auto next = static_cast<int>(told.size()) + 1;
    const pid_t child = fork();
    if (child == 0) {
      const auto memory = open();
      write_until_killed(*memory, pipes[1], std::max(next, 1));
    }
    close(pipes[1]);
    // The kill comes after so many bytes were told, not after a time: the moment within the next
    // step is the machine's.
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
    const auto lines = lines_of(pipes[0], first);
    close(pipes[0]);
    for (const std::string& line : lines)
      if (told.empty() || told.back() != line)
        told.push_back(line);  // the last one may come twice, with the same id

    const auto memory = open();
    EXPECT_THAT(memory->take_notes(), IsEmpty()) << "life " << life;
    const auto past = memory->past({kMemoryPort, memory_time(10'000'000), 1e8});
    ASSERT_TRUE(past.ok());
    ASSERT_GE(past->events.size(), told.size());
    for (std::size_t i = 0; i < told.size(); ++i)
      ASSERT_EQ(past->events[i].id, told[i]) << "told, and not remembered";
    EXPECT_LE(past->events.size(), told.size() + 1) << "at most one was written and not told yet";
    ASSERT_THAT(memory->remembered().ledger.faults, SizeIs(1));
    EXPECT_EQ(memory->remembered().ledger.faults[0].id, past->events.back().fault_id)
        << "the state is that of the last event, never that of another";
  }
  EXPECT_GT(told.size(), 200U);
}

}  // namespace
}  // namespace linkhealth
