// Imported files: which files are trusted, and the readings of a round.
#include "probes/peer/peer_import.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "probes/peer/import_file.h"
#include "tests/probes/peer/import_files.h"
#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

namespace fs = std::filesystem;
using testing::file_text;
using testing::kPeer;
using testing::ManualClock;

/// A clock whose wall time is set.
class SteppingClock final : public ManualClock {
 public:
  [[nodiscard]] WallTime wall() const override { return ManualClock::wall() + step; }
  Milliseconds step{0};
};

/// A real directory.
class PeerImport : public ::testing::Test {
 protected:
  void SetUp() override {
    directory = fs::temp_directory_path() / ("lh-import-" + std::to_string(getpid()));
    fs::remove_all(directory);
    fs::create_directories(directory);
    fs::permissions(directory, fs::perms(0755));
    probe = make_import_probe(open_import_directory(directory), clock, {});
    InventoryPort port;
    port.id.device = "mlx5_0";
    port.id.netdev = "ibp27s0";
    port.id.pci = "0000:1b:00.0";
    ports.push_back(port);
  }
  void TearDown() override { fs::remove_all(directory); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory / name) << text;
    fs::permissions(directory / name, fs::perms(0644));
  }
  [[nodiscard]] std::string now() const { return format_rfc3339(clock.wall()); }
  void write_ports(const std::string& name, const std::string& ports_json,
                   double valid_for_s = 120) const {
    write(name, file_text(now(), ports_json, valid_for_s));
  }
  /// One round: the reading of the port; the gaps of the node in `node_gaps`.
  PeerReading read() {
    node_gaps.clear();
    PeerReading found;
    for (PeerReading& reading : probe->read(ports, clock.steady())) {
      if (reading.port == "mlx5_0/1") found = std::move(reading);
      for (const Gap& gap : reading.gaps)
        if (gap.port.empty()) node_gaps.push_back(gap.reason);
    }
    return found;
  }
  /// The one gap of a round that gives no reading.
  std::string only_gap() {
    const PeerReading reading = read();
    EXPECT_FALSE(reading.peer || reading.module);
    EXPECT_TRUE(reading.answered) << "the earlier reading of the file ends";
    return node_gaps.size() == 1 ? node_gaps.front() : fmt::format("{} gaps", node_gaps.size());
  }

  SteppingClock clock;
  fs::path directory;
  std::unique_ptr<PeerProbe> probe;
  std::vector<InventoryPort> ports;
  std::vector<std::string> node_gaps;
};

