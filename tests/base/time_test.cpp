#include "base/time.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

TEST(Time, FormatsWhatItReads) {
  for (const char* text :
       {"2026-11-20T10:00:12Z", "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999Z",
        "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "2024-02-29T00:00:00.250Z"}) {
    const auto time = parse_rfc3339(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(format_rfc3339(*time), text);
  }
}

TEST(Time, ReadsOffsetsAndFractions) {
  EXPECT_EQ(format_rfc3339(*parse_rfc3339("2026-11-20T12:00:12.5+02:00")),
            "2026-11-20T10:00:12.500Z");
  EXPECT_EQ(format_rfc3339(*parse_rfc3339("2026-11-20T10:00:12.1239999Z")),
            "2026-11-20T10:00:12.123Z");
}

TEST(Time, RefusesInvalidTimes) {
  for (const char* text :
       {"", "2026-11-20", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z",
        "2026-02-30T00:00:00Z", "2026-11-20T25:00:00Z", "2026-11-20T10:00:12",
        "2026-11-20T10:00:12Zjunk", "2026-11-20T10:00:12.Z"})
    EXPECT_FALSE(parse_rfc3339(text)) << text;
}

TEST(Time, SecondsRoundToTheMillisecond) {
  EXPECT_EQ(from_seconds(0.0064).count(), 6);
  EXPECT_EQ(from_seconds(-1.5).count(), -1500);
  EXPECT_DOUBLE_EQ(steady_seconds(steady_from_seconds(12.25)), 12.25);
}

}  // namespace
}  // namespace linkhealth
