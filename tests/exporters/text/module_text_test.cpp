#include "exporters/text/module_text.h"

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

/// Four lanes of light, eight host lanes that work.
ModuleSample cmis_module() {
  ModuleSample m;
  m.kind = "optical";
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

// --- identity

TEST(ModuleText, OneLineOfKindAndOneOfRevision) {
  struct Row {
    const char *kind, *media, *words;
  };
  for (const Row& row : {Row{"aoc", "active cable", "active optical cable"},
                         {"acc", "active cable", "active copper cable"},
                         {"dac", "copper", "passive copper cable"},
                         {"optical", "single-mode", "optical, single-mode"},
                         {"unknown", "active cable", "active cable"}}) {
    ModuleSample m;
    m.kind = row.kind;
    m.media_type = row.media;
    m.length_m = 2.5;
    EXPECT_THAT(module_text(m, {}),
                HasSubstr("  kind         " + std::string(row.words) + ", 2.5 m\n"));
    EXPECT_THAT(module_text(m, {}), Not(HasSubstr("dBm")));
  }
  ModuleSample m = module();
  m.date = "2018-11-21";
  m.revision = "A1";
  m.firmware = "1.7";
  m.connector = "MPO-12";
  m.fibre_face = "APC";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  revision     A1, firmware 1.7, made 2018-11-21\n"));
  EXPECT_THAT(module_text(m, {}), HasSubstr("  kind         optical, MPO-12 APC\n"));
}

TEST(ModuleText, AnEmptyCage) {
  ModuleSample m;
  m.present = false;
  EXPECT_EQ(module_text(m, {}), "no module in the cage\n");
}

/// An imported reading may hold for a day.
TEST(ModuleText, AnImportedReadingHasItsTime) {
  ModuleSample m = module();
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("imported")));
  m.imported_at = WallTime(std::chrono::seconds(1'795'175'969));
  EXPECT_THAT(module_text(m, {}), HasSubstr("by another program (imported), 2026-11-20T"));
  m.present = false;
  EXPECT_THAT(module_text(m, {}), HasSubstr("by another program (imported), 2026-11-20T"));
}

// --- light

TEST(ModuleText, LanesAreBarsBetweenTheModulesOwnLimits) {
  const std::string text = module_text(module(), {});
  EXPECT_THAT(text, HasSubstr("400G-DR4, QSFP-DD\n"));
  EXPECT_THAT(text, HasSubstr("Rx dBm   warns outside -7.0 to 4.5, alarms outside -10.0 to 5.4\n"));
  EXPECT_THAT(text, HasSubstr("     1  [████░░░]  -1.0\n"));
  EXPECT_THAT(text, HasSubstr("     2  [░░░░░░░]  -9.2 ▲ low warning\n"));
  EXPECT_THAT(text, HasSubstr("     3  [░░░░░░░] no light ✖ low alarm\n"));
  EXPECT_THAT(text, HasSubstr("71.0 C ▲ high warning; warns outside 0 to 70 C"));
  EXPECT_THAT(text, HasSubstr("lane 3: Rx LOS\n"));
}

TEST(ModuleText, AsciiHasTheSameWordsAndAColourIsNeverAlone) {
  TextStyle style;
  style.colour = true;
  EXPECT_THAT(module_text(module(), style), HasSubstr("low warning"));
  style = {};
  style.ascii = true;
  const std::string text = module_text(module(), style);
  EXPECT_THAT(text, HasSubstr("[.......] no light !! low alarm\n"));
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c <= 0x7e)) << text;
}

TEST(ModuleText, WithoutLimitsThereIsNoBar) {
  ModuleSample m = module();
  m.thresholds = {};
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("Rx dBm   no limits are known\n     1   -1.0\n"));
}

TEST(ModuleText, PowerAndBiasHaveATableEach) {
  ModuleSample m = module();
  m.thresholds.tx_bias_ma = {2, 4, 8, 10};
  m.lanes[0].tx_bias_ma = 0;
  m.lanes[1].tx_bias_ma = 6;
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("\n  Tx bias mA   warns outside 4.0 to 8.0, alarms outside 2.0 to 10.0\n"
                        "     1  [░░░░░░░]   0.0 ✖ low alarm\n"
                        "     2  [████░░░]   6.0\n"
                        "     3  -\n"));
  m.thresholds.tx_power_mw = {0.1, 0.2, 2.8, 3.5};
  m.lanes[1].tx_power_mw = 1.12;
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("\n  Tx dBm   warns outside -7.0 to 4.5, alarms outside "
                        "-10.0 to 5.4\n     1  -\n     2  [█████░░]   0.5\n"));
}

