// Real modules: which fibres they say their lanes are on. The dumps are those of corpus_test.cpp.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "probes/module/decode.h"
#include "probes/module/dump_file.h"
#include "tests/probes/module/corpus_files.h"

namespace linkhealth {
namespace {

/// "1 2 3 4": a lane each; "-" where it is not said.
std::string fibres_of(const ModuleSample& m, std::optional<std::uint32_t> ModuleLane::*fibre) {
  std::string out;
  for (const ModuleLane& lane : m.lanes) {
    if (!out.empty()) out += " ";
    out += lane.*fibre ? std::to_string(*(lane.*fibre)) : "-";
  }
  return out;
}

TEST(ModuleCorpus, TheFibresOfLanesAreThoseOfTheirKindOfModule) {
  if (dumps().empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  for (const auto& [file, fibres] : {std::pair{"osfp-2x400g-dr4.json", "1 2 3 4 5 6 7 8"},
                                     {"osfp-2x400g-fr4.json", "1 1 1 1 2 2 2 2"},
                                     {"qsfpdd-400g-dr4.json", "1 2 3 4"},
                                     {"qsfpdd-400g-lr4-cig.json", "1 1 1 1"},
                                     {"qsfpdd-100g-1w1-juniper-cmis3.json", "1 1 1 1 2 2 2 2"},
                                     {"osfp-800g-zr.json", "1"}}) {
    const ModuleSample m =
        decode_module(*read_module_dump(std::string(LINKHEALTH_SHARED "/modules/") + file));
    EXPECT_EQ(fibres_of(m, &ModuleLane::tx_fibre), fibres) << file;
    EXPECT_EQ(fibres_of(m, &ModuleLane::rx_fibre), fibres) << file;
  }
}

TEST(ModuleCorpus, NoMapOfFibresIsImplausible) {
  if (dumps().empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  int with_fibres = 0;
  for (const auto& file : dumps()) {
    const ModuleSample m = decode_module(*read_module_dump(file.string()));
    for (const std::string& warning : m.warnings)
      EXPECT_FALSE(warning.starts_with("which fibre")) << file << warning;
    if (!m.lanes.empty() && m.lanes[0].tx_fibre) ++with_fibres;
  }
  EXPECT_GE(with_fibres, 12);
}

TEST(ModuleCorpus, CasesAreMadeForATemperatureThatIsOne) {
  if (dumps().empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  int said = 0;
  for (const auto& file : dumps()) {
    const ModuleSample m = decode_module(*read_module_dump(file.string()));
    if (!m.case_temperature_max_c) continue;
    ++said;
    EXPECT_GE(*m.case_temperature_max_c, 60) << file;
    EXPECT_LE(*m.case_temperature_min_c, 20) << file;
  }
  EXPECT_GE(said, 12);
}

}  // namespace
}  // namespace linkhealth
