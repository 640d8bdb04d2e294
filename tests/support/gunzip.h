#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace linkhealth::test {

/// Unpacks a gzip member of at most 10 MiB; fails the test when it is invalid.
inline std::string gunzip(const std::string& packed) {
  constexpr int kGzipOnly = 15 + 16;
  constexpr std::size_t kMost = 10U << 20U;
  std::string out(kMost, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, kGzipOnly), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

}  // namespace linkhealth::test