/// OMA is not what people compare with an average.
TEST(ModuleText, APowerThatIsNoAverageIsNamed) {
  ModuleSample m = module();
  m.rx_power_is_average = true;
  EXPECT_THAT(module_text(m, {}), HasSubstr("\n  Rx dBm   "));
  m.rx_power_is_average = false;
  EXPECT_THAT(module_text(m, {}), HasSubstr("\n  Rx dBm (OMA)   "));
}

TEST(ModuleText, ALaneWithoutAValueHasAReason) {
  ModuleSample m = cmis_module();
  for (const std::size_t lane : {1U, 2U, 3U}) m.lanes[lane] = ModuleLane{};
  m.host_lanes[2].in_use = m.host_lanes[3].in_use = false;
  m.host_lanes[4].data_path_state = m.host_lanes[5].data_path_state = "Deactivated";
  EXPECT_THAT(module_text(m, {}), HasSubstr("     1    0.0\n"
                                            "     2  - (not in use)\n"
                                            "     3  - (data path down)\n"
                                            "     4  - (not there)\n"));
  m.host_lanes[6] = m.host_lanes[7] = ModuleHostLane{};
  EXPECT_THAT(module_text(m, {}), HasSubstr("     4  - (not read)\n"));
  m.lanes[3].rx_los = false;
  m.host_lanes.clear();
  EXPECT_THAT(module_text(m, {}), HasSubstr("     3  - (not there)\n     4  -\n"));
  m.imported_at = WallTime(std::chrono::seconds(1'795'175'969));
  EXPECT_THAT(module_text(m, {}), HasSubstr("     3  -\n"));
}

// --- state

TEST(ModuleText, AModuleInLowPowerHasTheReason) {
  ModuleSample m = module();
  m.low_pwr_allow_request_hw = true;  // as nearly every QSFP does
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("low power")));
  m.low_pwr_request_sw = true;
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("  state        the host holds it in low power: it may send no light\n"));
  m.low_pwr_request_sw = false;
  m.state = "ModuleLowPwr";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  state        ModuleLowPwr: controlled by the cage's "
                                            "low-power pin (LowPwrAllowRequestHW)\n"));
  m.state = "ModuleReady";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  state        ready\n"));
  m.power_class = 6;
  m.max_power_w = 4.5;
  m.allowed_power_w = 3.5;
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("  power        at most 4.5 W (class 6), of which the host has not enabled "
                        "more than 3.5 W\n"));
  m.tec_current_percent = -46.8;
  EXPECT_THAT(module_text(m, {}), HasSubstr("  laser cools  -46.8 %\n"));
}

TEST(ModuleText, AModuleWithoutReadingsHasTheReason) {
  ModuleSample m;
  m.kind = "dac";
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("  measures     nothing: a passive copper cable has no monitors\n"));
  m.kind = "optical";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  measures     nothing: it offers no monitors\n"));
  m.warnings = {"page 01h was not read: what the module measures is not known"};
  EXPECT_THAT(module_text(m, {}), HasSubstr("  measures     no known monitors: see below\n"));
  m.management = "CMIS 5.0";
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("  measures     nothing: its memory holds only its identity"));
  m.vdm.host_esnr_db = {8.5};
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("  measures ")));
}

TEST(ModuleText, HostRequestsAndTheirResults) {
  ModuleSample m = cmis_module();
  m.host_lanes[0].data_path_state = "Deactivated";
  m.host_lanes[0].dp_deinit = true;
  m.host_lanes[1].rx_output_disabled = true;
  m.host_lanes[1].rx_output_valid = false;
  m.host_lanes[2].config_status = "RejectedInvalidAppSel";
  m.host_lanes[3].config_status = "Success";
  for (std::size_t i = 4; i < 8; ++i) m.host_lanes[i].rx_output_valid = false;
  m.lanes[0].tx_output_valid = true;
  m.lanes[1].tx_output_valid = false;
  m.lanes[2].tx_disabled = true;
  m.lanes[3].output_squelch_force_tx = true;
  m.loopbacks = {{"media", "output", {1, 2}}};
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("  Lanes now\n"
                              "    media lane 2: sends no valid signal to the fibre\n"
                              "    media lane 3: Tx off by host (OutputDisableTx)\n"
                              "    media lane 4: Tx silenced by host (OutputSquelchForceTx)\n"
                              "    host lane 1: data path Deactivated, as the host requested "
                              "(DPDeinit)\n"
                              "    host lane 2: Rx output off by host\n"
                              "    host lane 3: refused its configuration (RejectedInvalidAppSel)\n"
                              "    host lanes 5 to 8: sends no valid signal to the host\n"));
  EXPECT_THAT(text, HasSubstr("  loopback     media side output, lanes 1 2: traffic does not "
                              "pass\n"));
}

