#include "daemon/gzip.h"

#include <gtest/gtest.h>

#include "tests/support/gunzip.h"

namespace linkhealth {
namespace {

TEST(Gzip, OneStateForManyTextsOfAnySize) {
  Gzip gzip;
  std::string noise;
  for (std::uint32_t i = 0, seed = 1; i < 300'000; ++i)
    noise += static_cast<char>((seed = seed * 1'664'525 + 1'013'904'223) >> 24);
  for (const std::string& text : {std::string(), std::string("a"), noise, std::string(500'000, 'x'), noise})
    EXPECT_EQ(test::gunzip(gzip.compress(text)), text) << text.size();
}

}  // namespace
}  // namespace linkhealth
