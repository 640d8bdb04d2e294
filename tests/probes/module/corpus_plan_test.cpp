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
    const ModuleSample whole = without_test_flags(decode_module(memory));
    for (const int rounds : {1, 2}) {
      const ModuleSample read = decode_module(as_read(memory, rounds));
      EXPECT_EQ(read.warnings, whole.warnings) << file << ", " << rounds << " rounds";
      EXPECT_TRUE(read == whole) << file << ", " << rounds << " rounds";
    }
  }
}

/// A value is not too low and too high: flags that say so are bytes of something else.
TEST(ModuleCorpus, NoValueIsTooLowAndTooHigh) {
  const auto files = dumps();
  if (files.empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  for (const auto& file : files) {
    const ModuleImage memory = *read_module_dump(file.string());
    for (const ModuleImage& image : {memory, as_read(memory)})
      for (const VdmFlags& value : decode_module(image).vdm.flags)
        EXPECT_FALSE(value.flags.low_alarm == true && value.flags.high_alarm == true)
            << file << ": " << value.name << ", lane " << value.lane.value_or(0);
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
