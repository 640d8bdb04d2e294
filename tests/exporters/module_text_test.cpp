#include "exporters/module_text.h"

#include <gmock/gmock.h>

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ModuleSample module() {
  ModuleSample m;
  m.kind = "optical";
  m.type = "400G-DR4";
  m.form_factor = "QSFP-DD";
  m.vendor = "ACME";
  m.serial = "AC0003";
  m.temperature_c = 71;
  m.thresholds.temperature_c = {-5, 0, 70, 75};
  m.thresholds.rx_power_mw = {0.1, 0.2, 2.8, 3.5};
  m.lanes.resize(3);
  m.lanes[0].rx_power_mw = 0.79;
  m.lanes[1].rx_power_mw = 0.12;
  m.lanes[2].rx_power_mw = 0.0001;
  m.lanes[2].rx_los = true;
  return m;
}

TEST(ModuleText, ShowsLanesAsBarsAgainstTheModulesOwnLimits) {
  const std::string text = module_text(module(), {});
  EXPECT_THAT(text, HasSubstr("400G-DR4, QSFP-DD\n"));
  EXPECT_THAT(text, HasSubstr("Rx dBm   warns outside -7.0 to 4.5, alarms outside -10.0 to 5.4\n"));
  EXPECT_THAT(text, HasSubstr("   1  ▕████"));
  EXPECT_THAT(text, HasSubstr("▏ -1.0\n"));
  EXPECT_THAT(text, HasSubstr("▏ -9.2 ▲ low warning\n"));
  EXPECT_THAT(text, HasSubstr("▕       ▏ no light ✖ low alarm\n"));
  EXPECT_THAT(text, HasSubstr("71.0 C ▲ high warning   warns outside 0 to 70 C"));
  EXPECT_THAT(text, HasSubstr("lane 3: Rx LOS\n"));
}

/// An imported reading may hold for a day.
TEST(ModuleText, WhoElseReadItAndWhenIsSaid) {
  ModuleSample m = module();
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("imported")));
  m.imported_at = WallTime(std::chrono::seconds(1'795'175'969));
  EXPECT_THAT(module_text(m, {}), HasSubstr("by somebody else (imported), 2026-11-20T"));
  m.present = false;
  EXPECT_THAT(module_text(m, {}), HasSubstr("by somebody else (imported), 2026-11-20T"));
}

TEST(ModuleText, AsciiHasTheSameWords) {
  TextStyle style;
  style.ascii = true;
  const std::string text = module_text(module(), style);
  EXPECT_THAT(text, HasSubstr("[       ] no light !! low alarm\n"));
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c <= 0x7e)) << text;
}

TEST(ModuleText, AColourIsNeverAlone) {
  TextStyle style;
  style.colour = true;
  EXPECT_THAT(module_text(module(), style), HasSubstr("low warning"));
}

TEST(ModuleText, WithoutLimitsThereIsNoBar) {
  ModuleSample m = module();
  m.thresholds = {};
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("Rx dBm   no limits are known\n     1  -1.0\n"));
  EXPECT_THAT(text, Not(HasSubstr("▕")));
}

TEST(ModuleText, ACableHasNoLanes) {
  ModuleSample m;
  m.kind = "dac";
  m.type = "400G-CR8";
  m.length_m = 2.5;
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("passive copper cable, 2.5 m"));
  EXPECT_THAT(text, Not(HasSubstr("dBm")));
}

TEST(ModuleText, ABiasBeyondItsLimitsIsMarkedWithAndWithoutAPowerBesideIt) {
  ModuleSample m = module();
  m.thresholds.tx_bias_ma = {2, 4, 8, 10};
  m.lanes[0].tx_bias_ma = 0;
  m.lanes[1].tx_bias_ma = 7;
  EXPECT_THAT(
      module_text(m, {}),
      HasSubstr(
          "Tx (no power monitor)\n  Tx bias mA   warns outside 4 to 8, alarms outside 2 to 10\n"
          "     1  bias ▕       ▏ 0.0 mA ✖ low alarm\n     2  bias ▕████▍  ▏ 7.0 mA\n"));
  m.lanes[0].tx_power_mw = 0.5;
  EXPECT_THAT(module_text(m, {}), HasSubstr("-3.0   bias ▕       ▏ 0.0 mA ✖ low alarm\n"));
}

TEST(ModuleText, SaysWhatIsNotBelieved) {
  ModuleSample m = module();
  m.warnings = {"temperature reads ffffh, which is no reading"};
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("Not believed\n    temperature reads ffffh, which is no reading\n"));
}

