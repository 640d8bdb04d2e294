// Tests the scoring: for hand-made reports the figures must match those counted by hand.
#include <gtest/gtest.h>

#include <memory>

#include "tests/sim/score.h"

namespace linkhealth::sim {
namespace {

FaultReport fault(const std::string& name, End end, double confidence) {
  FaultReport out;
  out.fault = name;
  out.end = end;
  out.confidence = confidence;
  return out;
}

Engine::Step step_of(const PortKey& key, std::vector<FaultReport> faults, bool opened = false) {
  auto report = std::make_shared<Report>();
  PortReport port;
  port.port = key;
  port.faults = faults;
  report->ports.push_back(port);
  Engine::Step out;
  out.report = report;
  if (opened) {
    FaultEvent event;
    event.port = key;
    event.fault = faults.front();
    out.events.push_back(event);
  }
  return out;
}

Truth dirty() {
  Truth truth;
  truth.fault = "dirty_connector";
  truth.end = End::kPath;
  truth.onset_s = 100;
  truth.also_accept = {{"failing_transmitter", End::kFar}, {"bad_module", End::kNone}};
  return truth;
}

TEST(Score, RightIsTheTruthOrWhatCannotBeToldFromIt) {
  const Truth truth = dirty();
  EXPECT_TRUE(is_right(truth, "dirty_connector", End::kPath));
  EXPECT_FALSE(is_right(truth, "dirty_connector", End::kFar));
  EXPECT_TRUE(is_right(truth, "failing_transmitter", End::kFar));
  EXPECT_FALSE(is_right(truth, "failing_transmitter", End::kLocal));
  EXPECT_TRUE(is_right(truth, "bad_module", End::kLocal));
  EXPECT_FALSE(is_right(truth, "congestion", End::kFabric));
}

TEST(Score, CountsTheTopTheFirstThreeAndTheDelay) {
  Score score;
  score.begin_case("a", {{"p/1", dirty()}});
  score.step(step_of("p/1", {}), 0);
  FaultReport wrong = fault("congestion", End::kFabric, 0.8);
  wrong.differential = {{"congestion", End::kFabric, 0.8}, {"dirty_connector", End::kPath, 0.2}};
  score.step(step_of("p/1", {wrong}, true), 160);
  score.end_case();
  score.begin_case("b", {{"p/1", dirty()}});
  score.step(step_of("p/1", {fault("dirty_connector", End::kPath, 0.9)}, true), 130);
  score.end_case();
  EXPECT_DOUBLE_EQ(score.share(&Outcome::right), 0.5);
  EXPECT_DOUBLE_EQ(score.share(&Outcome::in_first_three), 1.0);
  EXPECT_DOUBLE_EQ(score.share(&Outcome::end_right), 0.5);
  EXPECT_DOUBLE_EQ(*score.delay_s(false, 0.9), 60);
  EXPECT_FALSE(score.delay_s(true, 0.5).has_value());
  EXPECT_NEAR(score.calibration_error(), (0.8 + 0.1) / 2, 1e-9);
}

TEST(Score, AFaultThatIsNotSeenIsNotRight) {
  Score score;
  score.begin_case("a", {{"p/1", dirty()}});
  score.step(step_of("p/1", {}), 0);
  score.end_case();
  EXPECT_DOUBLE_EQ(score.share(&Outcome::right), 0.0);
  EXPECT_DOUBLE_EQ(score.share(&Outcome::end_right), 0.0);
  EXPECT_EQ(score.outcomes().front().said, "nothing");
}

TEST(Score, OnAHealthyPortEveryOpenedFaultIsFalseUnlessItWasTrueForAWhile) {
  Truth healthy;
  healthy.tolerate = {"admin_down"};
  Score score;
  score.begin_case("a", {{"p/1", healthy}});
  score.step(step_of("p/1", {}), 0);
  score.step(step_of("p/1", {fault("admin_down", End::kLocal, 0.97)}, true), 100);
  score.step(step_of("p/1", {}), 43200);
  score.end_case();
  EXPECT_DOUBLE_EQ(score.false_per_1000_port_days(), 0.0);
  score.begin_case("b", {{"p/1", healthy}});
  score.step(step_of("p/1", {}), 0);
  score.step(step_of("p/1", {fault("bad_module", End::kLocal, 0.7)}, true), 100);
  score.step(step_of("p/1", {}), 43200);
  score.end_case();
  EXPECT_EQ(score.false_diagnoses().size(), 1u);
  EXPECT_DOUBLE_EQ(score.healthy_port_days(), 1.0);
  EXPECT_DOUBLE_EQ(score.false_per_1000_port_days(), 1000.0);
}

TEST(Score, WhatIsOpenBeforeTheOnsetIsNotItsDetection) {
  Score score;
  score.begin_case("a", {{"p/1", dirty()}});
  score.step(step_of("p/1", {fault("congestion", End::kFabric, 0.8)}, true), 40);
  score.step(step_of("p/1", {fault("dirty_connector", End::kPath, 0.9)}, true), 300);
  score.end_case();
  EXPECT_DOUBLE_EQ(*score.delay_s(false, 0.5), 200);
}

}  // namespace
}  // namespace linkhealth::sim
