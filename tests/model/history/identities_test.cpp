#include "model/history/identities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace linkhealth {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

Snapshot snapshot_at(std::int64_t second, const std::string& serial) {
  Snapshot snapshot;
  snapshot.wall_time = WallTime(std::chrono::seconds(1'763'640'000 + second));
  PortSample& port = snapshot.ports["mlx5_0/1"];
  port.id.device = "mlx5_0";
  port.id.pci = "0000:1b:00.0";
  port.module.emplace().serial = serial;
  return snapshot;
}

TEST(IdentityWatchTest, ReportsAModuleWhenItIsNewAndOnceAnHour) {
  IdentityWatch watch;
  const auto first = watch.add(snapshot_at(0, "S1"));
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].serial, "S1");
  EXPECT_EQ(first[0].end, "local");
  EXPECT_EQ(first[0].port, "0000:1b:00.0/1");
  EXPECT_EQ(first[0].place, "mlx5_0/1");
  EXPECT_THAT(watch.add(snapshot_at(3599, "S1")), IsEmpty());
  EXPECT_THAT(watch.add(snapshot_at(3600, "S1")), SizeIs(1));
  EXPECT_THAT(watch.add(snapshot_at(3610, "S2")), SizeIs(1)) << "another module";
  EXPECT_THAT(watch.add(snapshot_at(3620, "S1")), IsEmpty()) << "back in its place within the hour";
}

TEST(IdentityWatchTest, IgnoresAnAbsentModuleAndOneWithoutASerial) {
  IdentityWatch watch;
  EXPECT_THAT(watch.add(snapshot_at(0, "")), IsEmpty());
  Snapshot gone = snapshot_at(0, "S1");
  gone.ports["mlx5_0/1"].module->present = false;
  EXPECT_THAT(watch.add(gone), IsEmpty());
}

TEST(IdentityWatchTest, TheFarEndIsNamedByItsPlace) {
  IdentityWatch watch;
  Snapshot snapshot = snapshot_at(0, "S1");
  PeerSample& peer = snapshot.ports["mlx5_0/1"].peer.emplace();
  peer.system = "leaf-12";
  peer.port = "Ethernet17/1";
  peer.module.emplace().serial = "F1";
  const auto both = watch.add(snapshot);
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(both[1].end, "far");
  EXPECT_EQ(both[1].place, "leaf-12 Ethernet17/1");
}

TEST(IdentityWatchTest, AClockThatIsSetBackReportsOnce) {
  IdentityWatch watch;
  watch.add(snapshot_at(5000, "S1"));
  EXPECT_THAT(watch.add(snapshot_at(0, "S1")), SizeIs(1));
  EXPECT_THAT(watch.add(snapshot_at(10, "S1")), IsEmpty());
}

}  // namespace
}  // namespace linkhealth
