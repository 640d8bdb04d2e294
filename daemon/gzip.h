// One gzip state for many texts, used by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct isal_huff_histogram;
struct isal_hufftables;
struct isal_zstream;

namespace linkhealth {

/// For texts that resemble each other, as one page of metrics does the next: the Huffman code is
/// made of one text in 256 and used for those after it. Its memory is taken with the first text and
/// kept: a new state for each text costs more than compressing the metrics of ten ports.
class Gzip {
 public:
  Gzip();
  ~Gzip();
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  /// A gzip member, of pieces, so that nobody needs room for the whole text: begin(), add() for
  /// each, end(). As small as zlib's level 1, in a third (10 ports) to a quarter (64 ports) of its
  /// time.
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
  std::unique_ptr<isal_hufftables> code_;          ///< none: no text has been seen
  std::unique_ptr<isal_huff_histogram> learning_;  ///< of this text; none: it is not learned from
  unsigned texts_ = 0;
  std::string small_;  ///< pieces that wait for more
  std::string out_;    ///< begins with what is made so far
};

}  // namespace linkhealth
