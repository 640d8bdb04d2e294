// The physics compared with the tables that it must reproduce (docs/physics.md 7: bit errors from
// margin, lost codewords).
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/sim/link_model.h"
#include "tests/sim/physics.h"

namespace linkhealth::sim {
namespace {

TEST(Physics, BerOfPam4WithAFloorFollowsTheTable) {
  const Receiver receiver(Modulation::kPam4, Fec::kRs544, 1e-8);
  const std::vector<std::pair<double, double>> table = {
      {-3, 1.6e-2}, {-2, 5.4e-3},  {-1, 1.3e-3}, {-0.5, 5.8e-4}, {0, 2.4e-4}, {0.5, 9.6e-5},
      {1, 3.7e-5},  {1.5, 1.5e-5}, {2, 5.9e-6},  {3, 1.1e-6},    {4, 2.8e-7}, {6, 4.5e-8}};
  for (const auto& [margin, ber] : table)
    EXPECT_NEAR(receiver.ber(margin) / ber, 1.0, 0.1) << margin << " dB";
}

TEST(Physics, BerOfNrzFollowsTheTable) {
  const Receiver receiver(Modulation::kNrz, Fec::kRs528, 1e-13);
  const std::vector<std::pair<double, double>> table = {{-3, 1.4e-2}, {-2, 3.5e-3}, {-1, 5.5e-4},
                                                        {0, 5e-5},    {1, 2.8e-6},  {2, 1.2e-7},
                                                        {3, 5e-9},    {4, 2.9e-10}};
  for (const auto& [margin, ber] : table)
    EXPECT_NEAR(receiver.ber(margin) / ber, 1.0, 0.1) << margin << " dB";
}

TEST(Physics, LostCodewordsFollowTheTable) {
  const std::vector<std::array<double, 3>> table = {
      {1e-3, -3.8, -0.8},  {5e-4, -7.6, -2.3},  {3e-4, -10.7, -3.6}, {2.4e-4, -12.1, -4.3},
      {1e-4, -17.9, -7.1}, {5e-5, -22.6, -9.4}, {1e-5, -33.7, -14.9}};
  for (const auto& [ber, rs544, rs528] : table) {
    EXPECT_NEAR(log10_uncorrectable(Fec::kRs544, ber), rs544, 0.1) << ber;
    EXPECT_NEAR(log10_uncorrectable(Fec::kRs528, ber), rs528, 0.1) << ber;
  }
}

TEST(Physics, LostCodewordsNeverFallWhenErrorsRise) {
  for (const Fec fec : {Fec::kRs528, Fec::kRs544}) {
    double before = -400;
    for (double exponent = -8; exponent < -1; exponent += 0.01) {
      const double now = log10_uncorrectable(fec, std::pow(10.0, exponent));
      EXPECT_GE(now, before - 1e-9) << exponent;
      EXPECT_LE(now, 0.0);
      before = now;
    }
  }
}

TEST(Physics, CodewordRates) {
  EXPECT_NEAR(codewords_per_s(Fec::kRs544, 400000) / 7.8e7, 1.0, 0.01);
  EXPECT_NEAR(codewords_per_s(Fec::kRs528, 100000) / 1.95e7, 1.0, 0.01);
}

TEST(LinkModel, TheBudgetAddsUp) {
  Rng rng(7);
  for (const Medium& medium : media()) {
    LinkModel link(medium, rng);
    link.begin_step();
    for (const Way way : {Way::kIn, Way::kOut}) {
      for (std::size_t lane = 0; lane < link.lanes(); ++lane) {
        const LaneNominal& nominal = link.direction(way).nominal[lane];
        EXPECT_NEAR(link.rx_dbm(way, lane), nominal.tx_dbm - nominal.loss_db, 1e-9);
        link.direction(way).now[lane].added_loss_db = 2.5;
        link.direction(way).now[lane].tx_change_db = -0.5;
        EXPECT_NEAR(link.rx_dbm(way, lane), nominal.tx_dbm - nominal.loss_db - 3.0, 1e-9);
      }
    }
  }
}

TEST(LinkModel, LessLightNeverMeansFewerErrors) {
  Rng rng(8);
  for (const Medium& medium : media()) {
    LinkModel link(medium, rng);
    double before = 0;
    for (double loss = 0; loss < 12; loss += 0.25) {
      link.begin_step();
      link.direction(Way::kIn).now[0].added_loss_db = loss;
      const double ber = link.lane_ber(Way::kIn, 0, medium.temperature_c);
      EXPECT_GE(ber, before) << medium.name << " " << loss;
      before = ber;
    }
  }
}

TEST(LinkModel, CorrectedBitsAreTheErrorRatioTimesTheBits) {
  Rng rng(9);
  const Medium& medium = media()[6];
  LinkModel link(medium, rng);
  link.begin_step();
  for (LaneNow& lane : link.direction(Way::kIn).now) lane.added_floor_ber = 1e-6;
  link.direction(Way::kIn).burst_per_s = 0;
  const double ber = link.mean_ber(Way::kIn, medium.temperature_c);
  const ErrorCount count = link.count(Way::kIn, 100, medium.temperature_c, rng);
  EXPECT_NEAR(count.corrected_bits / (ber * 425e9 * 100), 1.0, 0.01);
  EXPECT_EQ(count.uncorrectable_blocks, 0);
}

TEST(LinkModel, ABrokenFibreOrADarkLaserCannotLock) {
  Rng rng(10);
  LinkModel link(media()[0], rng);
  link.begin_step();
  EXPECT_TRUE(link.can_lock(40, 42));
  link.direction(Way::kOut).now[1].open = true;
  EXPECT_FALSE(link.can_lock(40, 42));
  link.begin_step();
  link.direction(Way::kIn).now[2].tx_dark = true;
  EXPECT_FALSE(link.can_lock(40, 42));
}

}  // namespace
}  // namespace linkhealth::sim
