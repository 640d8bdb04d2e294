#include "storage/recording/recording.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "model/json/sample_json.h"

namespace linkhealth {

namespace {

/// Up to this much may be lost before a damaged place in a gzip stream.
constexpr unsigned kChunkBytes = 64U * 1024;

Result<GzFile> open_gz(const std::string& path, int standard, const char* mode) {
  errno = 0;
  GzFile file(path == "-" ? gzdopen(dup(standard), mode) : gzopen(path.c_str(), mode));
  if (!file) return errno_error(path, errno == 0 ? ENOMEM : errno);
  return file;
}

/// Keeps an existing recording: FILE becomes FILE.1.
Result<void> keep_old(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return {};
  if (std::rename(path.c_str(), (path + ".1").c_str()) != 0) return errno_error(path, errno);
  return {};
}

}  // namespace

void CloseGzFile::operator()(gzFile_s* file) const { gzclose(file); }

Result<RecordingReader> RecordingReader::open(const std::string& path) {
  struct stat info {};
  if (path != "-" && stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return errno_error(path, EISDIR);
  auto file = open_gz(path, STDIN_FILENO, "rbe");
  if (!file) return file.error();
  gzbuffer(file->get(), kChunkBytes);
  return RecordingReader(std::move(file).value(), path == "-" ? "standard input" : path);
}

Error RecordingReader::error_here(const std::string& what) {
  ended_ = true;
  return {fmt::format("{}:{}: {}", name_, line_number_, what)};
}

std::optional<Snapshot> RecordingReader::end(std::string why) {
  ended_ = true;
  if (why.empty()) why = broken_;
  if (!why.empty())
    warning_ =
        fmt::format("{}:{}: {}: the recorder was interrupted; all {} snapshots before are complete",
                    name_, line_number_, why, snapshot_count_);
  return std::nullopt;
}

Result<void> RecordingReader::refill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t held = buffer_.size();
  if (held > kMaxLineBytes)
    return Error{fmt::format("a line of more than {} bytes", kMaxLineBytes)};
  buffer_.resize(held + kChunkBytes);
  const int got = gzread(file_.get(), buffer_.data() + held, kChunkBytes);
  buffer_.resize(held + static_cast<std::size_t>(std::max(got, 0)));
  if (got > 0) return {};
  at_file_end_ = true;
  int code = Z_OK;
  gzerror(file_.get(), &code);
  if (code == Z_ERRNO) return errno_error("cannot read", errno);
  if (code == Z_BUF_ERROR) broken_ = "the gzip stream breaks off";
  if (code == Z_DATA_ERROR) broken_ = "the gzip stream is damaged";
  return {};
}

Result<std::optional<RecordingReader::Line>> RecordingReader::next_line() {
  ++line_number_;
  for (std::size_t searched = 0;;) {
    const std::string_view held = std::string_view(buffer_).substr(begin_);
    const auto stop = held.find('\n', searched);
    if (stop != std::string_view::npos) {
      begin_ += stop + 1;
      return std::optional(Line{held.substr(0, stop), true});
    }
    if (at_file_end_) {
      begin_ = buffer_.size();
      if (held.empty()) return std::optional<Line>();
      return std::optional(Line{held, false});
    }
    searched = held.size();
    if (auto refilled = refill(); !refilled) return refilled.error();
  }
}

Result<RecordingHeader> RecordingReader::header() {
  auto line = next_line();
  if (!line) return error_here(line.error().message);
  if (!*line) return error_here(broken_.empty() ? "empty: not a recording" : broken_);
  auto header = parse_recording_header((*line)->text, &known_);
  if (!header) return error_here(header.error().message);
  return header;
}

Result<std::optional<Snapshot>> RecordingReader::next() {
  while (!ended_) {
    auto line = next_line();
    if (!line) return error_here(line.error().message);
    if (!*line) return end("");
    const auto [text, terminated] = **line;
    if (trim(text).empty()) {
      blank_bytes_ += text.size() + 1;
      if (blank_bytes_ > kMaxLineBytes) return error_here("nothing but blank lines");
      continue;
    }
    blank_bytes_ = 0;
    auto snapshot = parse_snapshot(text, old_gaps_);
    if (!snapshot && !terminated)
      return end(broken_.empty() ? "the last line breaks off" : broken_);
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

Result<RecordingWriter> RecordingWriter::create(const std::string& path,
                                                const RecordingHeader& header,
                                                const EngineState* known) {
  if (path != "-")
    if (auto kept = keep_old(path); !kept) return kept.error();
  // "T": plain, through the same calls.
  auto file = open_gz(path, STDOUT_FILENO, path.ends_with(".gz") ? "wbe" : "wbeT");
  if (!file) return file.error();
  RecordingWriter writer(std::move(file).value(), path == "-" ? "standard output" : path);
  if (auto written = writer.write_line(recording_header_json(header, known)); !written)
    return written.error();
  return writer;
}

Result<void> RecordingWriter::write_line(std::string line) {
  if (failed_) return *failed_;
  if (!file_) return Error{"the recording is closed"};
  line.push_back('\n');
  errno = 0;
  const bool written = gzwrite(file_.get(), line.data(), static_cast<unsigned>(line.size())) > 0 &&
                       gzflush(file_.get(), Z_SYNC_FLUSH) == Z_OK;
  if (written) return {};
  failed_ = errno_error(name_, errno == 0 ? EIO : errno);
  return *failed_;
}

Result<void> RecordingWriter::write(const Snapshot& snapshot) {
  return write_line(snapshot_json(snapshot));
}

Result<void> RecordingWriter::close() {
  if (!file_) return {};
  errno = 0;
  const int closed = gzclose(file_.release());
  if (failed_) return *failed_;
  if (closed != Z_OK) return errno_error(name_, errno == 0 ? EIO : errno);
  return {};
}

}  // namespace linkhealth
