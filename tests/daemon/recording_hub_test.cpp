#include "daemon/recording_hub.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

constexpr Milliseconds kNoPatience(0);

TEST(DaemonRecordingHub, ANewcomerGetsTheOpeningThenTheLines) {
  RecordingHub hub;
  EXPECT_FALSE(hub.has_listeners());
  const auto first = hub.subscribe();
  EXPECT_TRUE(hub.has_newcomer());
  hub.publish("header+all 1\n", "line 1\n");
  EXPECT_FALSE(hub.has_newcomer());
  const auto second = hub.subscribe();
  hub.publish("header+all 2\n", "line 2\n");
  EXPECT_EQ(first->next(kNoPatience), "header+all 1\n");
  EXPECT_EQ(first->next(kNoPatience), "line 2\n");
  EXPECT_EQ(first->next(kNoPatience), std::nullopt);
  EXPECT_EQ(second->next(kNoPatience), "header+all 2\n");
}

TEST(DaemonRecordingHub, ASlowListenerLosesItsRecordingAndNobodyElse) {
  RecordingHub hub(2, 10);
  const auto slow = hub.subscribe();
  hub.publish("12345678", "-");
  const auto quick = hub.subscribe();
  hub.publish("open", "abcdef");
  EXPECT_EQ(slow->next(kNoPatience), "12345678");
  EXPECT_TRUE(slow->over());
  EXPECT_EQ(quick->next(kNoPatience), "open");
  EXPECT_FALSE(quick->over());
}

TEST(DaemonRecordingHub, ListenersAreBoundedAndLeaveByThemselves) {
  RecordingHub hub(1);
  auto only = hub.subscribe();
  EXPECT_EQ(hub.subscribe(), nullptr);
  only.reset();
  EXPECT_FALSE(hub.has_listeners());
  EXPECT_NE(hub.subscribe(), nullptr);
}

TEST(DaemonRecordingHub, CloseEndsAllAndRefusesMore) {
  RecordingHub hub;
  const auto listener = hub.subscribe();
  hub.publish("open", "line");
  hub.close();
  EXPECT_EQ(listener->next(Milliseconds(60000)), "open");
  EXPECT_EQ(listener->next(Milliseconds(60000)), std::nullopt);
  EXPECT_TRUE(listener->over());
  EXPECT_EQ(hub.subscribe(), nullptr);
}

}  // namespace
}  // namespace linkhealth
