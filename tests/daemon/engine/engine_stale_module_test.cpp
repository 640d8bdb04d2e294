// A module that can't be read any more is unknown: it neither is well nor has a fault.
#include <gmock/gmock.h>

#include "tests/daemon/engine/story.h"

namespace linkhealth {
namespace {

constexpr const char* kHot = "opened:module_overheated";

Story hot_once() {
  Story story(3600);
  story.feed.module.temperature_c = 91;
  story.run(10);
  EXPECT_EQ(story.events, "") << "one reading is none";
  return story;
}

/// An import says itself how long its reading holds.
TEST(AStaleModule, WithAnEndedImportIsNotJudged) {
  Story story = hot_once();
  story.feed.module = ModuleSample{};
  story.feed.gaps = {
      {"mlx5_0/1", "module", "the imported reading has ended, and ethtool reports none"}};
  story.run(10);  // said once
  story.feed.module_readable = false;
  story.feed.gaps.clear();
  story.run(1800);
  EXPECT_EQ(story.events, "");
  EXPECT_FALSE(story.port().latest.module);
}

TEST(AStaleModule, ThatIsBusyForMinutesIsUnknown) {
  Story story(3600);
  story.feed.module_readable = false;
  story.feed.gaps = {{"mlx5_0/1", "module", "EBUSY"}};
  story.run(290);
  EXPECT_TRUE(story.port().latest.module) << "busy now and then";
  story.run(20);
  EXPECT_FALSE(story.port().latest.module);
  story.feed.gaps.clear();
  story.feed.module_readable = true;
  story.run(10);
  EXPECT_TRUE(story.port().latest.module);
}

TEST(AStaleModule, WithoutAGapKeepsItsReading) {
  Story story(3600);
  story.feed.module_readable = false;  // not due
  story.run(3600);
  EXPECT_TRUE(story.port().latest.module);
}

TEST(AStaleModule, ThatComesBackIsComparedWithItsPast) {
  Story story(3600);
  story.feed.module_readable = false;
  story.feed.gaps = {{"mlx5_0/1", "module", "EBUSY"}};
  story.run(600);
  story.feed.gaps.clear();
  story.feed.module_readable = true;
  story.feed.module.temperature_c = 91;
  story.run(600);
  EXPECT_THAT(story.events, ::testing::HasSubstr(kHot));
}

}  // namespace
}  // namespace linkhealth