// --- values of VDM

TEST(ModuleText, VdmHasARowForEachQuantity) {
  ModuleSample m;
  m.vdm.media_esnr_db = {21.5, 0, 22};
  m.vdm.host_ltp_db = {255.99, 32};
  m.vdm.media_pre_fec_ber.current = 3.5e-4;
  m.vdm.media_pre_fec_ber.max = 0;
  m.vdm.host_fec_tail_symbols.max = 4;
  m.vdm.laser_age_percent = 12;
  m.coherent.osnr_db = 33.9;
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("  media SNR dB 21.5, -, 22.0\n"));
  EXPECT_THAT(text, HasSubstr("  host LTP dB  >=256, 32.0\n"));
  EXPECT_THAT(text, HasSubstr("  media BER    now 3.5e-04, max 0\n"));
  EXPECT_THAT(text, HasSubstr("  host tail    max 4\n"));
  EXPECT_THAT(text, HasSubstr("  laser age    12%\n"));
  EXPECT_THAT(text, HasSubstr("  OSNR dB      33.9\n"));
  EXPECT_THAT(text, HasSubstr("avg, min and max are since an unknown time\n"));
  m.vdm.frozen = true;
  EXPECT_THAT(module_text(m, {}), HasSubstr("another program has frozen them"));
}

// --- flags and notes

/// A power that swung has passed both limits: the one must not hide the other.
TEST(ModuleText, AFlagOfTheLowSideHidesNoneOfTheHighSide) {
  ModuleSample m = module();
  m.temperature_flags = {
      .low_alarm = true, .low_warn = true, .high_warn = false, .high_alarm = true};
  m.supply_flags = {.low_alarm = false, .low_warn = true, .high_warn = true, .high_alarm = true};
  m.lanes[0].rx_power_flags = {
      .low_alarm = true, .low_warn = false, .high_warn = true, .high_alarm = false};
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("    temperature low alarm and high alarm\n"
                              "    supply low warning and high alarm\n"
                              "    lane 1: Rx power low alarm and high warning\n"
                              "    lane 3: Rx LOS\n"));
}

/// SFF-8472 has them as they are now.
TEST(ModuleText, LossesOfAnSfpAreAState) {
  ModuleSample m = module();
  m.management = "SFF-8472 12.4";
  EXPECT_THAT(module_text(m, {}), HasSubstr("  Lanes now\n    media lane 3: Rx LOS\n"));
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("Flags")));
}

TEST(ModuleText, AFlagHasItsHistory) {
  ModuleSample m = module();
  m.flags.push_back({.name = "rx_los",
                     .lane = 2,
                     .set = false,
                     .change_count = 2,
                     .set_at = parse_rfc3339("2026-11-20T10:00:12Z"),
                     .cleared_at = parse_rfc3339("2026-11-20T10:01:00Z")});
  TextStyle wide;
  wide.width_columns = 120;
  EXPECT_THAT(module_text(m, wide),
              HasSubstr("    rx_los 2: clear, 2 changes, last set 2026-11-20T10:00:12Z, cleared "
                        "2026-11-20T10:01:00Z\n"));
}

TEST(ModuleText, WhatIsNotReadOrNotBelievedIsListed) {
  ModuleSample m = module();
  m.warnings = {"temperature reads ffffh, which is no reading", "page 11h of bank 3: EIO"};
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("Not read or implausible\n    temperature reads ffffh, which is no "
                        "reading\n    page 11h of bank 3: EIO\n"));
}

TEST(ModuleText, WordsAreWrappedUnderTheirRow) {
  ModuleSample m = module();
  m.revision = "01";
  m.firmware = "110.20 of the second kind";
  m.date = "2025-03-31";
  for (ModuleLane& lane : m.lanes) {
    lane.rx_los = lane.rx_lol = lane.tx_fault = true;
    lane.rx_power_flags.low_alarm = lane.tx_bias_flags.low_alarm = true;
  }
  TextStyle style;
  style.width_columns = 60;
  style.ascii = true;  // a byte is a column
  const std::string text = module_text(m, style);
  EXPECT_THAT(text, HasSubstr("  revision     01, firmware 110.20 of the second kind, made\n"
                              "               2025-03-31\n"));
  EXPECT_THAT(text, HasSubstr("    lanes 1 to 3: Rx LOS, Rx LOL, Tx fault, Rx power low\n"
                              "      alarm, bias low alarm\n"));
}

}  // namespace
}  // namespace linkhealth