TEST_F(PeerImport, AReadingHasItsTimeAndItsEnd) {
  write_ports("switch.json", kPeer);
  clock.advance(Milliseconds(20'000));
  const PeerReading reading = read();
  ASSERT_TRUE(reading.peer);
  EXPECT_EQ(reading.peer->system, "leaf-12");
  EXPECT_EQ(reading.read_at, clock.steady() - Milliseconds(20'000));
  EXPECT_EQ(reading.valid_until, clock.steady() + Milliseconds(100'000));
  EXPECT_TRUE(node_gaps.empty());
  clock.advance(Milliseconds(15'000));
  EXPECT_EQ(read().read_at, reading.read_at) << "the same reading";
}

TEST_F(PeerImport, AnAgeInTheFileMakesTheReadingOlder) {
  write_ports("switch.json", R"("mlx5_0/1":{"peer":{"system":"leaf-12","age_s":30}})");
  const PeerReading reading = read();
  EXPECT_EQ(reading.read_at, clock.steady() - Milliseconds(30'000));
  EXPECT_FALSE(reading.peer->age_s);
}

TEST_F(PeerImport, APortMayHaveAnyOfItsNames) {
  for (const char* name : {"mlx5_0/1", "ibp27s0", "0000:1b:00.0/1"}) {
    write_ports("a.json", fmt::format(R"("{}":{{"module":{{"serial":"A1"}}}})", name));
    EXPECT_TRUE(read().module) << name;
  }
}

TEST_F(PeerImport, AnExpiredFileIsAGapOfItsPorts) {
  write_ports("switch.json", kPeer);
  clock.advance(Milliseconds(120'000));
  const PeerReading reading = read();
  EXPECT_FALSE(reading.peer);
  ASSERT_EQ(reading.gaps.size(), 1U);
  EXPECT_EQ(reading.gaps[0].reason, "switch.json: past its time of validity");
}

TEST_F(PeerImport, TheNewerOfTwoFilesCounts) {
  write_ports("a.json", R"("mlx5_0/1":{"peer":{"system":"older"}})");
  clock.advance(Milliseconds(1'000));
  write_ports("0.json", R"("mlx5_0/1":{"peer":{"system":"newer"}})");
  EXPECT_EQ(read().peer->system, "newer");
}

TEST_F(PeerImport, PeerAndModuleMayComeFromTwoFiles) {
  write_ports("a.json", kPeer, 60);
  const SteadyTime first = clock.steady();
  clock.advance(Milliseconds(1'000));
  write_ports("b.json", R"("mlx5_0/1":{"module":{"serial":"A1"}})");
  const PeerReading reading = read();
  ASSERT_TRUE(reading.peer && reading.module);
  EXPECT_EQ(reading.read_at, first);
  EXPECT_EQ(reading.module_read_at, clock.steady());
  EXPECT_EQ(format_rfc3339(reading.module->imported_at.value_or(WallTime())), now());
  EXPECT_EQ(reading.valid_until, first + Milliseconds(60'000)) << "the first end";
}

TEST_F(PeerImport, BadFilesAreGapsWithTheirNameAndHideNoOther) {
  write("bad.json", "{\"schema\":");
  write_ports("good.json", kPeer);
  EXPECT_TRUE(read().peer);
  ASSERT_EQ(node_gaps.size(), 1U);
  EXPECT_THAT(node_gaps[0], ::testing::StartsWith("bad.json: not whole or not the format"));
}

TEST_F(PeerImport, AFileFromTheFutureIsAGap) {
  clock.advance(Milliseconds(6'000));
  write_ports("a.json", kPeer);
  clock.advance(Milliseconds(-6'000));
  EXPECT_EQ(only_gap(), "a.json: its time is in the future: check the clocks");
  clock.advance(Milliseconds(1'000));
  EXPECT_TRUE(read().peer) << "a clock may be a little ahead";
}

TEST_F(PeerImport, APortOfAnotherNodeIsAGap) {
  write_ports("a.json", R"("mlx5_9/1":{"peer":{"system":"leaf-12"}})");
  EXPECT_EQ(only_gap(), "a.json: ports > mlx5_9/1: names a port that this node does not have");
}

TEST_F(PeerImport, AFileThatEveryUserMayWriteIsAGap) {
  write_ports("a.json", kPeer);
  fs::permissions(directory / "a.json", fs::perms(0666));
  EXPECT_EQ(only_gap(), "a.json: every user may write to it (chmod o-w)");
  fs::permissions(directory / "a.json", fs::perms(0644));
  fs::permissions(directory, fs::perms(0777));
  EXPECT_THAT(only_gap(), ::testing::EndsWith("every user may write to it (chmod o-w)"));
}

TEST_F(PeerImport, AnotherUsersFileIsAGap) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write_ports("a.json", kPeer);
  ASSERT_EQ(chown((directory / "a.json").c_str(), 12345, 0), 0);
  EXPECT_EQ(only_gap(), "a.json: owned by neither root nor this daemon's user");
}

TEST_F(PeerImport, LinksPipesAndDirectoriesAreNotFollowed) {
  write_ports("real.txt", kPeer);
  fs::create_symlink(directory / "real.txt", directory / "a.json");
  EXPECT_EQ(only_gap(), "a.json: a symbolic link: put the file itself here");
  fs::remove(directory / "a.json");
  ASSERT_EQ(mkfifo((directory / "a.json").c_str(), 0644), 0);
  EXPECT_EQ(only_gap(), "a.json: not a regular file");
  fs::remove(directory / "a.json");
  fs::create_directory(directory / "a.json");
  EXPECT_EQ(only_gap(), "a.json: not a regular file");
  fs::create_directory_symlink(directory, directory / "link");
  probe = make_import_probe(open_import_directory(directory / "link"), clock, {});
  EXPECT_EQ(only_gap(),
            (directory / "link").string() + ": a symbolic link: name the directory itself");
}

TEST_F(PeerImport, SizesAndNumbersAreLimited) {
  write("a.json", std::string(kMaxImportFileBytes + 1, ' '));
  EXPECT_EQ(only_gap(), "a.json: larger than 256 KiB");
  const std::string big = file_text(now(), "") + std::string(kMaxImportFileBytes - 200, ' ');
  for (int i = 0; i < 20; ++i) write(fmt::format("{:02}.json", i), big);
  read();
  EXPECT_THAT(node_gaps.front(), ::testing::HasSubstr("larger than 4 MiB"));
  for (int i = 0; i < 40; ++i) write(fmt::format("{:02}.json", i), "x");
  read();
  EXPECT_EQ(node_gaps.size(), 17U) << "many bad files are not many gaps";
  for (std::size_t i = 0; i <= kMaxImportFiles; ++i)
    write_ports(fmt::format("{:04}.json", i), R"("mlx5_0/1":{})");
  read();
  EXPECT_EQ(node_gaps.front(), "more than 256 files, and the rest is not read");
}

TEST_F(PeerImport, AnExemptPortMayBeNamed) {
  ports.push_back(ports.front());
  ports.back().id.device = "mlx5_4";
  ports.back().id.netdev = "ibp9s0";
  ports.back().id.pci = "0000:09:00.0";
  ports.back().exempt_reason = "manages the machine's NVSwitches";
  write("a.json",
        file_text(now(), kPeer + std::string(R"(,"0000:09:00.0/1":{"module":{"serial":"A1"}})")));
  EXPECT_TRUE(read().peer);
  EXPECT_THAT(node_gaps, ::testing::IsEmpty());
  EXPECT_EQ(probe->read(ports, clock.steady()).size(), 1U) << "it has no reading";
}

TEST_F(PeerImport, ASharedNameBelongsToTheWatchedPort) {
  ports.insert(ports.begin(), ports.front());
  ports.front().id.device = "rep0";
  ports.front().exempt_reason = "representor";
  write_ports("a.json", R"("ibp27s0":{"module":{"serial":"A1"}})");
  EXPECT_TRUE(read().module);
}

TEST_F(PeerImport, AnEmptyModuleEndsNoReading) {
  write_ports("a.json", R"("mlx5_0/1":{"module":{"serial":"A1"}})");
  clock.advance(Milliseconds(1'000));
  write_ports("b.json", R"("mlx5_0/1":{"module":{}})");
  const PeerReading reading = read();
  ASSERT_TRUE(reading.module);
  EXPECT_EQ(reading.module->serial, "A1");
  EXPECT_EQ(reading.gaps,
            (std::vector<Gap>{{"mlx5_0/1", "import", "b.json: an empty module is not used"}}));
}

TEST_F(PeerImport, ThreeNamesOfOnePortInOneFileAreAGap) {
  const auto peer = [](const char* name, const char* port) {
    return fmt::format(R"("{}":{{"peer":{{"system":"leaf-1","port":"{}"}}}})", name, port);
  };
  write_ports("a.json", peer("mlx5_0/1", "E1") + "," + peer("ibp27s0", "E2") + "," +
                            peer("0000:1b:00.0/1", "E3"));
  const PeerReading reading = read();
  EXPECT_FALSE(reading.peer);
  EXPECT_EQ(reading.gaps,
            (std::vector<Gap>{
                {"mlx5_0/1", "import", "a.json: two entries for the same port: neither is used"}}));
}

TEST_F(PeerImport, OtherNamesAreNotRead) {
  write(".a.json.tmp", "{");
  write(".b.json", "{");
  write("notes.txt", "{");
  EXPECT_EQ(only_gap(), "0 gaps");
  fs::remove_all(directory);
  EXPECT_EQ(only_gap(), "0 gaps") << "without a directory no program imports";
}

TEST_F(PeerImport, AStepOfTheWallClockMakesNoReadingNewerOrOlder) {
  write_ports("a.json", kPeer);
  const SteadyTime first = read().read_at;
  for (const int step_s : {3'600, -60}) {
    clock.step = Milliseconds(step_s * 1000);
    const PeerReading later = read();
    EXPECT_TRUE(later.peer);
    EXPECT_EQ(later.read_at, first);
    EXPECT_TRUE(later.gaps.empty() && node_gaps.empty());
  }
}

TEST_F(PeerImport, APeerOrAModuleThatExpiredIsAGapUntilAnotherFileHasIt) {
  write_ports("switch.json", R"("mlx5_0/1":{"peer":{"system":"leaf-2"}})", 30);
  write_ports("own.json", R"("mlx5_0/1":{"module":{"serial":"A1"}})", 30);
  clock.advance(Milliseconds(30'000));
  EXPECT_EQ(read().gaps,
            (std::vector<Gap>{{"mlx5_0/1", "import", "own.json: past its time of validity"},
                              {"mlx5_0/1", "import", "switch.json: past its time of validity"}}));
  write_ports("again.json", R"("mlx5_0/1":{"peer":{"system":"leaf-2"}})", 30);
  EXPECT_EQ(read().gaps,
            (std::vector<Gap>{{"mlx5_0/1", "import", "own.json: past its time of validity"}}));
  write_ports("empty.json", R"("mlx5_0/1":{"module":{}})");
  EXPECT_EQ(read().gaps.size(), 2U) << "an empty module is no reading";
}

TEST_F(PeerImport, OldFilesAreNoGapsWhereANewOneIs) {
  for (int i = 0; i < 20; ++i) write("old" + std::to_string(i) + ".json", file_text(now(), kPeer));
  read();
  clock.advance(std::chrono::hours(1));
  EXPECT_EQ(read().gaps.size(), 1U) << "the newest is reported";
  write_ports("new.json", kPeer);
  const PeerReading reading = read();
  EXPECT_TRUE(reading.peer);
  EXPECT_TRUE(reading.gaps.empty());
}

}  // namespace
}  // namespace linkhealth
