#include "storage/recording/recording.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "model/json/json.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kHeader =
    R"({"schema":"linkhealth.recording/1","node":"gpu-1","boot_id":"5d","at":"2026-11-20T10:00:00Z","version":"0.1.0","expected":{"mlx5_0/1":{"speed_mbps":400000,"peer":{"system":"leaf-12"}}}})"
    "\n";

std::string line(int t) {
  return R"({"t":)" + std::to_string(t) + R"(.000,"at":"2026-11-20T10:00:12Z","ports":{}})" + "\n";
}

struct Contents {
  std::string error;
  std::string warning;
  RecordingHeader header;
  std::optional<EngineState> known;
  std::vector<Snapshot> snapshots;
};

Contents read_all(RecordingReader from) {
  Contents contents;
  auto header = from.header();
  if (!header) {
    contents.error = header.error().message;
    return contents;
  }
  contents.header = *header;
  contents.known = from.known();
  for (;;) {
    auto snapshot = from.next();
    if (!snapshot) {
      contents.error = snapshot.error().message;
      EXPECT_FALSE(from.next()->has_value());  // the end comes after an error
      break;
    }
    if (!*snapshot) break;
    contents.snapshots.push_back(**snapshot);
  }
  contents.warning = from.warning();
  return contents;
}

Contents read_text(const std::string& bytes) {
  const test::TempDirectory directory;
  std::ofstream(directory.file("a.jsonl")) << bytes;
  Contents contents = read_all(RecordingReader::open(directory.file("a.jsonl")).value());
  for (std::string* text : {&contents.error, &contents.warning})
    if (!text->empty()) text->erase(0, directory.file("").size());
  return contents;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string written(const Contents& contents, bool gzip, bool closed = true) {
  const test::TempDirectory directory;
  const std::string path = directory.file(gzip ? "b.jsonl.gz" : "b.jsonl");
  auto writer =
      RecordingWriter::create(path, contents.header, contents.known ? &*contents.known : nullptr);
  EXPECT_TRUE(writer) << writer.error().message;
  for (const Snapshot& snapshot : contents.snapshots) EXPECT_TRUE(writer->write(snapshot));
  std::string killed_here = bytes_of(path);
  EXPECT_TRUE(writer->close());
  return closed ? bytes_of(path) : killed_here;
}

std::vector<std::string> shared_recordings() {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(LINKHEALTH_SHARED "/recordings", ignored))
    if (entry.path().string().ends_with(".jsonl.gz")) paths.push_back(entry.path().string());
  return paths;
}

TEST(Recording, SharedRecordingsComeBackEqual) {
  const auto paths = shared_recordings();
  if (paths.empty()) GTEST_SKIP() << "no shared recordings at " LINKHEALTH_SHARED "/recordings";
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto from = RecordingReader::open(paths[i]);
    ASSERT_TRUE(from);
    const Contents first = read_all(std::move(from).value());
    ASSERT_EQ(first.error, "");
    EXPECT_EQ(first.warning, "");
    ASSERT_FALSE(first.snapshots.empty());
    const Contents second = read_text(written(first, i % 2 == 0));
    ASSERT_EQ(second.error, "");
    EXPECT_EQ(second.header, first.header);
    ASSERT_EQ(second.snapshots, first.snapshots) << paths[i];
  }
}

TEST(Recording, EveryFieldComesBack) {
  std::ifstream file(LINKHEALTH_SOURCE_DIR "/tests/fixtures/recordings/every_field.jsonl");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Contents contents = read_text(text);
  ASSERT_EQ(contents.error, "");
  ASSERT_EQ(contents.snapshots.size(), 1U);
  const auto documents = [](const std::string& lines) {
    std::vector<Json> all;
    for (const std::string_view one : split(lines, '\n'))
      if (!one.empty()) all.push_back(parse_json(one).value());
    return all;
  };
  EXPECT_EQ(documents(written(contents, false)), documents(text)) << "12.000 and 12.0 are the same";
  const PortSample& port = contents.snapshots[0].ports.at("mlx5_0/1");
  EXPECT_EQ(port.counters->get("zz_unknown_to_the_table"), UINT64_MAX);
  EXPECT_EQ(port.peer->module->lanes.size(), 2U);
}

