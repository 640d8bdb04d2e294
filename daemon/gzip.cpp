#include "daemon/gzip.h"

#include <zlib.h>

#include <array>

namespace linkhealth {

Gzip::Gzip() = default;

Gzip::~Gzip() {
  if (stream_) deflateEnd(stream_.get());
}

bool Gzip::ready() {
  if (stream_) return deflateReset(stream_.get()) == Z_OK;
  // 32 KiB window and a gzip header (zlib.h, deflateInit2); a level less of memory is 192 kB for the state instead of
  // 268, faster, and metrics become no larger. With half the window the metrics of ten ports would not fit into the
  // buffer, and moving it takes a tenth of the time.
  constexpr int kGzipWindow = 15 + 16;
  constexpr int kMemoryLevel = 7;
  auto stream = std::make_unique<z_stream>();
  if (deflateInit2(stream.get(), 1, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) return false;
  stream_ = std::move(stream);
  return true;
}

std::string Gzip::compress(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (!ready()) return {};
  std::array<Bytef, 16384> part;  // NOLINT(*-member-init): filled by deflate
  std::string out;
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream_->avail_in = static_cast<uInt>(text.size());
  int status = Z_OK;
  while (status == Z_OK) {
    stream_->next_out = part.data();
    stream_->avail_out = static_cast<uInt>(part.size());
    status = deflate(stream_.get(), Z_FINISH);
    out.append(reinterpret_cast<const char*>(part.data()), part.size() - stream_->avail_out);
  }
  if (status != Z_STREAM_END) out.clear();
  return out;
}

}  // namespace linkhealth
