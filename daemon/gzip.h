// One gzip state for many texts, used by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct isal_zstream;

namespace linkhealth {

/// Its memory is taken with the first text and kept: a new state for each text costs more than compressing the metrics
/// of ten ports.
class Gzip {
 public:
  Gzip();
  ~Gzip();
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  /// A gzip member at ISA-L's level 1 (as small as zlib's level 1 in a half (10 ports) to a third (64 ports) of its
  /// time), of pieces, so that nobody needs room for the whole text: begin(), add() for each, end().
  void begin();
  void add(std::string_view piece);
  /// REQUIRES: begin().
  std::string end();

  /// The same of a text as a whole.
  std::string compress(std::string_view text);

 private:
  /// Goes on with `text`.
  void feed(std::string_view text);
  void deflate();

  std::unique_ptr<isal_zstream> stream_;
  std::unique_ptr<unsigned char[]> level_memory_;  // NOLINT(*-avoid-c-arrays): not to be filled, see begin
  std::string small_;                              ///< pieces that wait for more
  std::string out_;                                ///< begins with what is made so far
};

}  // namespace linkhealth
