#include "model/intervals.h"

#include <gtest/gtest.h>

#include <cmath>

namespace linkhealth {
namespace {

OpenInterval counted() {
  OpenInterval open;
  open.flows.fill(kUnknownValue);
  open.begin = SteadyTime(Milliseconds(1000));
  open.end = SteadyTime(Milliseconds(11000));
  open.carrier = open.clean = true;
  return open;
}

double& of(OpenInterval& open, Flow flow) { return open.flows[static_cast<std::size_t>(flow)]; }

TEST(Interval, KeepsWhatCameWhatDidNotAndWhatNobodyKnows) {
  OpenInterval open = counted();
  of(open, Flow::kCorrectedBits) = 4000;
  of(open, Flow::kSymbolErrors) = 0;
  of(open, Flow::kModuleHeat) = 3;
  const Interval kept(open);
  EXPECT_EQ(kept.flow(Flow::kCorrectedBits), 4000);
  EXPECT_EQ(kept.flow(Flow::kSymbolErrors), 0);
  EXPECT_EQ(kept.flow(Flow::kModuleHeat), 3);
  EXPECT_TRUE(std::isnan(kept.flow(Flow::kRetries)));
  EXPECT_TRUE(kept.counted().has_any({Flow::kModuleHeat, Flow::kSymbolErrors}));
  EXPECT_FALSE(kept.counted().has(Flow::kSymbolErrors));
  EXPECT_TRUE(kept.known().has(Flow::kSymbolErrors));
  EXPECT_EQ(kept.seconds(), 10);
}

TEST(Interval, LanesStandBehindTheFlows) {
  OpenInterval open = counted();
  of(open, Flow::kCorrectedBits) = 10;
  of(open, Flow::kRxOctets) = 1e12;
  open.lanes = 3;
  open.lane_bits = {7, static_cast<float>(kUnknownValue), 0};
  const Interval kept(open);
  EXPECT_EQ(kept.lane_bits(0), 7);
  EXPECT_TRUE(std::isnan(kept.lane_bits(1)));
  EXPECT_EQ(kept.lane_bits(2), 0);
  EXPECT_NEAR(kept.flow(Flow::kRxOctets), 1e12, 1e12 * 1e-7);
}

TEST(Interval, WhatIsToldLateIsAddedOrTheLargerOfBoth) {
  OpenInterval open = counted();
  of(open, Flow::kRxOctets) = 100;
  of(open, Flow::kModuleHeat) = 3;
  open.lanes = 1;
  open.lane_bits = {7};
  Interval kept(open);
  kept.take_late(Flow::kRxOctets, 40, Combine::kMost);
  EXPECT_EQ(kept.flow(Flow::kRxOctets), 100);
  kept.take_late(Flow::kRxOctets, 400, Combine::kMost);
  EXPECT_EQ(kept.flow(Flow::kRxOctets), 400);
  kept.take_late(Flow::kCongestionMarks, 5, Combine::kSum);
  kept.take_late(Flow::kCongestionMarks, 6, Combine::kSum);
  EXPECT_EQ(kept.flow(Flow::kCongestionMarks), 11);
  kept.take_late(Flow::kRetries, 0, Combine::kSum);
  EXPECT_EQ(kept.flow(Flow::kRetries), 0) << "known, and none";
  EXPECT_EQ(kept.flow(Flow::kModuleHeat), 3) << "the others stand where they stood";
  EXPECT_EQ(kept.lane_bits(0), 7);
}

TEST(Interval, AnErrorRatioOfOneBitInAnHourIsKept) {
  OpenInterval open = counted();
  open.ber = 1 / (850e9 * 3600);
  open.ber_floor = 0.5 / (850e9 * 3600);
  const Interval kept(open);
  EXPECT_NEAR(static_cast<double>(kept.ber) / open.ber, 1, 1e-6);
  EXPECT_GT(kept.ber_floor, 0);
  EXPECT_TRUE(std::isnan(Interval(counted()).ber));
}

}  // namespace
}  // namespace linkhealth
