// Bytes that nobody wrote on purpose: the decoders are total, the plan ends, and no number leaves
// its bounds.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "probes/module/decode.h"
#include "probes/module/read_plan.h"

namespace linkhealth {
namespace {

void check(const ModuleSample& m) {
  EXPECT_TRUE(!m.temperature_c || (*m.temperature_c >= -60 && *m.temperature_c <= 150));
  EXPECT_TRUE(!m.supply_v || (*m.supply_v >= 2 && *m.supply_v <= 4.5));
  EXPECT_TRUE(m.kind != "dac" || m.lanes.empty());
  for (const ModuleLane& lane : m.lanes)
    for (const auto& value : {lane.rx_power_mw, lane.tx_power_mw, lane.tx_bias_ma})
      EXPECT_TRUE(!value || (m.kind != "acc" && std::isfinite(*value) && *value >= 0));
  for (const char c : m.vendor + m.serial + m.part_number) EXPECT_TRUE(c >= 0x20 && c <= 0x7e);
}

TEST(RandomModules, DecodeWithoutSurprise) {
  std::mt19937 random(20261121);
  constexpr std::uint8_t kIdentifiers[] = {0x03, 0x11, 0x18, 0x0d, 0x00, 0xff, 0x80, 0x1a};
  for (int run = 0; run < 2000; ++run) {
    ModuleImage image;
    int rounds = 0;
    for (auto batch = next_reads(image); !batch.empty(); batch = next_reads(image)) {
      ASSERT_LT(++rounds, 20);
      for (const ModulePageKey& key : batch) {
        ASSERT_TRUE(is_valid(request_of(key)));
        std::vector<std::uint8_t> bytes(random() % 8 == 0 ? random() % 128 : 128);
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
        if (key == kLowerPage && !bytes.empty())
          bytes[0] = kIdentifiers[static_cast<std::size_t>(run) % 8];
        image.store(request_of(key), bytes);
      }
    }
    check(decode_module(image));
  }
}

}  // namespace
}  // namespace linkhealth
