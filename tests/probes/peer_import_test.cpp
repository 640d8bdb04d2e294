// Imported files: the format, what is believed of a file before it is read, and what a round makes of them.
#include "probes/peer_import.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "probes/import_file.h"
#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

namespace fs = std::filesystem;
using testing::ManualClock;

std::string file_text(const std::string& at, const std::string& ports, double valid_for_s = 120) {
  return fmt::format(R"({{"schema":"linkhealth.import/1","at":"{}","valid_for_s":{},"ports":{{{}}}}})", at, valid_for_s,
                     ports);
}
constexpr const char* kAt = "2026-11-20T10:00:12Z";
constexpr const char* kPeer = R"("mlx5_0/1":{"peer":{"source":"telemetry","system":"leaf-12","port":"Ethernet17/1",)"
                              R"("module":{"temperature_c":48,"lanes":[{"rx_power_mw":0.9,"tx_power_mw":1.1}]}}})";

std::string why(const std::string& text) {
  const auto parsed = parse_import_file(text);
  return parsed ? "" : parsed.error().message;
}

TEST(ImportFile, ReadsPeerAndModuleInTheFormsOfARecording) {
  const auto parsed = parse_import_file(
      file_text(kAt, std::string(kPeer) + R"(,"mlx5_1/1":{"module":{"serial":"A1","kind":"optical"},"later":1})"));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(format_rfc3339(parsed->at), kAt);
  EXPECT_EQ(parsed->valid_for_s, 120);
  ASSERT_EQ(parsed->ports.size(), 2U);
  EXPECT_EQ(parsed->ports.at("mlx5_0/1").peer->module->lanes.at(0).tx_power_mw, 1.1);
  EXPECT_EQ(parsed->ports.at("mlx5_1/1").module->serial, "A1");
}

TEST(ImportFile, ASourceThatIsLeftOutIsTelemetry) {
  const auto parsed = parse_import_file(file_text(kAt, R"("mlx5_0/1":{"peer":{"system":"leaf-12"}})"));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->ports.at("mlx5_0/1").peer->source, "telemetry");
}

