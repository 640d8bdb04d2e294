// The limits of a CMIS module may be others once its data path is up (CMIS 5.4 7.1.3.2, 8.5): they
// are read anew. And what a tunable SFP has latched.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "probes/module_schedule.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

/// A module in memory, read by the schedule for a minute of its time.
struct ModuleInPort {
  ModuleSchedule schedule{ModuleTiming{}};
  SteadyTime now = steady_from_seconds(1000);
  std::size_t limit_reads = 0;
  std::optional<ModuleSample> last;

  ModuleInPort() { schedule.set_ports({{"mlx5_0/1", 7}}, now); }

  void read_for_a_minute(const EepromBuilder& module) { read_for(module, from_seconds(60)); }

  void read_for(const EepromBuilder& module, Milliseconds time) {
    const ModuleImage image = module.image();
    const SteadyTime until = now + time;
    while (now <= until) {
      const auto read = schedule.next(now);
      if (!read) {
        now = std::min(std::max(schedule.wake_at().value_or(until), now), until) + Milliseconds{1};
        continue;
      }
      const ModulePageRequest& page = read->page;
      if (page.page == 0x02 && page.i2c_address == kModuleAddressA0) ++limit_reads;
      const auto bytes =
          ModulePage(image, {page.i2c_address, page.bank, page.page, page.offset >= 128})
              .raw(page.offset, page.length)
              .value_or(std::string(page.length, '\0'));
      now += Milliseconds{5};
      schedule.done(*read, std::vector<std::uint8_t>(bytes.begin(), bytes.end()), Milliseconds{5},
                    now, WallTime());
    }
    for (ModuleRound& round : schedule.take_finished()) last = std::move(round.sample);
  }
};

TEST(ModuleLimits, AreReadAnewWhenADataPathHasComeUp) {
  ModuleInPort port;
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
  ModuleInPort port;
  auto module = EepromBuilder::cmis();
  module.lower().byte(90, 0x4b).byte(91, 0x14).byte(92, 0x11).byte(93, 0xff).byte(94, 0xff);
  port.read_for_a_minute(module);
  EXPECT_EQ(port.limit_reads, 1U);
  module.page(0x11).fill(206, 8, 0x20);
  port.read_for_a_minute(module);
  EXPECT_EQ(port.limit_reads, 2U);
}

EepromBuilder tunable_sfp() {
  auto module = EepromBuilder::sff8472();
  module.lower().byte(65, 0x5a);
  module.a2_tunable().byte(128, 0x02).u16(132, 191).u16(134, 3500).u16(136, 196).u16(138, 1000).u16(
      140, 500);
  module.u16(144, 36);
  return module;
}

/// SFF-8690 advertises no measured error: 0 is also what a register holds that nobody fills. A
/// series must not come and go as the error of a good laser passes through 0.
TEST(ModuleTuning, AnErrorOfZeroCountsOnceThereWasAnother) {
  ModuleInPort port;
  auto module = tunable_sfp();
  const auto error_mhz = [&](unsigned tenths, unsigned status) {
    module.a2_tunable().u16(152, tenths).byte(168, status);
    port.read_for_a_minute(module);
    return port.last ? port.last->vdm.laser_frequency_error_mhz : std::nullopt;
  };
  EXPECT_EQ(error_mhz(0, 0), std::nullopt) << "perhaps nobody fills it";
  EXPECT_EQ(error_mhz(2, 0), 200);
  EXPECT_EQ(error_mhz(0, 0), 0);
  EXPECT_EQ(error_mhz(0, 0x10), std::nullopt) << "while it is being tuned";
  EXPECT_EQ(error_mhz(0, 0), 0);
  module.lower().text(68, 16, "ANOTHER");
  EXPECT_EQ(error_mhz(0, 0), std::nullopt) << "another module";
}

/// Of an SFP the loss of signal is live, and the flags of its tuning are latched: since when they
/// were is not known.
TEST(ModuleTuning, WhatAnSfpLatchedBeforeItsFirstReadIsNotBelieved) {
  ModuleInPort port;
  auto module = tunable_sfp();
  module.a2().byte(110, 0x02);
  module.a2_tunable().byte(172, 0x20);
  for (int i = 0; i < 20 && !port.last; ++i) port.read_for(module, Milliseconds{20});
  ASSERT_TRUE(port.last);
  const ModuleSample first = *port.last;
  ASSERT_EQ(first.laser_tuning.size(), 1U);
  EXPECT_EQ(first.laser_tuning[0].frequency_ghz, 193'100);
  EXPECT_EQ(first.laser_tuning[0].wavelength_unlocked, std::nullopt);
  EXPECT_EQ(first.lanes.at(0).rx_los, true);
  module.a2_tunable().byte(172, 0);  // the read has cleared it
  port.read_for_a_minute(module);
  const auto changed = [&](const std::string& name) {
    return std::ranges::count(port.last->flags, name, &ModuleFlag::name);
  };
  EXPECT_EQ(changed("laser_wavelength_unlocked"), 0) << "it has been so from the start";
  EXPECT_EQ(changed("rx_los"), 1);
  module.a2_tunable().byte(172, 0x20);
  port.read_for_a_minute(module);
  EXPECT_EQ(port.last->laser_tuning[0].wavelength_unlocked, true);
  EXPECT_EQ(changed("laser_wavelength_unlocked"), 1);
}

/// One bit of the module's is live, the other latched, and they are one flag here: the second round
/// knows it.
TEST(ModuleTuning, AnSfpThatHasLostItsWavelengthIsKnownAfterASecond) {
  ModuleInPort port;
  auto module = tunable_sfp();
  module.a2_tunable().byte(168, 0x20);
  port.read_for(module, Milliseconds{500});
  ASSERT_TRUE(port.last);
  EXPECT_EQ(port.last->laser_tuning.at(0).wavelength_unlocked, std::nullopt);
  port.read_for(module, Milliseconds{1500});
  EXPECT_EQ(port.last->laser_tuning.at(0).wavelength_unlocked, true);
}

}  // namespace
}  // namespace linkhealth
