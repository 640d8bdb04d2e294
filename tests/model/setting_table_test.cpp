#include "model/setting_table.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

constexpr Setting kFlaps[] = {{"min_changes", 4, 2, 1000, "", "losses"},
                              {"window_s", 86400, 60, 604800, "s", "window"}};
constexpr SettingGroup kGroups[] = {{"carrier_flaps", kFlaps}};

TEST(Settings, StartAtTheirDefaults) {
  const SettingTable table(kGroups);
  EXPECT_EQ(table.values("carrier_flaps")[0], 4);
  EXPECT_EQ(table.values("carrier_flaps")[1], 86400);
}

TEST(Settings, AreSetInsideTheirBounds) {
  SettingTable table(kGroups);
  ASSERT_TRUE(table.set("carrier_flaps", "window_s", 600));
  EXPECT_EQ(table.values("carrier_flaps")[1], 600);
  EXPECT_EQ(table.set("carrier_flaps", "window_s", 5).error().message,
            "\"window_s\" is 5: it must be from 60 to 604800 s");
  EXPECT_FALSE(table.set("carrier_flaps", "window_s", std::stod("nan")));
  EXPECT_EQ(table.values("carrier_flaps")[1], 600);
}

TEST(Settings, SuggestTheNearestName) {
  SettingTable table(kGroups);
  EXPECT_EQ(table.set("carrier_flaps", "windw_s", 600).error().message,
            "unknown key \"windw_s\" (did you mean \"window_s\"?)");
  EXPECT_EQ(table.set("carrier_flap", "window_s", 600).error().message,
            "unknown key \"carrier_flap\" (did you mean \"carrier_flaps\"?)");
}

}  // namespace
}  // namespace linkhealth
