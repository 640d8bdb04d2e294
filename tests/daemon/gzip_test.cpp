#include "daemon/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace linkhealth {
namespace {

std::string unpacked(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(2'000'000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(Gzip, OneStateForManyTextsOfAnySize) {
  Gzip gzip;
  std::string noise;
  for (std::uint32_t i = 0, seed = 1; i < 300'000; ++i)
    noise += static_cast<char>((seed = seed * 1'664'525 + 1'013'904'223) >> 24);
  for (const std::string& text : {std::string(), std::string("a"), noise, std::string(500'000, 'x'), noise})
    EXPECT_EQ(unpacked(gzip.compress(text)), text) << text.size();
}

}  // namespace
}  // namespace linkhealth