TEST(Recording, IgnoresUnknownKeysAndEvents) {
  const Contents contents = read_text(
      std::string(kHeader) +
      R"({"t":1,"new":{"a":[1,null]},"at":"2026-11-20T10:00:12Z","ports":{"ens1":{"link":null,"later":5}},)"
      R"("events":[{"t":0.5,"kind":"from_the_future"},{"t":0.9,"kind":"carrier_up"},{"t":0.8,"kind":"carrier_down"}]})");
  ASSERT_EQ(contents.error, "");
  const Snapshot& snapshot = contents.snapshots.at(0);
  EXPECT_FALSE(snapshot.ports.at("ens1").link);
  EXPECT_FALSE(snapshot.ports.at("ens1").id.verbs);
  EXPECT_EQ(snapshot.ports.at("ens1").id.key(), "ens1");
  ASSERT_EQ(snapshot.events.size(), 2U);
  EXPECT_EQ(snapshot.events[0].kind, PortEventKind::kCarrierDown);  // ordered by t
}

TEST(Recording, AFullDiskAndAMissingFileAreNamed) {
  EXPECT_EQ(RecordingWriter::create("/dev/full", RecordingHeader()).error().message,
            "/dev/full: No space left on device");
  EXPECT_EQ(RecordingReader::open("/no/such/file").error().message,
            "/no/such/file: No such file or directory");
  EXPECT_EQ(RecordingReader::open("/").error().message, "/: Is a directory");
}

TEST(Recording, ARestartedRecorderKeepsTheLastRecording) {
  const test::TempDirectory directory;
  const std::string path = directory.file("recording.jsonl.gz");
  for (const char* node : {"first", "second"}) {
    RecordingHeader header;
    header.node = node;
    auto writer = RecordingWriter::create(path, header);
    ASSERT_TRUE(writer) << writer.error().message;
    ASSERT_TRUE(writer->write(Snapshot()));
    ASSERT_TRUE(writer->close());
  }
  EXPECT_EQ(read_all(RecordingReader::open(path).value()).header.node, "second");
  EXPECT_EQ(read_all(RecordingReader::open(path + ".1").value()).header.node, "first");
}

TEST(Recording, ADamagedGzipStreamGivesTheSnapshotsBeforeIt) {
  std::string text(kHeader);
  for (int t = 1; t <= 3000; ++t) text += line(t);
  std::string bytes = written(read_text(text), true);
  bytes[bytes.size() - 4] = static_cast<char>(bytes[bytes.size() - 4] ^ 0x55);  // its length field
  const Contents read = read_text(bytes);
  EXPECT_EQ(read.error, "");
  EXPECT_GT(read.snapshots.size(), 1500U) << "all but the last block";
  EXPECT_THAT(read.warning, HasSubstr("the gzip stream is damaged"));
}

TEST(Recording, GzipMembersFollowEachOther) {
  const Contents first = read_text(std::string(kHeader) + line(1));
  const std::string second = written(read_text(std::string(kHeader) + line(2)), true);
  // The second member begins with a header again: a recording appended to another is refused with
  // its place.
  EXPECT_THAT(read_text(written(first, true) + second).error,
              StartsWith("a.jsonl:3: \"t\" is missing"));
}

TEST(Recording, TheHeaderIsRead) {
  const Contents contents = read_text(std::string(kHeader));
  EXPECT_EQ(contents.header.node, "gpu-1");
  EXPECT_EQ(contents.header.boot_id, "5d");
  EXPECT_EQ(format_rfc3339(contents.header.at), "2026-11-20T10:00:00Z");
  EXPECT_EQ(contents.header.expected.at("mlx5_0/1").speed_mbps, 400000U);
  EXPECT_EQ(contents.header.expected.at("mlx5_0/1").peer_system, "leaf-12");
}

