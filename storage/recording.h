// Recordings on disk: what the daemon saw, line by line, to be replayed anywhere
// (docs/recording.md).
//
// A recorder that is killed leaves a last line without an end, or a gzip stream without one. The
// reader gives every complete line before that, then ends as usual and says so in warning():
// nothing that was seen is lost, and a replay of it is a good replay. Anything else that is wrong
// is one error "FILE:LINE: …", and the end.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/old_gaps.h"
#include "model/snapshot.h"
#include "storage/byte_source.h"

namespace linkhealth {

class RecordingReader {
 public:
  /// Longer lines are refused; with it memory stays bounded whatever a file unpacks to.
  static constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;

  /// A file, plain or gzip (told by its first bytes); "-" is standard input.
  static Result<RecordingReader> open(const std::string& path);
  /// `name` stands in the errors.
  RecordingReader(std::unique_ptr<ByteSource> bytes, std::string name);

  /// The first line. Asks for it once, before next().
  Result<RecordingHeader> header();
  /// The next snapshot; nullopt at the end and after an error. REQUIRES: header() was read.
  Result<std::optional<Snapshot>> next();
  /// After the end: why the recording breaks off; "" when it does not.
  [[nodiscard]] const std::string& warning() const { return warning_; }
  /// Snapshots given so far.
  [[nodiscard]] std::size_t snapshot_count() const { return snapshot_count_; }

 private:
  Error error_here(const std::string& what);
  std::optional<Snapshot> end(const std::string& why);

  LineReader lines_;
  std::string name_;
  std::string warning_;
  OldGapConverter old_gaps_;
  std::optional<SteadyTime> last_taken_at_;
  std::size_t snapshot_count_ = 0;
  bool ended_ = false;
};

/// Where a recording is written to.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Result<void> write(std::string_view bytes) = 0;
};

class RecordingWriter {
 public:
  /// Creates `path`, packed when its name ends in ".gz"; "-" is standard output. A regular file
  /// that is there already and not empty becomes `path`.1 (a restarted daemon does not destroy what
  /// it saw before it died).
  static Result<RecordingWriter> create(const std::string& path, const RecordingHeader& header);
  static Result<RecordingWriter> create(std::unique_ptr<ByteSink> sink, bool gzip,
                                        const RecordingHeader& header);
  RecordingWriter(RecordingWriter&&) noexcept;
  RecordingWriter& operator=(RecordingWriter&&) noexcept;
  /// Closes, if close() did not.
  ~RecordingWriter();

  /// One line, handed to the kernel as a whole: a kill loses at most the last one. After an error
  /// (a full disk) nothing more is written, and the same error comes again.
  Result<void> write(const Snapshot& snapshot);
  /// Ends the gzip stream. Nothing can be written afterwards.
  Result<void> close();

 private:
  struct Packer;
  RecordingWriter(std::unique_ptr<ByteSink> sink, std::unique_ptr<Packer> packer);
  Result<void> write_line(std::string line);

  std::unique_ptr<ByteSink> sink_;
  std::unique_ptr<Packer> packer_;  ///< none: plain
  std::optional<Error> failed_;
};

}  // namespace linkhealth
