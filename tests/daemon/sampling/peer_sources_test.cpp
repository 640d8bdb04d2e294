#include "daemon/sampling/peer_sources.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace linkhealth {
namespace {

Milliseconds hold_with(std::initializer_list<std::pair<const char*, double>> settings) {
  SettingTable table(peer_setting_groups());
  for (const auto& [name, value] : settings) EXPECT_TRUE(table.set("peers", name, value)) << name;
  return far_end_hold(table);
}

// A switch that answered every time was gone half of the time where it was asked less often than
// answers stood.
TEST(PeerSources, AnAnswerStandsUntilTheNextOneCanHaveCome) {
  EXPECT_EQ(hold_with({}), Milliseconds(300'000));
  EXPECT_EQ(hold_with({{"mad_period_s", 600}}), Milliseconds(1'500'000));
  EXPECT_EQ(hold_with({{"lldp_period_s", 400}}), Milliseconds(1'000'000));
  EXPECT_EQ(hold_with({{"mad_period_s", 600}, {"mad", 0}}), Milliseconds(300'000)) << "nobody asks";
  EXPECT_EQ(hold_with({{"mad_period_s", 600}, {"hold_s", 7200}}), Milliseconds(7'200'000));
}

}  // namespace
}  // namespace linkhealth
