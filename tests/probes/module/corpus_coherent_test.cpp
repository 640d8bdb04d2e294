// Real coherent and tunable modules: what their pages say of each other. The dumps are those of
// corpus_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "probes/module/decode.h"
#include "probes/module/dump_file.h"
#include "probes/module/screen.h"
#include "tests/probes/module/corpus_files.h"

namespace linkhealth {
namespace {

using nlohmann::json;

/// C-CMIS pages 34h and 35h of the one dump that has them: the average lies between minimum and
/// maximum for every quantity, which a wrong layout would not give, and the BER is one that such a
/// receiver has.
TEST(ModuleCorpus, CoherentStatisticsOfA800ZrAreInOrder) {
  if (dumps().empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  const ModuleSample m =
      decode_module(*read_module_dump(LINKHEALTH_SHARED "/modules/osfp-800g-zr.json"));
  for (const std::string& warning : m.warnings)
    EXPECT_EQ(warning.find("not in order"), std::string::npos) << warning;
  const CoherentStatistics& c = m.coherent_statistics;
  EXPECT_EQ(c.chromatic_dispersion_ps_per_nm.min, -3);
  EXPECT_EQ(c.chromatic_dispersion_ps_per_nm.avg, -1);
  EXPECT_EQ(c.chromatic_dispersion_ps_per_nm.max, 1);
  ASSERT_TRUE(c.rx_bits && c.rx_corrected_bits);
  const double ber = static_cast<double>(*c.rx_corrected_bits) / static_cast<double>(*c.rx_bits);
  EXPECT_GT(ber, 1e-5);
  EXPECT_LT(ber, 1e-2);
}

/// A Q factor is the pre-FEC BER in other words (BER = erfc(Q/sqrt 2)/2), and a margin is less than
/// the whole.
TEST(ModuleCorpus, TheQFactorOfA800ZrIsThatOfItsErrorRatio) {
  if (dumps().empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  const ModuleSample m =
      decode_module(*read_module_dump(LINKHEALTH_SHARED "/modules/osfp-800g-zr.json"));
  ASSERT_TRUE(m.coherent.q_factor_db && m.coherent.q_margin_db && m.coherent.snr_margin_db);
  const auto ber_of = [](double q_db) {
    return std::erfc(std::pow(10.0, q_db / 20) / std::sqrt(2.0)) / 2;
  };
  ASSERT_TRUE(m.vdm.media_pre_fec_ber.current);
  EXPECT_GT(*m.vdm.media_pre_fec_ber.current, ber_of(*m.coherent.q_factor_db + 0.2));
  EXPECT_LT(*m.vdm.media_pre_fec_ber.current, ber_of(*m.coherent.q_factor_db - 0.2));
  EXPECT_NEAR(*m.coherent.snr_margin_db, *m.coherent.q_margin_db, 0.5);
  EXPECT_GT(*m.coherent.q_factor_db, *m.coherent.q_margin_db);
}

/// A module holds the channel that it was asked for beside the frequency that it has: each says the
/// other (CMIS 5.3 8.12: 193.1 THz and so many steps; on the grid of 75 GHz a step is a third of
/// that).
TEST(ModuleCorpus, TunableLasersAreWhereTheirChannelsSay) {
  const auto files = dumps();
  if (files.empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  const std::map<unsigned, double> steps_ghz = {{3, 25}, {4, 50}, {5, 100}, {7, 25}};
  int compared = 0;
  for (const auto& file : files) {
    const json dump = json::parse(std::ifstream(file));
    if (dump["provenance"] != "real" || !dump["pages"].contains("12")) continue;
    const ModuleImage image = *read_module_dump(file.string());
    const ModulePage page = upper_page(image, 0x12);
    const ModuleSample m = decode_module(image);
    ASSERT_TRUE(cmis_is_tunable(image) && !m.laser_tuning.empty()) << file;
    ++compared;
    const double step = steps_ghz.at(*page.byte(128) >> 4U);
    EXPECT_EQ(m.laser_tuning[0].frequency_ghz, 193'100 + *page.s16(136) * step) << file;
    EXPECT_EQ(m.laser_tuning[0].wavelength_unlocked, false) << file;
  }
  EXPECT_EQ(compared, 2);
}

}  // namespace
}  // namespace linkhealth