TEST(Recording, NotARecordingIsOneClearError) {
  EXPECT_EQ(read_text("").error, "a.jsonl:1: empty: not a recording");
  EXPECT_THAT(read_text("PNG\n").error, StartsWith("a.jsonl:1: not a recording"));
  EXPECT_THAT(read_text("{}\n").error, StartsWith("a.jsonl:1: not a recording"));
  EXPECT_THAT(read_text("[1]\n").error, StartsWith("a.jsonl:1: not a recording"));
  EXPECT_THAT(read_text(R"({"schema":"linkhealth.recording/2"})").error,
              HasSubstr("\"linkhealth.recording/2\""));
  EXPECT_THAT(read_text(R"({"schema":"linkhealth.recording/1","node":"a"})").error,
              HasSubstr("\"at\" is missing"));
}

TEST(Recording, AnIncompleteLastLineLosesNothingBeforeIt) {
  const Contents contents =
      read_text(std::string(kHeader) + line(1) + line(2) + R"({"t":3.0,"at":"20)");
  EXPECT_EQ(contents.error, "");
  EXPECT_EQ(contents.snapshots.size(), 2U);
  EXPECT_THAT(contents.warning, HasSubstr("a.jsonl:4: the last line breaks off"));
  std::string complete = std::string(kHeader) + line(1);
  complete.pop_back();
  EXPECT_EQ(read_text(complete).snapshots.size(), 1U) << "without its line end";
  EXPECT_EQ(read_text(complete).warning, "");
}

TEST(Recording, AnIncompleteGzipStreamLosesNothingBeforeIt) {
  const Contents whole = read_text(std::string(kHeader) + line(1) + line(2) + line(3));
  std::string bytes = written(whole, true, false);
  const Contents killed = read_text(bytes);
  EXPECT_EQ(killed.error, "");
  EXPECT_EQ(killed.snapshots, whole.snapshots);
  EXPECT_THAT(killed.warning, HasSubstr("the gzip stream breaks off"));
  bytes.resize(bytes.size() - 6);
  const Contents cut = read_text(bytes);
  EXPECT_EQ(cut.error, "");
  EXPECT_EQ(cut.snapshots.size(), 2U);
}

TEST(Recording, ADamagedLineInTheMiddleIsOneErrorWithItsPlace) {
  EXPECT_THAT(read_text(std::string(kHeader) + line(1) + "garbage\n" + line(2)).error,
              StartsWith("a.jsonl:3: not valid JSON"));
  EXPECT_EQ(read_text(std::string(kHeader) + line(2) + line(1)).error,
            "a.jsonl:3: t goes back from 2.000 to 1.000");
  EXPECT_THAT(
      read_text(
          std::string(kHeader) +
          R"({"t":1,"at":"2026-11-20T10:00:12Z","ports":{"mlx5_0/1":{"link":{"lanes":"four"}}}})" +
          "\n")
          .error,
      StartsWith(R"(a.jsonl:2: ports > mlx5_0/1 > link > lanes: expected a whole number)"));
}

TEST(Recording, MorePortsThanANodeHasAreRefused) {
  std::string ports;
  for (int i = 0; i < 5000; ++i)
    ports += fmt::format(R"({}"p{}":{{"lanes":4}})", i == 0 ? "" : ",", i);
  EXPECT_EQ(
      read_text(R"({"schema":"linkhealth.recording/1","node":"a","at":"2026-11-20T10:00:00Z",)"
                R"("expected":{)" +
                ports + "}}\n")
          .error,
      "a.jsonl:1: \"expected\" has more than 4096 ports");
}

TEST(Recording, BlankLinesWithoutEndAreRefused) {
  const std::string blank(1U << 20U, '\n');
  std::string text = std::string(kHeader) + line(1) + blank + line(2);
  EXPECT_EQ(read_text(text).error, "");
  for (int i = 0; i < 17; ++i) text += blank;
  EXPECT_THAT(read_text(text).error, HasSubstr("nothing but blank lines"));
}

TEST(Recording, ALineWithoutEndIsRefusedInBoundedMemory) {
  EXPECT_THAT(read_text(std::string(kHeader) + std::string(20U << 20U, 'x')).error,
              HasSubstr("a line of more than 16777216 bytes"));
}

}  // namespace
}  // namespace linkhealth
