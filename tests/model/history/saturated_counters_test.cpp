#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "model/history/saturated_counters.h"
#include "model/indicators.h"

namespace linkhealth {
namespace {

Counters counters(std::initializer_list<std::pair<std::string_view, std::uint64_t>> values) {
  Counters out;
  for (const auto& [name, value] : values) out.set(name, value);
  return out;
}

TEST(SaturatedCounters, AreFoundWhereTheyJudgeTheLink) {
  const auto full = [](std::initializer_list<std::pair<std::string_view, std::uint64_t>> values) {
    std::vector<std::string_view> names;
    for (const CounterId id : saturated_counters(counters(values)))
      names.push_back(known_counters()[id].name);
    return names;
  };
  using CounterNames = std::vector<std::string_view>;
  EXPECT_EQ(full({{"symbol_error", 65534}}), CounterNames{});
  EXPECT_EQ(full({{"symbol_error", 70000}}), CounterNames{})
      << "wider than it can be: it does not stick";
  EXPECT_EQ(full({{"link_downed", 255},
                  {"link_error_recovery", 255},
                  {"local_link_integrity_errors", 15},
                  {"excessive_buffer_overrun_errors", 15},
                  {"port_rcv_errors", 65535},
                  {"port_rcv_remote_physical_errors", 65535},
                  {"port_xmit_wait", 0xffffffff},
                  {"port_rcv_data", 0xffffffff},
                  {"VL15_dropped", 65535}}),
            (CounterNames{"excessive_buffer_overrun_errors", "link_downed", "link_error_recovery",
                          "local_link_integrity_errors", "port_rcv_errors",
                          "port_rcv_remote_physical_errors", "port_xmit_wait"}))
      << "the last one judges nothing";
}

TEST(SaturatedCounters, BelongToTheirIndicator) {
  const auto full =
      saturated_counters(counters({{"link_error_recovery", 255}, {"link_downed", 255}}));
  EXPECT_TRUE(is_saturated_for(full, {Indicator::kLinkRecoveries, Indicator::kCardErrors}));
  EXPECT_FALSE(is_saturated_for(full, kDamageCounts));
}

TEST(SaturatedCounters, TheTextNamesThemAndHowToClearThem) {
  PortId id;
  id.link_layer = "InfiniBand";
  id.device = "mlx5_0";
  id.port = 1;
  const auto full =
      saturated_counters(counters({{"link_error_recovery", 255}, {"link_downed", 255}}));
  EXPECT_EQ(format_saturated(id, {full.data(), 1}),
            "link_downed is saturated (perfquery -R -C mlx5_0 -P 1 clears it)");
  EXPECT_EQ(format_saturated(id, full),
            "link_downed, link_error_recovery: each is saturated (perfquery -R -C "
            "mlx5_0 -P 1 clears it)");
  const auto wait = saturated_counters(counters({{"port_xmit_wait", 0xffffffff}}));
  EXPECT_EQ(format_saturated(id, wait),
            "port_xmit_wait is saturated (perfquery -R -C mlx5_0 -P 1 clears "
            "port_xmit_wait only if "
            "the port's agent offers that, else a reset of the device does)");
  const auto both =
      saturated_counters(counters({{"link_downed", 255}, {"port_xmit_wait", 0xffffffff}}));
  EXPECT_EQ(
      format_saturated(id, both),
      "link_downed, port_xmit_wait: each is saturated (perfquery -R -C mlx5_0 -P "
      "1 clears it, "
      "port_xmit_wait only if the port's agent offers that, else a reset of the device does)");
}

}  // namespace
}  // namespace linkhealth
