#include "diagnosis/questions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace linkhealth {
namespace {

using enum SymptomId;

struct Scene {
  PortHistory port;
  DiagnosisSettings settings;
  Features view{port, settings};
  Findings findings;
  explicit Scene(Medium medium = Medium::kOptical, bool up = true) {
    view.medium = medium;
    view.up = up;
    view.down = !up;
    port.latest.link = LinkSample{};
    port.latest.link->fec = "RS544";
  }
  void see(std::initializer_list<SymptomId> ids, Verdict verdict = Verdict::kPresent) {
    for (const SymptomId id : ids) findings[static_cast<std::size_t>(id)].verdict = verdict;
  }
  void lose_db(double rx, std::optional<double> far_tx, std::optional<double> far_rx) {
    const auto estimate = [](double db) { return LightLossEstimate{db, 0.2, 1}; };
    view.light.rx = estimate(rx);
    if (far_tx) view.light.far_tx = estimate(*far_tx);
    if (far_rx) view.light.far_rx = estimate(*far_rx);
  }
  Differential rank(const Cause* explained = nullptr) {
    return differentiate({view, findings, false, explained});
  }
  std::string top() {
    const auto differential = rank();
    const RankedFault& first = differential.ranked.front();
    return std::string(first.fault->name) + "/" + std::string(to_string(first.fault->end));
  }
};

TEST(Tables, EveryCauseHasItsFaultAndEveryFaultItsCause) {
  std::set<FaultId> reached;
  for (const Cause& cause : cause_table()) {
    reached.insert(cause.fault);
    double sum = 0;
    for (const double share : cause.light.loss) sum += share;
    EXPECT_NEAR(sum, 1, 0.005) << cause.name;
    EXPECT_GT(cause.prior_up, 0);
    EXPECT_GT(cause.prior_down, 0);
  }
  for (std::size_t i = 0; i < fault_table().size(); ++i) {
    const Fault& fault = fault_table()[i];
    EXPECT_EQ(static_cast<std::size_t>(fault.id), i) << fault.name;
    EXPECT_TRUE(reached.contains(fault.id)) << fault.name;
    EXPECT_FALSE(fault.reference.empty()) << fault.name;
    for (const bool missing : {fault.repair.empty(), fault.verify.empty(), fault.sure.empty()})
      EXPECT_EQ(missing, fault.id == FaultId::kHealthy) << fault.name;
  }
  EXPECT_LE(cause_table().size(), kMaxCauses);
}

TEST(Tables, HoldTheNamesOfTheFormat) {
  const std::set<std::string_view> wanted = {
      "dirty_connector",   "damaged_fiber",     "failing_transmitter", "bad_module",
      "module_overheated", "module_missing",    "module_unsupported",  "faulty_cable",
      "reduced_speed",     "settings_mismatch", "admin_down",          "unplugged",
      "far_port_down",     "far_switch_fault",  "pcie_degraded",       "nic_fault",
      "host_bottleneck",   "congestion",        "loss_elsewhere",      "wrong_cabling",
      "monitor_blind",     "bad_training",      "provider_link"};
  std::set<std::string_view> names;
  for (const Fault& fault : fault_table())
    if (fault.name != "healthy") names.insert(fault.name);
  EXPECT_EQ(names, wanted);
}

TEST(Differential, NothingSeenIsHealthyAboveAll) {
  Scene scene;
  for (const Symptom& row : symptom_table()) scene.see({row.id}, Verdict::kAbsent);
  EXPECT_GT(scene.rank().healthy, 0.9);
}

TEST(Differential, IncomingLossWithAHealthyFarLaserIsDirt) {
  Scene scene;
  scene.see({kReceiveErrors, kOneLaneErrors});
  scene.lose_db(4, 0.05, 0.02);
  EXPECT_EQ(scene.top(), "dirty_connector/path");
}

TEST(Differential, TheSameLossSentByTheFarLaserIsTheLaser) {
  Scene scene;
  scene.see({kReceiveErrors});
  scene.lose_db(4, 4.1, 0.02);
  EXPECT_EQ(scene.top(), "failing_transmitter/far");
}

TEST(Differential, AFarPortThatIsReadAndSetUpIsNotDown) {
  for (const SymptomId light : {kNoLight, kLightThere}) {
    Scene scene(Medium::kOptical, false);
    scene.see({kLinkDown, light});
    EXPECT_EQ(scene.top(), "far_port_down/far")
        << "the most frequent cause, where the far end is not read";
    scene.see({kFarAdminDown}, Verdict::kAbsent);
    EXPECT_NE(scene.top(), "far_port_down/far");
  }
}

/// A far end that reports "not ready" sends light: it does not receive ours, or it is starting.
TEST(Differential, AFarEndThatIsNotReadyAndSendsLightIsNotSurelyDown) {
  Scene scene(Medium::kOptical, false);
  for (const Symptom& row : symptom_table())
    if (row.id < kFarTxLow) scene.see({row.id}, Verdict::kAbsent);
  scene.see({kLinkDown, kLightThere, kRemoteFault});
  scene.see({kFarTxLow, kFarTxOff, kFarRxLow, kFarRxDark, kFarAdminDown, kFarModuleAbsent,
             kFarErrors, kGroupDown, kGroupFlaps, kGroupErrors},
            Verdict::kUnknown);
  const auto first = scene.rank().ranked.front();
  EXPECT_EQ(first.fault->name, "far_port_down");
  EXPECT_LT(first.confidence, 0.9);
}

TEST(Differential, OneDarkPortAloneIsNotItsSwitch) {
  Scene scene(Medium::kOptical, false);
  scene.see({kLinkDown, kNoLight, kFlaps});
  EXPECT_NE(scene.top(), "far_switch_fault/far");
  scene.see({kFarAdminDown}, Verdict::kAbsent);
  EXPECT_NE(scene.top(), "far_switch_fault/far") << "what is pulled there is dark, too";
}

TEST(Differential, WithErrorsOnOneSideLightLostOnBothIsTheFibre) {
  Scene scene;
  scene.see({kReceiveErrors});
  scene.see({kFarErrors}, Verdict::kAbsent);
  scene.view.light.rx = LightLossEstimate{3.4, 0.22, 2};
  scene.view.light.far_tx = LightLossEstimate{0.05, 0.22, 2};
  scene.view.light.tx = LightLossEstimate{0.05, 0.22, 1};
  scene.view.light.far_rx = LightLossEstimate{2.7, 0.22, 1};
  EXPECT_EQ(scene.top(), "damaged_fiber/path");
}

TEST(Differential, AnActiveOpticalCableThatLosesDataInBurstsIsOnePart) {
  Scene scene(Medium::kAoc);
  scene.see({kErrorBursts, kLosingData, kFlaps});
  EXPECT_EQ(scene.top(), "faulty_cable/path");
}

TEST(Differential, LossInBothDirectionsIsTheFibre) {
  Scene scene;
  scene.see({kReceiveErrors});
  scene.lose_db(4, 0.05, 3.5);
  EXPECT_EQ(scene.top(), "damaged_fiber/path");
}

TEST(Differential, ErrorsWithLightAsItWasAlmostExcludeDirt) {
  Scene scene;
  scene.see({kReceiveErrors});
  scene.lose_db(0.05, {}, {});
  const Differential differential = scene.rank();
  EXPECT_EQ(differential.ranked.front().fault->name, "bad_module");
  for (const RankedFault& row : differential.ranked)
    if (row.fault->name == "dirty_connector") {
      EXPECT_LT(row.probability, 0.25);
    }
}

TEST(Differential, CopperHasNoDirtyConnector) {
  Scene scene(Medium::kCopper);
  scene.see({kReceiveErrors, kOneLaneErrors});
  const Differential differential = scene.rank();
  EXPECT_EQ(differential.ranked.front().fault->name, "faulty_cable");
  for (const RankedFault& row : differential.ranked) {
    EXPECT_NE(row.fault->name, "dirty_connector");
    EXPECT_NE(row.fault->name, "damaged_fiber");
  }
}

TEST(Differential, ConsequencesDoNotCountAgainstADeadNic) {
  Scene scene(Medium::kOptical, false);
  scene.see({kDeviceFatal, kNegotiationFails, kLightThere});
  EXPECT_EQ(scene.top(), "nic_fault/node");
}

TEST(Differential, NoLightAtBothEndsWithBothModulesIsNotTheFarPort) {
  Scene scene(Medium::kOptical, false);
  scene.see({kNoLight, kFarRxDark});
  scene.see({kFarTxOff}, Verdict::kAbsent);
  scene.see({kFarAdminDown}, Verdict::kAbsent);
  EXPECT_NE(scene.rank().ranked.front().fault->name, "far_port_down");
}

TEST(Differential, WhatIsMissingIsNamedWithTheReadingThatWouldDecide) {
  Scene scene;
  scene.see({kReceiveErrors});
  scene.lose_db(4, {}, {});
  const auto missing = missing_readings(scene.rank(), scene.findings);
  ASSERT_FALSE(missing.empty());
  EXPECT_TRUE(std::any_of(missing.begin(), missing.end(), [](const MissingReading& row) {
    return row.symptom == kFarTxLow || row.symptom == kFarRxLow;
  }));
}

TEST(Differential, TheSecondPassFindsWhatTheFirstFaultDoesNotExplain) {
  Scene scene;
  scene.see({kFlaps, kSpeedReduced, kModuleHot, kDeviceFatal, kRetries}, Verdict::kAbsent);
  scene.see({kReceiveErrors, kPcieReduced});
  scene.lose_db(5, {}, {});
  const Differential first = scene.rank();
  const Differential second = scene.rank(first.ranked.front().cause);
  EXPECT_NE(first.ranked.front().fault, second.ranked.front().fault);
  EXPECT_LT(second.healthy, 0.1);
}

TEST(ImpliedDrop, FollowsTheTableOfThePhysics) {
  // docs/physics.md 7b, PAM4 without floor: from m = 2 (2.4e-8) to m = 0 (2.4e-4) light falls by 2
  // dB.
  EXPECT_NEAR(implied_loss_db(2.4e-8, 2.4e-4, true), 2, 0.05);
  EXPECT_EQ(implied_loss_db(1e-5, 1e-6, true), 0);
}

TEST(Differential, MultimodeGlassHasNoReflections) {
  Scene scene;
  scene.see({kReceiveErrors});
  scene.see({kOneLaneErrors, kLosingData, kFlaps, kFarErrors}, Verdict::kAbsent);
  for (auto* drop : {&scene.view.light.rx, &scene.view.light.tx, &scene.view.light.far_rx,
                     &scene.view.light.far_tx})
    *drop = LightLossEstimate{0.02, 0.2, 0};
  scene.view.multimode = true;
  EXPECT_EQ(scene.top(), "bad_module/local");
  const auto differential = scene.rank();
  for (const RankedFault& row : differential.ranked)
    if (row.fault->name == "dirty_connector") {
      EXPECT_LT(row.confidence, 0.05);
    }
}

TEST(Differential, AReadingThatLiesIsNotDirtAsWell) {
  Scene scene;
  scene.see({kLaneReadsDark, kLightLow});
  scene.see({kReceiveErrors}, Verdict::kAbsent);
  scene.lose_db(40, {}, {});
  const auto first = scene.rank();
  ASSERT_EQ(first.ranked.front().fault->name, "bad_module");
  EXPECT_GT(scene.rank(first.ranked.front().cause).healthy, 0.3);
}

TEST(Differential, ANoisySignalInACableIsTheCable) {
  Scene scene(Medium::kAoc);
  scene.see({kReceiveErrors, kSnrLow});
  scene.see({kModuleHot}, Verdict::kAbsent);
  EXPECT_EQ(scene.top(), "faulty_cable/path");
}

}  // namespace
}  // namespace linkhealth
