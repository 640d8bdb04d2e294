// How fast recordings are read and written. A day of a 10-port node at 10 s is about 190 MB of JSON.
#include <benchmark/benchmark.h>

#include "model/sample_json.h"
#include "storage/recording.h"

namespace linkhealth {
namespace {

constexpr const char* kRecording = LINKHEALTH_SOURCE_DIR "/tests/fixtures/recordings/wrong_cabling.jsonl.gz";

std::vector<Snapshot> snapshots() {
  std::vector<Snapshot> all;
  auto recording = RecordingReader::open(kRecording);
  if (!recording || !recording->header()) return all;
  for (;;) {
    auto snapshot = recording->next();
    if (!snapshot || !*snapshot) return all;
    all.push_back(**snapshot);
  }
}

void read_lines(benchmark::State& state) {
  std::vector<std::string> lines;
  std::int64_t bytes = 0;
  for (const Snapshot& snapshot : snapshots())
    bytes += static_cast<std::int64_t>(lines.emplace_back(snapshot_json(snapshot)).size());
  for (auto _ : state)
    for (const std::string& line : lines) benchmark::DoNotOptimize(parse_snapshot(line));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * bytes);
}
BENCHMARK(read_lines);

void write_lines(benchmark::State& state) {
  const std::vector<Snapshot> all = snapshots();
  std::int64_t bytes = 0;
  for (auto _ : state)
    for (const Snapshot& snapshot : all) bytes += static_cast<std::int64_t>(snapshot_json(snapshot).size());
  state.SetBytesProcessed(bytes);
}
BENCHMARK(write_lines);

}  // namespace
}  // namespace linkhealth