TEST(ModuleText, AModuleThatItsHostHoldsDarkSaysSo) {
  ModuleSample m = module();
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("low power")));
  m.low_power_pin_obeyed = true;  // as nearly every QSFP does
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("low power")));
  m.low_power_requested = true;
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("  state        the host holds it in low power: it may send no light\n"));
  m.low_power_requested = false;
  m.state = "ModuleLowPwr";
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("  state        ModuleLowPwr: it obeys the low-power pin of the cage\n"));
  m.state = "ModuleReady";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  state        ready\n"));
  m.power_class = 6;
  m.max_power_w = 4.5;
  m.allowed_power_w = 3.5;
  EXPECT_THAT(
      module_text(m, {}),
      HasSubstr(
          "  power        at most 4.5 W, of which the host has not enabled more than 3.5 W\n"));
}

TEST(ModuleText, TheCurrentOfALasersCoolerSaysWhichWayItGoes) {
  ModuleSample m = module();
  m.management = "CMIS 5.2";
  m.tec_current_percent = -46.8;
  EXPECT_THAT(module_text(m, {}), HasSubstr("  laser cooler -46.8 % (cools)\n"));
  m.tec_current_percent = 3;
  EXPECT_THAT(module_text(m, {}), HasSubstr("  laser cooler 3.0 % (heats)\n"));
  m.tec_current_percent.reset();
  m.tec_current_ma = 12;
  m.management = "SFF-8472";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  laser cooler 12.0 mA (cools)\n"));
  m.management = "SFF-8636 2.10";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  laser cooler 12.0 mA\n"))
      << "its sign is not stated";
}

TEST(ModuleText, ABiasHasABarAndItsLimitsAreSaid) {
  ModuleSample m = module();
  m.thresholds.tx_bias_ma = {2, 4, 8, 10};
  m.lanes[1].tx_bias_ma = 6;
  m.lanes[1].tx_power_mw = 0.5;
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("-3.0   bias ▕███▌   ▏ 6.0 mA\n"));
  EXPECT_THAT(text, HasSubstr("\n  Tx bias mA   warns outside 4 to 8, alarms outside 2 to 10\n"));
}

TEST(ModuleText, WhatTheHostAskedForAndWhatBecameOfItIsSaid) {
  ModuleSample m = module();
  m.host_lanes.resize(4);
  for (ModuleHostLane& lane : m.host_lanes) lane.data_path_state = "Activated";
  m.host_lanes[0].data_path_state = "Deactivated";
  m.host_lanes[0].deinit_requested = true;
  m.host_lanes[1].rx_output_disabled = true;
  m.host_lanes[1].rx_output_valid = false;
  m.host_lanes[2].config_status = "RejectedInvalidAppSel";
  m.host_lanes[3].config_status = "Success";
  m.host_lanes[3].data_path_changed = true;
  m.lanes[0].tx_output_valid = true;
  m.lanes[1].tx_output_valid = false;
  m.revision = "A1";
  m.firmware = "1.7";
  m.inactive_firmware = "1.6";
  m.hardware_revision = "1.10";
  const std::string text = module_text(m, {});
  EXPECT_THAT(text,
              HasSubstr("    media lane 2: sends no valid signal to the fibre\n"
                        "    host lane 1: data path Deactivated, as the host asked\n"
                        "    host lane 2: its output is off by host\n"
                        "    host lane 3: refused its configuration (RejectedInvalidAppSel)\n"));
  EXPECT_THAT(text, Not(HasSubstr("host lane 4")));
  EXPECT_THAT(text, HasSubstr("  revision     A1, hardware 1.10, firmware 1.7 (inactive 1.6)\n"));
}

TEST(ModuleText, AnEmptyCage) {
  ModuleSample m;
  m.present = false;
  EXPECT_EQ(module_text(m, {}), "no module in the cage\n");
}

TEST(ModuleText, SaysWhenAFlagWasSetAndClearedAndThatOthersMayHaveTakenIt) {
  ModuleSample m = module();
  ModuleFlag flag;
  flag.name = "rx_los";
  flag.lane = 2;
  flag.change_count = 2;
  flag.set_at = parse_rfc3339("2026-11-20T10:00:12Z");
  flag.cleared_at = parse_rfc3339("2026-11-20T10:01:00Z");
  m.flags.push_back(flag);
  const std::string text = module_text(m, {});
  EXPECT_THAT(
      text,
      HasSubstr("Flags that changed (as our reads saw them; another reader may have taken some)"));
  EXPECT_THAT(text, HasSubstr("rx_los 2"));
  EXPECT_THAT(text, HasSubstr("clear  2 changes, last set 2026-11-20T10:00:12Z,\n      cleared "
                              "2026-11-20T10:01:00Z\n"));
}

