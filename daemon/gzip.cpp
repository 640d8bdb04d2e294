#include "daemon/gzip.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace linkhealth {

namespace {

/// A page of metrics stays what it is until ports come or a scraper asks for more.
constexpr unsigned kLearnEach = 256;
/// What the room for the output grows by; ISA-L goes on where it was when the room was too small.
constexpr std::size_t kRoom = std::size_t{16} * 1024;
/// ISA-L takes twice as long in pieces of 150 bytes, and no longer from about 2 kB on.
constexpr std::size_t kSmall = std::size_t{2} * 1024;

}  // namespace

Gzip::Gzip() = default;
Gzip::~Gzip() = default;

void Gzip::begin() {
  // Not filled before it is written: pages that no text reaches cost no memory.
  if (!stream_) stream_ = std::make_unique_for_overwrite<isal_zstream>();
  isal_deflate_init(stream_.get());
  stream_->gzip_flag = IGZIP_GZIP;
  if (code_) isal_deflate_set_hufftables(stream_.get(), code_.get(), IGZIP_HUFFTABLE_CUSTOM);
  if (texts_++ % kLearnEach == 0) learning_ = std::make_unique<isal_huff_histogram>();
}

void Gzip::deflate() {
  do {
    if (out_.size() == stream_->total_out) out_.resize(out_.size() + kRoom);
    stream_->next_out = reinterpret_cast<std::uint8_t*>(out_.data() + stream_->total_out);
    stream_->avail_out = static_cast<std::uint32_t>(out_.size() - stream_->total_out);
    isal_deflate(
        stream_.get());  // COMP_OK: what else it answers is about settings, which are those above
  } while (stream_->avail_out == 0);
}

void Gzip::feed(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = std::min<std::size_t>(text.size(), std::numeric_limits<int>::max());
    stream_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    stream_->avail_in = static_cast<std::uint32_t>(size);
    if (learning_) isal_update_histogram(stream_->next_in, static_cast<int>(size), learning_.get());
    deflate();
    text.remove_prefix(size);
  }
}

void Gzip::add(std::string_view piece) {
  if (small_.size() + piece.size() <= kSmall) {
    small_ += piece;
    return;
  }
  feed(small_);
  small_.clear();
  if (piece.size() <= kSmall) {
    small_ = piece;
  } else {
    feed(piece);
  }
}

std::string Gzip::end() {
  feed(small_);
  small_.clear();
  stream_->end_of_stream = 1;
  stream_->avail_in = 0;
  deflate();
  if (learning_) {
    if (!code_) code_ = std::make_unique<isal_hufftables>();
    // It has a code for every byte and length, also for those that this text does not have.
    isal_create_hufftables(code_.get(), learning_.get());
    learning_.reset();
  }
  return out_.substr(0, stream_->total_out);
}

std::string Gzip::compress(std::string_view text) {
  begin();
  add(text);
  return end();
}

}  // namespace linkhealth
