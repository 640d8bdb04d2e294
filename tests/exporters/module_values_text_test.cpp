// What module_text() says of the values that a module measures of its signal: VDM, and the monitors
// of a coherent one.
#include <gmock/gmock.h>

#include "exporters/module_text.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ModuleTextValues, SaysWhatVdmTellsOfTheLasers) {
  ModuleSample m;
  m.vdm.laser_age_percent = 12;
  m.vdm.laser_frequency_error_mhz = -300;
  m.vdm.tec_current_percent = -80;
  m.vdm.laser_temperature_c = 2.5;
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("  lasers (VDM) age 12 %  frequency error -300 MHz  cooler -80.0 %\n"
                        "               temperature 2.5 C (from its target; of some modules its "
                        "own)\n"));
}

TEST(ModuleTextValues, SaysHowFarACoherentModuleIsFromItsLimit) {
  ModuleSample m;
  m.coherent.q_factor_db = 10.7;
  m.coherent.q_margin_db = 4.2;
  m.coherent.snr_margin_db = -0.5;
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("  Q dB         now 10.7\n"));
  EXPECT_THAT(text, HasSubstr("  Q margin dB  now 4.2\n"));
  EXPECT_THAT(text, HasSubstr("  SNR marg. dB now -0.5\n"));
}

TEST(ModuleTextValues, SaysAllThatACoherentModuleMeasures) {
  ModuleSample m;
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("modulator")));
  m.coherent.evm_percent = 11.24;
  m.coherent.mer_db = 19;
  m.coherent.sopmd_ps2 = 60;
  m.coherent.sop_rate_krad_per_s = 2;
  m.coherent_statistics.sop_rate_krad_per_s.max = 7;
  m.coherent.modulator_bias_xi_percent = 49.81;
  m.coherent.modulator_bias_yq_percent = 50.2;
  m.coherent.modulator_bias_y_phase_percent = 52;
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("  EVM %        now 11.2\n"));
  EXPECT_THAT(text, HasSubstr("  MER dB       now 19.0\n"));
  EXPECT_THAT(text, HasSubstr("  SOPMD ps2    now 60.0\n"));
  EXPECT_THAT(text, HasSubstr("  SOP krad/s   now 2.0  max 7.0\n"));
  EXPECT_THAT(text, HasSubstr("  modulator %  XI 49.8  YQ 50.2  Y phase 52.0\n"));
}

TEST(ModuleTextValues, SaysBeyondWhatTheModuleWarnsOfVdm) {
  ModuleSample m;
  m.vdm.media_pre_fec_ber.current = 3.5e-4;
  m.vdm.host_fec_tail_symbols.max = 4;
  m.coherent.osnr_db = 33.9;
  m.coherent.rx_total_power_dbm = -2.1;
  m.vdm.thresholds = {{"media_pre_fec_ber_current", std::nullopt, {{}, {}, 1e-3, 1e-2}},
                      {"host_fec_tail_symbols_max", std::nullopt, {{}, {}, {}, 9}},
                      {"coherent_osnr_db", std::nullopt, {24, 26, {}, {}}},
                      {"coherent_rx_total_power_dbm", std::nullopt, {-20, -18, 1, 3}}};
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("  media BER    now 3.5e-04   warns above 1.0e-03\n"));
  EXPECT_THAT(text, HasSubstr("  host tail    max 4   alarms above 9\n"));
  EXPECT_THAT(text, HasSubstr("  OSNR dB      now 33.9   warns below 26.0\n"));
  EXPECT_THAT(text, HasSubstr("  Rx all dBm   now -2.1   warns outside -18.0 to 1.0\n"));
}

TEST(ModuleTextValues, SaysThatStatisticsAreLive) {
  ModuleSample m;
  m.vdm.media_pre_fec_ber.max = 2e-5;
  m.vdm.media_esnr_db = {21.5};
  m.vdm.thresholds.push_back({"media_esnr_db", std::nullopt, {17, 19, std::nullopt, std::nullopt}});
  EXPECT_THAT(module_text(m, {}), HasSubstr("avg, min and max are live: since an unknown time"));
  EXPECT_THAT(module_text(m, {}), HasSubstr("21.5   warns below 19.0"));
  m.vdm.frozen = true;
  EXPECT_THAT(module_text(m, {}), HasSubstr("another agent has frozen them"));
}

TEST(ModuleTextValues, SuppliesInsideTheModuleAreOneLine) {
  ModuleSample m;
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("supplies")));
  m.vdm.vcc12_v = 12.01;
  m.vdm.vcc0p7a_v = 0.749;
  m.vdm.flags = {{"vcc0p7a_v",
                  std::nullopt,
                  {.low_alarm = false, .low_warn = true, .high_warn = false, .high_alarm = false}}};
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("  supplies V   12 V: 12.010, 0.7 V A: 0.749\n"));
  EXPECT_THAT(text, HasSubstr("    vcc0p7a low warning\n"));
}

}  // namespace
}  // namespace linkhealth
