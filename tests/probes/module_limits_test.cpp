// The limits of a CMIS module may be others once its data path is up (CMIS 5.4 7.1.3.2, 8.5): they are read anew.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "probes/module_schedule.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

/// A module of CMIS in memory, read by the schedule for a minute of its time.
struct CmisPort {
  ModuleSchedule schedule{ModuleTiming{}};
  SteadyTime now = steady_from_seconds(1000);
  std::size_t limit_reads = 0;
  std::optional<ModuleSample> last;

  CmisPort() { schedule.set_ports({{"mlx5_0/1", 7}}, now); }

  void read_for_a_minute(const EepromBuilder& module) {
    const ModuleImage image = module.image();
    const SteadyTime until = now + from_seconds(60);
    while (now <= until) {
      const auto read = schedule.next(now);
      if (!read) {
        now = std::max(schedule.wake_at().value_or(until), now) + Milliseconds{1};
        continue;
      }
      const ModulePageRequest& page = read->page;
      if (page.page == 0x02 && page.offset >= 128) ++limit_reads;
      const auto bytes = ModulePage(image, {page.i2c_address, page.bank, page.page, page.offset >= 128})
                             .raw(page.offset, page.length)
                             .value_or(std::string(page.length, '\0'));
      now += Milliseconds{5};
      schedule.done(*read, std::vector<std::uint8_t>(bytes.begin(), bytes.end()), Milliseconds{5}, now, WallTime());
    }
    for (ModuleRound& round : schedule.take_finished()) last = std::move(round.sample);
  }
};

TEST(ModuleLimits, AreReadAnewWhenADataPathHasComeUp) {
  CmisPort port;
  auto module = EepromBuilder::cmis();
  module.page(0x11).fill(128, 4, 0x11);  // deactivated, as a module is that was put in a moment ago
  port.read_for_a_minute(module);
  EXPECT_EQ(port.limit_reads, 1U) << "what does not change is read once";
  ASSERT_TRUE(port.last);
  const auto before = port.last->thresholds.temperature_c.high_alarm;
  module.page(0x11).fill(128, 4, 0x44);
  module.page(2).limits(128, 80 << 8, 0xfb00, 70 << 8, 0);
  port.read_for_a_minute(module);
  EXPECT_EQ(port.limit_reads, 2U);
  EXPECT_EQ(before, 75.0);
  EXPECT_EQ(port.last->thresholds.temperature_c.high_alarm, 80.0);
  port.read_for_a_minute(module);
  EXPECT_EQ(port.limit_reads, 2U) << "once for each time";
}

TEST(ModuleLimits, AreReadAnewWhenAnotherApplicationRuns) {
  CmisPort port;
  auto module = EepromBuilder::cmis();
  module.lower().byte(90, 0x4b).byte(91, 0x14).byte(92, 0x11).byte(93, 0xff).byte(94, 0xff);
  port.read_for_a_minute(module);
  EXPECT_EQ(port.limit_reads, 1U);
  module.page(0x11).fill(206, 8, 0x20);
  port.read_for_a_minute(module);
  EXPECT_EQ(port.limit_reads, 2U);
}

}  // namespace
}  // namespace linkhealth