TEST(ModuleText, ATunableLaserHasItsFrequencyAndTheWavelengthThatPeopleSay) {
  ModuleSample m = module();
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("laser")));
  m.laser_tuning.resize(3);
  m.laser_tuning[0].frequency_ghz = 193'100;
  m.laser_tuning[1].frequency_ghz = 196'100;
  m.laser_tuning[1].wavelength_unlocked = true;
  m.laser_tuning[1].target_power_out_of_range = true;
  m.laser_tuning[2].channel_invalid = true;
  const std::string text = module_text(m, {});
  EXPECT_THAT(text,
              HasSubstr("  laser        193100.0 GHz (1552.52 nm), 196100.0 GHz (1528.77 nm)\n"));
  EXPECT_THAT(
      text,
      HasSubstr("    lane 2: laser off its wavelength, asked for a power that it can't give\n"));
  EXPECT_THAT(text, HasSubstr("    lane 3: Rx LOS, asked for a channel that it does not have\n"));
  m.laser_tuning.resize(1);
  m.laser_tuning[0] = {};
  m.laser_tuning[0].tuning = m.laser_tuning[0].cooler_fault = true;
  EXPECT_THAT(module_text(m, {}), HasSubstr("  laser        is being tuned\n"));
  EXPECT_THAT(module_text(m, {}), HasSubstr("    lane 1: laser's cooler failed\n"));
}

/// What its advertisement names is the middle of what it can be tuned to, and not where it is.
TEST(ModuleText, ATunableLaserHasNoOtherWavelength) {
  ModuleSample m = module();
  m.wavelength_nm = 1547.7;
  m.laser_tuning.resize(1);
  EXPECT_THAT(module_text(m, {}), HasSubstr("1547.7 nm"));
  m.laser_tuning[0].frequency_ghz = 193'100;
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("1547.7 nm")));
}

/// OMA is not what people compare with an average.
TEST(ModuleText, APowerThatIsNoAverageIsNamed) {
  ModuleSample m = module();
  m.rx_power_is_average = true;
  EXPECT_THAT(module_text(m, {}), HasSubstr("\n  Rx dBm   "));
  m.rx_power_is_average = false;
  m.lanes[0].tx_power_mw = 1;
  EXPECT_THAT(module_text(m, {}), HasSubstr("\n  Rx dBm (OMA)   "));
  EXPECT_THAT(module_text(m, {}), HasSubstr("\n  Tx dBm   ")) << "which is always the average";
}

TEST(ModuleText, WhatACableIsIsSaidOnce) {
  ModuleSample m;
  m.kind = "aoc";
  m.media_type = "active cable";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  kind         active optical cable\n"));
  m.kind = "acc";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  kind         active copper cable\n"));
  m.kind = "unknown";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  kind         active cable\n"));
}

TEST(ModuleText, ADateAloneIsNoRevision) {
  ModuleSample m = module();
  m.date = "2018-11-21";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  made         2018-11-21\n"));
  m.revision = "A";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  revision     A, made 2018-11-21\n"));
}

TEST(ModuleText, NumbersOfLanesStandUnderEachOther) {
  ModuleSample m = module();
  m.thresholds.tx_power_mw = {0.1, 0.2, 2.8, 3.5};
  for (const auto& [i, mw] : {std::pair<std::size_t, double>{0, 0.79}, {1, 1.12}, {2, 0.15}}) {
    m.lanes[i].tx_power_mw = mw;
    m.lanes[i].tx_bias_ma = i == 1 ? 106.5 : 7;
  }
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("▏ -1.0                 bias   7.0 mA\n"));
  EXPECT_THAT(text, HasSubstr("▏  0.5                 bias 106.5 mA\n"));
  EXPECT_THAT(text, HasSubstr("▏ -8.2 ▲ low warning   bias   7.0 mA\n"));
}

TEST(ModuleText, NoLineIsWiderThanTheScreen) {
  ModuleSample m = module();
  m.revision = "01";
  m.hardware_revision = "1.0";
  m.firmware = m.inactive_firmware = "110.20";
  m.date = "2025-03-31";
  m.vdm.media_pre_fec_ber.max = 2e-5;
  for (ModuleLane& lane : m.lanes) {
    lane.rx_los = lane.rx_lol = lane.tx_fault = true;
    lane.rx_power_flags.low_alarm = lane.tx_power_flags.low_alarm = lane.tx_bias_flags.low_alarm =
        true;
  }
  TextStyle style;
  style.width_columns = 60;
  style.ascii = true;  // a byte is a column
  const std::string text = module_text(m, style);
  EXPECT_THAT(text, HasSubstr("  revision     01, hardware 1.0,\n"
                              "               firmware 110.20 (inactive 110.20),\n"
                              "               made 2025-03-31\n"));
  EXPECT_THAT(text, HasSubstr("    lanes 1 to 3: Rx LOS, Rx LOL, Tx fault,\n"
                              "      Rx power low alarm, Tx power low alarm, bias low alarm\n"));
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    EXPECT_LE(end - at, 60U) << text.substr(at, end - at);
}

