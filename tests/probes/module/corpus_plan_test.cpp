// Real modules as the daemon reads them, page by page and partly, against the whole memory.
#include <gtest/gtest.h>

#include "probes/module/decode.h"
#include "probes/module/dump_file.h"
#include "tests/probes/module/corpus_files.h"
#include "tests/probes/module/planned_reads.h"

namespace linkhealth {
namespace {

TEST(ModuleCorpus, WhatThePlanReadsSaysWhatTheWholeMemorySays) {
  const auto files = dumps();
  if (files.empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  for (const auto& file : files) {
    const ModuleImage memory = *read_module_dump(file.string());
    const ModuleSample whole = decode_module(memory);
    for (const int rounds : {1, 2}) {
      const ModuleSample read = decode_module(as_read(memory, rounds));
      EXPECT_EQ(read.warnings, whole.warnings) << file << ", " << rounds << " rounds";
      EXPECT_TRUE(read == whole) << file << ", " << rounds << " rounds";
    }
  }
}

/// No power of any lane and no supply: such a module has no meters.
TEST(ModuleCorpus, NoLanesAreDarkWhereNothingIsMeasured) {
  const auto files = dumps();
  if (files.empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  for (const auto& file : files) {
    const ModuleSample m = decode_module(*read_module_dump(file.string()));
    if (m.temperature_c || m.supply_v) continue;
    for (const ModuleLane& lane : m.lanes)
      EXPECT_FALSE(lane.rx_power_mw == 0.0 && lane.tx_bias_ma == 0.0) << file;
  }
}

}  // namespace
}  // namespace linkhealth
