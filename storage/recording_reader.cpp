#include <fmt/format.h>

#include "base/text.h"
#include "model/sample_json.h"
#include "storage/recording.h"

namespace linkhealth {

RecordingReader::RecordingReader(std::unique_ptr<ByteSource> bytes, std::string name)
    : lines_(unpacked(std::move(bytes)), kMaxLineBytes), name_(std::move(name)) {}

Result<RecordingReader> RecordingReader::open(const std::string& path) {
  auto bytes = open_byte_source(path);
  if (!bytes) return bytes.error();
  return RecordingReader(std::move(bytes).value(), path == "-" ? "standard input" : path);
}

Error RecordingReader::error_here(const std::string& what) {
  ended_ = true;
  return {fmt::format("{}:{}: {}", name_, lines_.line_number(), what)};
}

std::optional<Snapshot> RecordingReader::end(const std::string& why) {
  ended_ = true;
  const std::string broken = lines_.source().warning();
  const std::string& reason = why.empty() ? broken : why;
  if (!reason.empty())
    warning_ = fmt::format(
        "{}:{}: {}: the recorder was stopped in the middle; all {} snapshots before are complete",
        name_, lines_.line_number(), reason, snapshot_count_);
  return std::nullopt;
}

Result<RecordingHeader> RecordingReader::header() {
  auto line = lines_.next();
  if (!line) return error_here(line.error().message);
  if (!*line) return error_here("empty: not a recording");
  auto header = parse_recording_header((*line)->text);
  if (!header) return error_here(header.error().message);
  return header;
}

Result<std::optional<Snapshot>> RecordingReader::next() {
  while (!ended_) {
    auto line = lines_.next();
    if (!line) return error_here(line.error().message);
    if (!*line) return end("");
    const auto [text, terminated] = **line;
    if (trim(text).empty()) continue;
    auto snapshot = parse_snapshot(text, old_gaps_);
    if (!snapshot && !terminated) return end("the last line breaks off");
    if (!snapshot) return error_here(snapshot.error().message);
    if (last_taken_at_ && snapshot->taken_at < *last_taken_at_)
      return error_here(fmt::format("t goes back from {:.3f} to {:.3f}",
                                    steady_seconds(*last_taken_at_),
                                    steady_seconds(snapshot->taken_at)));
    last_taken_at_ = snapshot->taken_at;
    ++snapshot_count_;
    return std::optional(std::move(snapshot).value());
  }
  return std::optional<Snapshot>();
}

}  // namespace linkhealth
