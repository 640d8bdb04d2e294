// Where lanes are: the fibres that carry them, loopbacks, and what the case is made for.
#include <gmock/gmock.h>

#include "exporters/module_text.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Fibres = std::vector<std::optional<std::uint32_t>>;

ModuleSample on_fibres(const Fibres& tx, const Fibres& rx) {
  ModuleSample m;
  m.kind = "optical";
  m.lanes.resize(tx.size());
  for (std::size_t i = 0; i < tx.size(); ++i) {
    m.lanes[i].tx_fibre = tx[i];
    m.lanes[i].rx_fibre = rx[i];
  }
  return m;
}

TEST(ModulePlaces, FibresAreSaidInRunsOfLanes) {
  struct Row {
    Fibres tx, rx;
    const char* words;
  };
  const std::optional<std::uint32_t> none;
  const Row rows[] = {
      {{1, 2, 3, 4}, {1, 2, 3, 4}, "lanes 1 to 4 on fibres 1 to 4, as the module counts them"},
      {{1, 1, 2, 2},
       {1, 1, 2, 2},
       "lanes 1 to 2 on fibre 1, lanes 3 to 4 on fibre 2, as the module counts them"},
      {{3}, {3}, "lane 1 on fibre 3, as the module counts them"},
      {{1, 2, 2, 3},
       {1, 2, 2, 3},
       "lanes 1 to 2 on fibres 1 to 2, lanes 3 to 4 on fibres 2 to 3, as the module counts them"},
      {{1, none, none, 4},
       {none, none, none, none},
       "sends: lane 1 on fibre 1, lane 4 on fibre 4, as the module"},
      {{1, 2},
       {2, 1},
       "sends: lanes 1 to 2 on fibres 1 to 2; receives: lane 1 on fibre 2, lane 2 on fibre 1, as"},
  };
  TextStyle wide;
  wide.width_columns = 200;
  for (const Row& row : rows)
    EXPECT_THAT(module_text(on_fibres(row.tx, row.rx), wide),
                HasSubstr(std::string("  fibres       ") + row.words));
}

TEST(ModulePlaces, TheOnlyLaneOnTheFirstFibreIsNoNews) {
  EXPECT_THAT(module_text(on_fibres({1}, {1}), {}), Not(HasSubstr("fibre")));
}

/// The hardware specification's number is easily taken for that of a hole of the connector.
TEST(ModulePlaces, FibresOfAnMpoAreNoPositions) {
  ModuleSample m = on_fibres({1, 2}, {1, 2});
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("MPO")));
  m.connector = "MPO-12";
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("as the module counts them each way (no position in an"));
  m.type = "400G-DR4-2";
  EXPECT_THAT(module_text(m, {}),
              HasSubstr("as the module counts them each way (no position in an"));
}

/// CMIS 5.4 table 8-107: "media fiber 1 or TR1", which sends and receives.
TEST(ModulePlaces, AFibreOfABidirectionalModuleIsOneForBothWays) {
  TextStyle wide;
  wide.width_columns = 200;
  for (const char* type : {"400G-SR4.2", "800G-VR4.2", "2x400G-SR4.2", "1.6T-SR8.2", "100G-BiDi"}) {
    ModuleSample m = on_fibres({1, 1, 2, 2}, {1, 1, 2, 2});
    m.type = type;
    m.connector = "MPO-12";
    EXPECT_THAT(module_text(m, wide),
                HasSubstr("lanes 1 to 2 on fibre 1, lanes 3 to 4 on fibre 2, both ways, as the "
                          "module counts them (no position in an MPO)\n"));
    m.lanes[0].rx_fibre = 2;
    EXPECT_THAT(module_text(m, wide),
                HasSubstr(", as the module counts them (no position in an MPO)\n"));
    EXPECT_THAT(module_text(m, wide), Not(HasSubstr("both ways")));
  }
}

TEST(ModulePlaces, FibresOfACableAndThoseNotSaidAreNotShown) {
  ModuleSample m = on_fibres({1, 2}, {1, 2});
  m.kind = "aoc";
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("fibre")));
  EXPECT_THAT(module_text(on_fibres({std::nullopt}, {std::nullopt}), {}), Not(HasSubstr("fibre")));
}

/// CMIS figure 8-2.
TEST(ModulePlaces, ALoopbackSaysWhoGetsBackWhatHeSends) {
  struct Row {
    ModuleLoopback loopback;
    const char* words;
  };
  const Row rows[] = {
      {{"media", "output", {1, 2, 3, 4}},
       "at the media side's output, lanes 1 to 4, back to the host: traffic"},
      {{"media", "input", {2, 3, 5}},
       "at the media side's input, lanes 2 to 3, lane 5, back to the far end: traffic"},
      {{"host", "output", {8}},
       "at the host side's output, lane 8, back to the far end: traffic does not pass"},
      {{"host", "input", {1}},
       "at the host side's input, lane 1, back to the host: traffic does not pass"},
  };
  TextStyle wide;
  wide.width_columns = 200;
  for (const Row& row : rows) {
    ModuleSample m;
    m.looped = true;
    m.loopbacks = {row.loopback};
    EXPECT_THAT(module_text(m, wide), HasSubstr(std::string("  loopback     ") + row.words));
  }
  ModuleSample imported;
  imported.looped = true;
  EXPECT_THAT(module_text(imported, wide),
              HasSubstr("  loopback     is switched on: traffic does not pass\n"));
}

TEST(ModulePlaces, TheCaseIsMadeForTemperatures) {
  ModuleSample m;
  EXPECT_THAT(module_text(m, {}), Not(HasSubstr("made for")));
  m.case_temperature_min_c = -5;
  m.case_temperature_max_c = 70;
  EXPECT_THAT(module_text(m, {}), HasSubstr("  case         made for -5 to 70 C\n"));
}

TEST(ModulePlaces, FlagsOfACoherentLaneAreSaidInWords) {
  ModuleSample m = on_fibres({1}, {1});
  m.coherent_flags.rx_demodulator_lol = true;
  m.coherent_flags.rx_loss_of_frame = true;
  m.coherent_flags.tx_cmu_lol = false;
  EXPECT_THAT(module_text(m, {}), HasSubstr("lane 1: demodulator unlocked, loss of frame\n"));
}

}  // namespace
}  // namespace linkhealth
