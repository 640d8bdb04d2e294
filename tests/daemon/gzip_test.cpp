#include "daemon/gzip.h"

#include <gtest/gtest.h>

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
    for (std::size_t at = 0; at < text.size(); at += size) gzip.add(std::string_view(text).substr(at, size));
    EXPECT_EQ(test::gunzip(gzip.end()), text) << size;
  }
}

TEST(Gzip, LinesThatAreAlikeBecomeATenthOfThem) {
  std::string text;
  for (int port = 0; port < 1000; ++port)
    text += "linkhealth_port_receive_data_bytes_total{device=\"mlx5_" + std::to_string(port) + "\",port=\"1\"} 1\n";
  EXPECT_LT(Gzip().compress(text).size(), text.size() / 10);
}

}  // namespace
}  // namespace linkhealth