TEST(ImportFile, ABadFileIsOneClause) {
  EXPECT_THAT(why(""), ::testing::StartsWith("not whole or not the format"));
  EXPECT_THAT(why(file_text(kAt, kPeer).substr(0, 100)), ::testing::StartsWith("not whole or not the format"));
  EXPECT_THAT(why("{}"), ::testing::HasSubstr("\"schema\" is missing"));
  EXPECT_THAT(why(R"({"schema":"linkhealth.import/2"})"), ::testing::HasSubstr("its format is"));
  EXPECT_THAT(why(R"({"schema":"linkhealth.import/1"})"), ::testing::HasSubstr("\"at\" is missing"));
  EXPECT_THAT(why(R"({"schema":"linkhealth.import/1","at":"2026-11-20T10:00:12Z"})"),
              ::testing::HasSubstr("\"valid_for_s\" is missing"));
  EXPECT_THAT(why(file_text(kAt, "", 0)), ::testing::HasSubstr("at most a day"));
  EXPECT_THAT(why(file_text(kAt, "", 90'000)), ::testing::HasSubstr("at most a day"));
  EXPECT_THAT(why(file_text("yesterday", "")), ::testing::StartsWith("not whole or not the format"));
  EXPECT_THAT(why(file_text(kAt, "") + "x"), ::testing::StartsWith("not whole or not the format"));
}

TEST(ImportFile, AValueThatCannotBeMakesTheFileUnbelievable) {
  const auto module = [](const std::string& fields) {
    return why(file_text(kAt, R"("mlx5_0/1":{"module":{)" + fields + "}}"));
  };
  EXPECT_EQ(module(R"("temperature_c":48)"), "");
  EXPECT_EQ(module(R"("temperature_c":4800)"), "ports > mlx5_0/1: a temperature of 4800 °C");
  EXPECT_EQ(module(R"("supply_v":3300)"), "ports > mlx5_0/1: a supply of 3300 V");
  EXPECT_EQ(module(R"("lanes":[{"rx_power_mw":-3.5}])"), "ports > mlx5_0/1: a power of -3.5 mW")
      << "somebody wrote dBm";
  EXPECT_EQ(module(R"("lanes":[{"tx_bias_ma":7000}])"), "ports > mlx5_0/1: a bias of 7000 mA");
  EXPECT_EQ(module(R"("thresholds":{"rx_power_mw":{"low_alarm":-10}})"), "ports > mlx5_0/1: a power of -10 mW");
  EXPECT_EQ(module(R"("kind":"laser")"), "ports > mlx5_0/1: a module kind that there is not");
  EXPECT_EQ(module(R"("serial":"A\u001b[2J")"), "ports > mlx5_0/1: a serial that is no plain text");
  EXPECT_THAT(
      module(R"("lanes":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},)"
             R"({},{},{},{}])"),
      ::testing::HasSubstr("33 lanes"));
}

TEST(ImportFile, EveryTextAndEveryNumberIsLookedAt) {
  const auto module = [](const std::string& fields) {
    return why(file_text(kAt, R"("mlx5_0/1":{"module":{)" + fields + "}}"));
  };
  const auto peer = [](const std::string& fields) {
    return why(file_text(kAt, R"("mlx5_0/1":{"peer":{)" + fields + "}}"));
  };
  EXPECT_EQ(module(R"("revision":"\u001b[31mX")"), "ports > mlx5_0/1: a revision that is no plain text");
  EXPECT_EQ(module(R"("connector":"\u001b[2J")"), "ports > mlx5_0/1: a connector that is no plain text");
  EXPECT_EQ(module(R"("warnings":["\u001b[2J"])"), "ports > mlx5_0/1: a warning that is no plain text");
  EXPECT_EQ(module(R"("vdm":{"media_pre_fec_ber":{"current":7}})"), "ports > mlx5_0/1: a BER of 7");
  EXPECT_EQ(module(R"("vdm":{"media_esnr_db":[22,-900]})"), "ports > mlx5_0/1: a ratio of -900 dB");
  EXPECT_EQ(module(R"("coherent":{"osnr_db":1e300})"), "ports > mlx5_0/1: a ratio of 1e+300 dB");
  EXPECT_EQ(module(R"("coherent_statistics":{"rx_total_power_dbm":{"min":900}})"),
            "ports > mlx5_0/1: a power of 900 dBm");
  EXPECT_EQ(module(R"("length_m":-3)"), "ports > mlx5_0/1: a length of -3 m");
  EXPECT_EQ(peer(R"("link":{"state":"\u001b[2J"})"), "ports > mlx5_0/1: a state that is no plain text");
  EXPECT_EQ(peer(R"("link":{"speed_mbps":4000000000})"), "ports > mlx5_0/1: a speed of 4e+09 Mb/s");
  EXPECT_EQ(peer(R"("counters":{"a\u0007b":1})"), "ports > mlx5_0/1: a counter name that is no plain text");
  EXPECT_EQ(peer(R"("link":{"state":"ACTIVE","speed_mbps":400000,"lanes":4},"counters":{"symbol_error":1})"), "");
  EXPECT_EQ(
      module(R"("temperature_c":40,"length_m":30,"vdm":{"media_esnr_db":[22,0],"media_pre_fec_ber":{"min":1e-9}})"),
      "");
}

TEST(ImportFile, ASourceThatOnlyTheDaemonItselfHasIsRefused) {
  for (const char* source : {"mad", "lldp", "plan", "hearsay"})
    EXPECT_THAT(why(file_text(kAt, fmt::format(R"("mlx5_0/1":{{"peer":{{"source":"{}"}}}})", source))),
                ::testing::HasSubstr("neither \"telemetry\" nor \"fleet\""));
  EXPECT_THAT(why(file_text(kAt, R"("mlx5_0/1":{"peer":{"age_s":-1}})")), ::testing::HasSubstr("age"));
  for (const char* part : {"module_age_s", "link_age_s", "counters_age_s"})
    EXPECT_THAT(why(file_text(kAt, fmt::format(R"("mlx5_0/1":{{"peer":{{"{}":1}}}})", part))),
                ::testing::HasSubstr("source of"));
}

TEST(ImportTrust, RootAndThisUserAndNobodyElse) {
  FileFacts facts;
  facts.mode = 0644;
  facts.owner = 0;
  EXPECT_EQ(distrust(facts, 990), "");
  facts.owner = 990;
  EXPECT_EQ(distrust(facts, 990), "");
  facts.owner = 1000;
  EXPECT_THAT(distrust(facts, 990), ::testing::HasSubstr("owned by neither"));
  facts.owner = 0;
  facts.mode = 0666;
  EXPECT_THAT(distrust(facts, 990), ::testing::HasSubstr("chmod o-w"));
}

/// A clock whose wall time somebody sets.
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
    EXPECT_TRUE(reading.answered) << "what the file said before ends";
    return node_gaps.size() == 1 ? node_gaps.front() : fmt::format("{} gaps", node_gaps.size());
  }

  SteppingClock clock;
  fs::path directory;
  std::unique_ptr<PeerProbe> probe;
  std::vector<InventoryPort> ports;
  std::vector<std::string> node_gaps;
};

TEST_F(PeerImport, TakesAReadingWithItsTimeAndItsEnd) {
  write("switch.json", file_text(now(), kPeer));
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
  write("switch.json", file_text(now(), R"("mlx5_0/1":{"peer":{"system":"leaf-12","age_s":30}})"));
  const PeerReading reading = read();
  EXPECT_EQ(reading.read_at, clock.steady() - Milliseconds(30'000));
  EXPECT_FALSE(reading.peer->age_s);
}

TEST_F(PeerImport, PortsGoByEachOfTheirNames) {
  for (const char* name : {"mlx5_0/1", "ibp27s0", "0000:1b:00.0/1"}) {
    write("a.json", file_text(now(), fmt::format(R"("{}":{{"module":{{"serial":"A1"}}}})", name)));
    EXPECT_TRUE(read().module) << name;
  }
}

TEST_F(PeerImport, AFilePastItsTimeIsAGapOfItsPorts) {
  write("switch.json", file_text(now(), kPeer));
  clock.advance(Milliseconds(120'000));
  const PeerReading reading = read();
  EXPECT_FALSE(reading.peer);
  ASSERT_EQ(reading.gaps.size(), 1U);
  EXPECT_EQ(reading.gaps[0].reason, "switch.json: over its time of validity");
}

TEST_F(PeerImport, TheNewerOfTwoFilesCounts) {
  write("a.json", file_text(now(), R"("mlx5_0/1":{"peer":{"system":"older"}})"));
  clock.advance(Milliseconds(1'000));
  write("0.json", file_text(now(), R"("mlx5_0/1":{"peer":{"system":"newer"}})"));
  EXPECT_EQ(read().peer->system, "newer");
}

TEST_F(PeerImport, PeerAndModuleMayComeFromTwoFiles) {
  write("a.json", file_text(now(), kPeer, 60));
  const SteadyTime first = clock.steady();
  clock.advance(Milliseconds(1'000));
  write("b.json", file_text(now(), R"("mlx5_0/1":{"module":{"serial":"A1"}})"));
  const PeerReading reading = read();
  ASSERT_TRUE(reading.peer && reading.module);
  EXPECT_EQ(reading.read_at, first);
  EXPECT_EQ(reading.module_read_at, clock.steady());
  EXPECT_EQ(reading.valid_until, first + Milliseconds(60'000)) << "the first end";
}

TEST_F(PeerImport, BadFilesAreGapsWithTheirNameAndHideNoOther) {
  write("bad.json", "{\"schema\":");
  write("good.json", file_text(now(), kPeer));
  EXPECT_TRUE(read().peer);
  ASSERT_EQ(node_gaps.size(), 1U);
  EXPECT_THAT(node_gaps[0], ::testing::StartsWith("bad.json: not whole or not the format"));
}

TEST_F(PeerImport, AFileFromTheFutureIsAGap) {
  clock.advance(Milliseconds(6'000));
  write("a.json", file_text(now(), kPeer));
  clock.advance(Milliseconds(-6'000));
  EXPECT_EQ(only_gap(), "a.json: its time is in the future: compare the clocks");
  clock.advance(Milliseconds(1'000));
  EXPECT_TRUE(read().peer) << "a clock may be a little ahead";
}

TEST_F(PeerImport, APortOfAnotherNodeIsAGap) {
  write("a.json", file_text(now(), R"("mlx5_9/1":{"peer":{"system":"leaf-12"}})"));
  EXPECT_EQ(only_gap(), "a.json: names a port that is not here");
}

TEST_F(PeerImport, AFileThatEverybodyMayWriteIsAGap) {
  write("a.json", file_text(now(), kPeer));
  fs::permissions(directory / "a.json", fs::perms(0666));
  EXPECT_EQ(only_gap(), "a.json: everybody may write to it (chmod o-w)");
  fs::permissions(directory / "a.json", fs::perms(0644));
  fs::permissions(directory, fs::perms(0777));
  EXPECT_THAT(only_gap(), ::testing::EndsWith("everybody may write to it (chmod o-w)"));
}

TEST_F(PeerImport, AStrangersFileIsAGap) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write("a.json", file_text(now(), kPeer));
  ASSERT_EQ(chown((directory / "a.json").c_str(), 12345, 0), 0);
  EXPECT_EQ(only_gap(), "a.json: owned by neither root nor this daemon's user");
}

TEST_F(PeerImport, LinksPipesAndDirectoriesAreNotFollowed) {
  write("real.txt", file_text(now(), kPeer));
  fs::create_symlink(directory / "real.txt", directory / "a.json");
  EXPECT_EQ(only_gap(), "a.json: a symbolic link: put the file itself here");
  fs::remove(directory / "a.json");
  ASSERT_EQ(mkfifo((directory / "a.json").c_str(), 0644), 0);
  EXPECT_EQ(only_gap(), "a.json: not a regular file");
  fs::remove(directory / "a.json");
  fs::create_directory(directory / "a.json");
  EXPECT_EQ(only_gap(), "a.json: not a regular file");
}

TEST_F(PeerImport, AFileThatIsTooLargeIsAGap) {
  write("a.json", std::string(kMaxImportFileBytes + 1, ' '));
  EXPECT_EQ(only_gap(), "a.json: larger than 256 KiB");
}

TEST_F(PeerImport, TooManyFilesAreNotRead) {
  for (std::size_t i = 0; i <= kMaxImportFiles; ++i)
    write(fmt::format("{:04}.json", i), file_text(now(), R"("mlx5_0/1":{})"));
  EXPECT_EQ(only_gap(), "more than 256 files: the rest is not read");
}

TEST_F(PeerImport, TooManyBytesAreNotRead) {
  const std::string big = file_text(now(), "") + std::string(kMaxImportFileBytes - 200, ' ');
  for (int i = 0; i < 20; ++i) write(fmt::format("{:02}.json", i), big);
  EXPECT_THAT(only_gap(), ::testing::HasSubstr("larger than 4 MiB"));
}

TEST_F(PeerImport, ManyBadFilesAreNotManyGaps) {
  for (int i = 0; i < 40; ++i) write(fmt::format("{:02}.json", i), "x");
  read();
  EXPECT_EQ(node_gaps.size(), 17U);
}

TEST_F(PeerImport, OtherNamesAndUnfinishedFilesAreNotLookedAt) {
  write(".a.json.tmp", "{");
  write(".b.json", "{");
  write("notes.txt", "{");
  EXPECT_EQ(only_gap(), "0 gaps");
}

TEST_F(PeerImport, WithoutADirectoryNobodyImportsAnything) {
  fs::remove_all(directory);
  EXPECT_EQ(only_gap(), "0 gaps");
}

TEST_F(PeerImport, AStepOfTheWallClockMakesNoReadingNewer) {
  write("a.json", file_text(now(), kPeer));
  const SteadyTime first = read().read_at;
  clock.step = Milliseconds(3'600'000);
  EXPECT_EQ(read().read_at, first);
  EXPECT_TRUE(read().gaps.empty());
}

TEST_F(PeerImport, AClockThatIsPutBackTakesNoReadingAway) {
  write("a.json", file_text(now(), kPeer));
  const SteadyTime first = read().read_at;
  clock.step = Milliseconds(-60'000);
  const PeerReading later = read();
  EXPECT_TRUE(later.peer);
  EXPECT_EQ(later.read_at, first);
  EXPECT_TRUE(node_gaps.empty());
}

TEST_F(PeerImport, OldFilesBesideANewOneAreNoGaps) {
  for (int i = 0; i < 20; ++i) write("old" + std::to_string(i) + ".json", file_text(now(), kPeer));
  read();
  clock.advance(std::chrono::hours(1));
  EXPECT_EQ(read().gaps.size(), 1U) << "the newest is told";
  write("new.json", file_text(now(), kPeer));
  const PeerReading reading = read();
  EXPECT_TRUE(reading.peer);
  EXPECT_TRUE(reading.gaps.empty());
}

}  // namespace
}  // namespace linkhealth