TEST(ModuleText, ALineIsNotBrokenInsideOfABar) {
  ModuleSample m = module();
  m.thresholds.tx_power_mw = {0.1, 0.2, 2.8, 3.5};
  m.thresholds.tx_bias_ma = {2, 4, 8, 10};
  m.lanes[0].tx_power_mw = m.lanes[0].tx_bias_ma = 0;
  TextStyle style;
  style.width_columns = 60;
  EXPECT_THAT(module_text(m, style), HasSubstr("     1  ▕       ▏ no light ✖ low alarm\n"
                                               "       bias ▕       ▏ 0.0 mA ✖ low alarm\n"));
  style.ascii = true;
  EXPECT_THAT(module_text(m, style), HasSubstr("     1  [       ] no light !! low alarm\n"
                                               "       bias [       ] 0.0 mA !! low alarm\n"));
  style.colour = true;
  EXPECT_THAT(module_text(m, style),
              HasSubstr("  Flags\x1b[0m (latched: since somebody last read them,\n"
                        "    perhaps not us)\n"));
}

TEST(ModuleText, BlanksBehindTheWidthAreNoLineOfTheirOwn) {
  ModuleSample m;
  m.vendor = std::string(85, 'x') + std::string(30, ' ');
  EXPECT_THAT(module_text(m, {}), HasSubstr("x\n"));
}

TEST(ModuleText, FlagsOfTheStatisticsAreOneLineForEachLimitWithItsLanes) {
  ModuleSample m = module();
  const AlarmFlags low{true, true, false, false};
  const AlarmFlags high{false, false, true, false};
  m.vdm.flags = {{"media_esnr_db", 1, low},
                 {"media_esnr_db", 3, low},
                 {"media_esnr_db", 4, high},
                 {"media_pre_fec_ber_avg", std::nullopt, high},
                 {"coherent_rx_total_power_dbm", 1, low}};
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("    media SNR low alarm, lanes 1 3\n"));
  EXPECT_THAT(text, HasSubstr("    media SNR high warning, lane 4\n"));
  EXPECT_THAT(text, HasSubstr("    media pre-FEC BER avg high warning\n"));
  EXPECT_THAT(text, HasSubstr("    coherent rx total power low alarm, lane 1\n"));
}

/// A power that swung has passed both: the one must not hide the other. An alarm says the warning
/// of its side too.
TEST(ModuleText, AFlagOfTheLowSideHidesNoneOfTheHighSide) {
  ModuleSample m = module();
  m.temperature_flags = {
      .low_alarm = true, .low_warn = true, .high_warn = false, .high_alarm = true};
  m.supply_flags = {.low_alarm = false, .low_warn = true, .high_warn = true, .high_alarm = true};
  m.lanes[0].rx_power_flags = {
      .low_alarm = true, .low_warn = false, .high_warn = true, .high_alarm = false};
  m.vdm.flags = {{"media_esnr_db",
                  7,
                  {.low_alarm = true, .low_warn = {}, .high_warn = true, .high_alarm = true}}};
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("    temperature low alarm and high alarm\n"));
  EXPECT_THAT(text, HasSubstr("    supply low warning and high alarm\n"));
  EXPECT_THAT(text, HasSubstr("    lane 1: Rx power low alarm and high warning\n"));
  EXPECT_THAT(text,
              HasSubstr("    media SNR low alarm, lane 7\n    media SNR high alarm, lane 7\n"))
      << "a line for each limit";
}

TEST(ModuleText, WhatLanesAreNowIsALineForThoseThatAreAlike) {
  ModuleSample m;
  m.management = "CMIS 5.0";
  m.host_lanes.resize(8);
  for (ModuleHostLane& lane : m.host_lanes) lane.data_path_state = "Activated";
  m.host_lanes[2].rx_output_valid = false;
  for (std::size_t i = 4; i < 8; ++i) m.host_lanes[i].data_path_state = "Deactivated";
  m.lanes.resize(2);
  m.lanes[1].tx_disabled = true;
  m.lanes[1].rx_los = true;
  const std::string text = module_text(m, TextStyle{});
  EXPECT_THAT(text, HasSubstr("  Lanes now\n"
                              "    media lane 2: Tx off by host\n"
                              "    host lane 3: sends no valid signal to the host\n"
                              "    host lanes 5 to 8: data path Deactivated\n"));
  EXPECT_THAT(text, HasSubstr("    lane 2: Rx LOS\n")) << "latched, so among the flags";
  m.management = "SFF-8472 12.4";  // there it is as it is now
  EXPECT_THAT(module_text(m, TextStyle{}), HasSubstr("    media lane 2: Rx LOS, Tx off by host\n"));
}

}  // namespace
}  // namespace linkhealth
