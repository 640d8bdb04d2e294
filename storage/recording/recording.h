// Recordings on disk: one snapshot per line, for replay on any machine (docs/recording.md).
//
// A recorder that is killed leaves an incomplete last line or gzip stream. The reader returns every
// complete line before that, then ends and reports it in warning(). Anything else that is wrong is
// one error "FILE:LINE: …", and ends the reading.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/history/engine_state.h"
#include "model/json/old_gaps.h"
#include "model/snapshot.h"

struct gzFile_s;

namespace linkhealth {

/// A file behind zlib: gzip or plain.
struct CloseGzFile {
  void operator()(gzFile_s* file) const;
};
using GzFile = std::unique_ptr<gzFile_s, CloseGzFile>;

class RecordingReader {
 public:
  /// Longer lines are rejected, so that memory stays bounded whatever a file unpacks to. A node
  /// with 64 ports writes less than 2 MiB.
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

  /// Opens a file, plain or gzip (recognised by its first bytes); "-" is standard input.
  static Result<RecordingReader> open(const std::string& path);

  /// The first line. Read it once, before next().
  Result<RecordingHeader> header();
  /// The recorder's state when the recording began; nullopt: none, or an older recording.
  [[nodiscard]] const std::optional<EngineState>& known() const { return known_; }
  /// The next snapshot; nullopt at the end and after an error. REQUIRES: header() was read.
  Result<std::optional<Snapshot>> next();
  /// After the end: why the recording is incomplete; "" when it is complete.
  [[nodiscard]] const std::string& warning() const { return warning_; }
  /// Number of snapshots returned so far.
  [[nodiscard]] std::size_t snapshot_count() const { return snapshot_count_; }

 private:
  struct Line {
    std::string_view text;   ///< without its line end; valid until the next line is read
    bool terminated = true;  ///< false: the file ended before the line did
  };
  RecordingReader(GzFile file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  Result<std::optional<Line>> next_line();
  Result<void> refill();
  Error error_here(const std::string& what);
  std::optional<Snapshot> end(std::string why);

  GzFile file_;
  std::string name_;
  std::string buffer_;
  std::size_t begin_ = 0;  ///< start of the unread part of buffer_
  std::size_t line_number_ = 0;
  bool at_file_end_ = false;
  std::string broken_;  ///< why the gzip stream ended early
  std::string warning_;
  std::optional<EngineState> known_;
  OldGapConverter old_gaps_;
  std::optional<SteadyTime> last_taken_at_;
  std::size_t snapshot_count_ = 0;
  std::size_t blank_bytes_ = 0;  ///< of lines without a snapshot, since the last one that had one
  bool ended_ = false;
};

class RecordingWriter {
 public:
  /// Creates `path`, with gzip if its name ends in ".gz"; "-" is standard output. An existing
  /// non-empty regular file is renamed to `path`.1: a restarted daemon keeps its last recording.
  static Result<RecordingWriter> create(const std::string& path, const RecordingHeader& header,
                                        const EngineState* known = nullptr);

  /// Writes one line with one system call: a kill loses at most the last one. After an error (a
  /// full disk) nothing more is written, and the same error is returned again.
  Result<void> write(const Snapshot& snapshot);
  /// Ends the gzip stream. Nothing can be written afterwards.
  Result<void> close();

 private:
  RecordingWriter(GzFile file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  Result<void> write_line(std::string line);

  GzFile file_;  ///< null: closed
  std::string name_;
  std::optional<Error> failed_;
};

}  // namespace linkhealth
