// What module_text() says of what a module does not measure, was not asked, or says and is not
// believed.
#include <gmock/gmock.h>

#include "exporters/module_text.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ModuleSample optic() {
  ModuleSample m;
  m.kind = "optical";
  m.type = "400G-DR4";
  m.management = "CMIS 5.0";
  m.bank_count = 1;
  m.lanes.resize(4);
  for (ModuleLane& lane : m.lanes) lane.rx_power_mw = 1;
  m.host_lanes.resize(8);
  for (ModuleHostLane& lane : m.host_lanes) {
    lane.in_use = true;
    lane.data_path_state = "Activated";
  }
  return m;
}

/// Nobody disbelieved a page that nobody read.
TEST(ModuleTextGaps, WhatWasNotReadIsNotKnownAndNotDisbelieved) {
  ModuleSample m = optic();
  m.warnings = {"A2h was not read: light, limits and flags are not known",
                "checksum of A2h is wrong",
                "page 00h breaks off after 64 of 128 bytes: what stands behind is not known"};
  const std::string text = module_text(m, {});
  EXPECT_THAT(
      text,
      HasSubstr("\n  Not known\n    A2h was not read: light, limits and flags are not known\n"
                "    page 00h breaks off after 64 of 128 bytes: what stands behind is not known\n"
                "\n  Not believed\n    checksum of A2h is wrong\n"));
  m.warnings = {"page 11h of bank 3: EIO"};
  EXPECT_THAT(module_text(m, {}), HasSubstr("\n  Not known\n    page 11h of bank 3: EIO\n"));
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("believed")));
  m.warnings = {"supply of 6 V cannot be true"};
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("\n  Not believed\n    supply of 6 V cannot be true\n"));
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("Not known")));
}

TEST(ModuleTextGaps, BanksOfWhichTheSameIsSaidAreOneLine) {
  ModuleSample m = optic();
  for (unsigned bank = 1; bank < 16; ++bank)
    if (bank != 8)
      m.warnings.push_back("page 11h of bank " + std::to_string(bank) +
                           " was not read: its lanes are not known");
  m.warnings.emplace_back("page 24h of bank 2 was not read");
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("  Not known\n"
                        "    page 11h of banks 1 to 7 was not read: its lanes are not known\n"
                        "    page 11h of banks 9 to 15 was not read: its lanes are not known\n"
                        "    page 24h of bank 2 was not read\n"));
}

TEST(ModuleTextGaps, AModuleThatMeasuresNothingSaysSoAndWhy) {
  ModuleSample m;
  m.kind = "dac";
  m.management = "SFF-8636 2.8";
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("  measures     nothing: a passive copper cable has no monitors\n"));
  m.kind = "optical";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  measures     nothing: it offers no monitors\n"));
  m.management = "CMIS 5.0";
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("  measures     nothing: its memory says only who it is (flat memory)\n"));
  m.bank_count = 1;
  EXPECT_THAT(module_text(m, {}), HasSubstr("  measures     nothing: it offers no monitors\n"));
  m.warnings = {"checksum of page 00h is wrong", "date code \"21 1 1\" is no date: left out"};
  EXPECT_THAT(module_text(m, {}), HasSubstr("  measures     nothing: it offers no monitors\n"));
  m.warnings = {"page 01h was not read: what the module measures is not known"};
  EXPECT_THAT(module_text(m, {}), HasSubstr("  measures     not known: see below\n"));
  m.temperature_c = 40;
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("  measures ")));
  EXPECT_THAT(module_text(optic(), {}), Not(HasSubstr("  measures ")));
  m = ModuleSample();
  m.kind = "acc";
  m.vdm.host_esnr_db = {8.5};
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("  measures ")));
}

TEST(ModuleTextGaps, TheLossOfACopperCableIsSaid) {
  ModuleSample m;
  m.kind = "dac";
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("  loss")));
  m.copper_attenuation = {{2.5, 6}, {12.9, 16}};
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("  loss         6 dB at 2.5 GHz, 16 at 12.9, as its maker says\n"));
}

TEST(ModuleTextGaps, ALaneWithoutAValueSaysWhy) {
  ModuleSample m = optic();
  m.lanes[1] = ModuleLane{};
  m.host_lanes[2].in_use = m.host_lanes[3].in_use = false;
  m.lanes[2] = ModuleLane{};
  m.host_lanes[4].data_path_state = m.host_lanes[5].data_path_state = "Deactivated";
  m.lanes[3] = ModuleLane{};
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("     1  0.0\n"
                              "     2  - (not in use)\n"
                              "     3  - (data path Deactivated)\n"
                              "     4  - (not there)\n"));
}

/// A four-lane module of an older map says it lane by lane; a lane that says anything is there.
TEST(ModuleTextGaps, ALaneThatIsThereIsNotCalledMissing) {
  ModuleSample m = optic();
  m.management = "SFF-8636 2.8";
  m.host_lanes.clear();
  m.lanes[1] = ModuleLane{};
  m.lanes[2] = ModuleLane{};
  m.lanes[2].rx_los = false;
  EXPECT_THAT(module_text(m, {}), HasSubstr("     2  - (not there)\n     3  -\n"));
}

/// Somebody else may tell us of some lanes only.
TEST(ModuleTextGaps, ALaneThatNobodyImportedIsNotCalledMissing) {
  ModuleSample m = optic();
  m.host_lanes.clear();
  m.imported_at = WallTime(std::chrono::seconds(1'795'175'969));
  m.lanes[1] = ModuleLane{};
  EXPECT_THAT(module_text(m, {}), HasSubstr("     2  -\n"));
}

/// What a bank that nobody read would say of its lanes is not known.
TEST(ModuleTextGaps, LanesOfABankThatWasNotReadAreNotCalledMissing) {
  ModuleSample m = optic();
  m.lanes.resize(8);
  for (std::size_t i = 0; i < 4; ++i) {
    m.lanes[i] = ModuleLane{};
    m.lanes[i + 4].rx_power_mw = 1;
  }
  for (std::size_t i = 0; i < 4; ++i) m.host_lanes[i] = ModuleHostLane{};
  EXPECT_THAT(module_text(m, {}), HasSubstr("     4  - (not read)\n     5  0.0\n"));
}

}  // namespace
}  // namespace linkhealth
