#include "daemon/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/support/gunzip.h"

namespace linkhealth {
namespace {

std::string noise(std::size_t size) {
  std::string bytes;
  for (std::uint32_t seed = 1; bytes.size() < size;)
    bytes += static_cast<char>((seed = seed * 1'664'525 + 1'013'904'223) >> 24);
  return bytes;
}

TEST(Gzip, OneStateForManyTextsOfAnySize) {
  Gzip gzip;
  for (const std::string& text :
       {std::string(), std::string("a"), noise(300'000), std::string(500'000, 'x'), noise(300'000)})
    EXPECT_EQ(test::gunzip(gzip.compress(text)), text) << text.size();
}

TEST(Gzip, WhatCannotBeMadeSmallerHasRoomAtEverySize) {
  Gzip gzip;
  for (const std::size_t size :
       {1, 2, 300, 4095, 4096, 16'383, 32'768, 65'534, 65'535, 65'536, 131'070, 131'071, 1'000'003})
    EXPECT_EQ(test::gunzip(gzip.compress(noise(size))), noise(size)) << size;
}

TEST(Gzip, InPiecesItIsTheSameText) {
  Gzip gzip;
  for (const std::size_t size : {1, 4096, 65'536}) {
    const std::string text = noise(200'000) + std::string(200'000, 'x');
    gzip.begin();
    for (std::size_t at = 0; at < text.size(); at += size)
      gzip.add(std::string_view(text).substr(at, size));
    EXPECT_EQ(test::gunzip(gzip.end()), text) << size;
  }
}

/// As metrics are: `ports` lines that differ in the device and in the value.
std::string lines(int ports, std::uint64_t value) {
  std::string text;
  for (int port = 0; port < ports; ++port)
    text += "linkhealth_port_receive_data_bytes_total{device=\"mlx5_" + std::to_string(port) +
            "\",port=\"1\"} " + std::to_string(value += 7919) + "\n";
  return text;
}

TEST(Gzip, AsSmallAsZlibsFastestOnceItKnowsTheText) {
  Gzip gzip;
  (void)gzip.compress(lines(500, 1'000'000'000));
  const std::string text = lines(500, 7'000'000'000);
  uLongf size = compressBound(text.size());
  std::string room(size, '\0');
  ASSERT_EQ(compress2(reinterpret_cast<Bytef*>(room.data()), &size,
                      reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_BEST_SPEED),
            Z_OK);
  EXPECT_LT(static_cast<double>(gzip.compress(text).size()), 1.1 * static_cast<double>(size));
}

TEST(Gzip, WhatResemblesTheTextBeforeBecomesSmallerThanThatDid) {
  Gzip gzip;
  const std::size_t first = gzip.compress(lines(500, 1'000'000'000)).size();
  const std::string text = lines(500, 7'000'000'000);
  const std::string next = gzip.compress(text);
  EXPECT_LT(static_cast<double>(next.size()), 0.9 * static_cast<double>(first));
  EXPECT_EQ(test::gunzip(next), text);
}

TEST(Gzip, WhenTheTextsChangeTheCodeFollows) {
  Gzip gzip;
  (void)gzip.compress(std::string(1000, '='));
  std::size_t before = 0, after = 0;
  for (int i = 0; i < 600; ++i) {
    const std::string text = lines(40, static_cast<std::uint64_t>(i));
    const std::string packed = gzip.compress(text);
    ASSERT_EQ(test::gunzip(packed), text) << i;
    (i == 0 ? before : after) = packed.size();
  }
  EXPECT_LT(static_cast<double>(after), 0.8 * static_cast<double>(before));
}

}  // namespace
}  // namespace linkhealth
