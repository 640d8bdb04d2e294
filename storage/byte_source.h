// Where bytes come from: a file, standard input or memory, gzip or plain, and the lines in them.
// Everything here works in bounded memory, whatever the bytes claim.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace linkhealth {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Up to buffer.size() bytes; 0 at the end.
  virtual Result<std::size_t> read(std::span<char> buffer) = 0;
  /// Why the bytes ended before their proper end; "" when they did not.
  [[nodiscard]] virtual std::string warning() const { return {}; }
};

/// A file; "-" is standard input.
Result<std::unique_ptr<ByteSource>> open_byte_source(const std::string& path);
std::unique_ptr<ByteSource> memory_source(std::string bytes);
/// What is in `from`: unpacked when it begins like gzip, else as it is. Several gzip members follow
/// each other. A stream that breaks off gives all that was packed before, and a warning().
std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> from);

/// The lines of a source, one at a time.
class LineReader {
 public:
  struct Line {
    std::string_view text;   ///< without its line end; valid until the next call
    bool terminated = true;  ///< false: the source ended before the line did
  };

  LineReader(std::unique_ptr<ByteSource> source, std::size_t max_line_bytes);
  /// nullopt at the end; an error for a line that is too long.
  Result<std::optional<Line>> next();
  /// The number of the line that next() gave last, from 1.
  [[nodiscard]] std::size_t line_number() const { return line_number_; }
  [[nodiscard]] const ByteSource& source() const { return *source_; }

 private:
  Result<void> refill();

  std::unique_ptr<ByteSource> source_;
  std::size_t max_line_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< of what was not yet given out
  std::size_t end_ = 0;    ///< of what was read
  std::size_t line_number_ = 0;
  bool at_end_ = false;
};

}  // namespace linkhealth
