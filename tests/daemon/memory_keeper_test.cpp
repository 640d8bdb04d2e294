// What the daemon remembers of its steps, and what it announces.
#include "daemon/memory_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"
#include "exporters/json.h"
#include "tests/storage/memory_example.h"
#include "tests/support/report_builder.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class MemoryKeeperTest : public testing::Test {
 protected:
  /// A daemon from start to end that sees these events, one a step of ten seconds.
  void live(const std::vector<FaultEvent>& events) {
    MemoryKeeper keeper(settings_, memory_time(0), log_);
    known_ = keeper.remembered().ledger;
    keeper.start([this](const FaultEvent& event) { announced_.push_back(event_id(event)); });
    for (const FaultEvent& event : events) {
      at_s_ += 10;
      Snapshot snapshot;
      snapshot.wall_time = memory_time(at_s_);
      snapshot.ports["mlx5_3/1"].id = dirty_port().latest.id;
      snapshot.ports["mlx5_3/1"].link.emplace().carrier = true;
      snapshot.ports["mlx5_3/1"].module = dirty_port().latest.module;
      Report report;
      report.ports = {dirty_port()};
      LedgerState ledger;
      ledger.faults = memory_ledger(static_cast<int>(at_s_)).faults;
      keeper.on_step(snapshot, report, {event}, ledger, [] { return ReferenceState(); });
    }
    keeper.finish(ReferenceState{{{kMemoryPort, "AC1", "", memory_time(0), 1, 1, {}}}},
                  memory_time(at_s_));
  }
  FaultEvent event(FaultEventKind kind) {
    FaultEvent event = example_event(kind);
    event.at += std::chrono::seconds(at_s_ + 10 * ++made_);
    return event;
  }

  TempDirectory temp_;
  MemorySettings settings_ = memory_settings(KnobTable(memory_knob_groups()), temp_.path());
  Log log_{LogLevel::kError, false};
  LedgerState known_;
  std::vector<std::string> announced_;
  std::int64_t at_s_ = 0;
  int made_ = 0;
};

TEST_F(MemoryKeeperTest, TheNextRunKnowsTheEventsOfThisOne) {
  const FaultEvent opened = event(FaultEventKind::kOpened), closed = event(FaultEventKind::kClosed);
  live({opened, closed});
  MemoryKeeper next(settings_, memory_time(100), log_);
  const auto all = next.earlier_events(1000);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(event_json_line(all[0]), event_json_line(opened)) << "whole, oldest first";
  EXPECT_EQ(event_json_line(all[1]), event_json_line(closed));
  EXPECT_THAT(next.earlier_events(1), SizeIs(1));
}

TEST_F(MemoryKeeperTest, EachEventIsAnnouncedOnceAndTheStateIsThereAfterARestart) {
  const FaultEvent opened = event(FaultEventKind::kOpened), closed = event(FaultEventKind::kClosed);
  live({opened, closed});
  EXPECT_THAT(announced_, ElementsAre(event_id(opened), event_id(closed)));
  live({});
  EXPECT_THAT(announced_, SizeIs(2)) << "nothing is announced twice";
  EXPECT_EQ(known_.faults, memory_ledger(20).faults);
}

TEST_F(MemoryKeeperTest, WhatWasSeenIsRemembered) {
  live({event(FaultEventKind::kOpened), event(FaultEventKind::kClosed)});
  const auto memory = Memory::open(settings_, memory_time(30));
  const std::string stable = dirty_port().latest.id.stable_key();
  const auto past = memory->past({stable, memory_time(30), 3600});
  ASSERT_TRUE(past.ok());
  EXPECT_NE(past->find(Signal::kRxPower), nullptr);
  EXPECT_THAT(past->find(Signal::kCarrierUp)->values, ElementsAre(1, 1, testing::IsNan()));
  EXPECT_THAT(past->identities, testing::Not(IsEmpty()));
  EXPECT_THAT(memory->remembered().references.ports, SizeIs(1));
}

TEST_F(MemoryKeeperTest, AnEventComesBackAsItWas) {
  const FaultEvent opened = event(FaultEventKind::kOpened);
  const auto again = parse_event(event_json_line(opened));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(event_json_line(*again), event_json_line(opened));
  EXPECT_FALSE(parse_event("{} x").ok());
}

TEST(MemorySettingsTest, FollowTheConfiguration) {
  KnobTable knobs(memory_knob_groups());
  ASSERT_TRUE(knobs.set("memory", "history", 0));
  ASSERT_TRUE(knobs.set("memory", "max_mb", 250));
  ASSERT_TRUE(knobs.set("memory", "keep_60s_s", 3600));
  const MemorySettings settings = memory_settings(knobs, "/var/lib/linkhealth");
  EXPECT_FALSE(settings.history);
  EXPECT_EQ(settings.max_bytes, 250'000'000);
  EXPECT_EQ(settings.keep_s[1], 3600);
}

TEST(MemorySettingsTest, ASwitchTakesOnAndOff) {
  const auto config = load_config("memory: {history: off}", "test.yaml", memory_knob_groups());
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_FALSE(memory_settings(config->knobs, "").history);
  EXPECT_TRUE(load_config("memory: {history: on}", "test.yaml", memory_knob_groups()).ok());
  EXPECT_FALSE(load_config("memory: {max_mb: on}", "test.yaml", memory_knob_groups()).ok());
}

}  // namespace
}  // namespace linkhealth
