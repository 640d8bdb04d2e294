#include "diagnosis/differential.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <utility>

namespace linkhealth {
namespace {

using enum SymptomId;

struct Scene {
  PortHistory port;
  PortView view{port};
  Findings findings;
  explicit Scene(Medium medium = Medium::kOptical, bool up = true) {
    view.medium = medium;
    view.up = up;
    view.down = !up;
    port.latest.link = LinkSample{};
    port.latest.link->fec = "RS544";
  }
  void see(SymptomId id, Verdict verdict = Verdict::kPresent) {
    findings[static_cast<std::size_t>(id)].verdict = verdict;
  }
  Differential rank(const RankedFault* explained = nullptr) {
    std::vector<double> knobs;
    for (const Knob& knob : differential_knobs()) knobs.push_back(knob.value);
    return differentiate({view, findings, nullptr, explained}, knobs);
  }
  std::string top() {
    const auto differential = rank();
    const RankedFault& first = differential.ranked.front();
    return std::string(first.fault->name) + "/" + std::string(to_string(first.fault->end));
  }
};

TEST(Tables, EveryCauseHasItsFaultAndEveryFaultItsCause) {
  std::set<std::pair<std::string_view, End>> reached;
  for (const Cause& cause : cause_table()) {
    const Fault& fault = find_fault(cause.fault, cause.end);
    EXPECT_EQ(fault.name, cause.fault);
    EXPECT_EQ(fault.end, cause.end) << cause.name;
    reached.insert({cause.fault, cause.end});
    double sum = 0;
    for (const double share : cause.light.loss) sum += share;
    EXPECT_NEAR(sum, 1, 0.005) << cause.name;
    EXPECT_GT(cause.prior_up, 0);
    EXPECT_GT(cause.prior_down, 0);
  }
  for (const Fault& fault : fault_table()) {
    EXPECT_TRUE(reached.contains({fault.name, fault.end})) << fault.name;
    if (fault.name == "healthy") continue;
    EXPECT_FALSE(fault.repair.empty()) << fault.name;
    EXPECT_FALSE(fault.verify.empty()) << fault.name;
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
      "monitor_blind"};
  std::set<std::string_view> names;
  for (const Fault& fault : fault_table())
    if (fault.name != "healthy") names.insert(fault.name);
  EXPECT_EQ(names, wanted);
}

TEST(Differential, NothingSeenIsHealthyAboveAll) {
  Scene scene;
  for (const Symptom& row : symptom_table()) scene.see(row.id, Verdict::kAbsent);
  EXPECT_GT(scene.rank().healthy, 0.9);
}

TEST(Differential, IncomingLossWithAHealthyFarLaserIsDirt) {
  Scene scene;
  scene.see(kReceiveErrors);
  scene.see(kOneLaneErrors);
  scene.view.light.rx = Drop{4, 0.2, 1};
  scene.view.light.far_tx = Drop{0.05, 0.2, 1};
  scene.view.light.far_rx = Drop{0.02, 0.2, 0};
  EXPECT_EQ(scene.top(), "dirty_connector/path");
}

TEST(Differential, TheSameLossSentByTheFarLaserIsTheLaser) {
  Scene scene;
  scene.see(kReceiveErrors);
  scene.view.light.rx = Drop{4, 0.2, 1};
  scene.view.light.far_tx = Drop{4.1, 0.2, 1};
  scene.view.light.far_rx = Drop{0.02, 0.2, 0};
  EXPECT_EQ(scene.top(), "failing_transmitter/far");
}

TEST(Differential, AFarPortThatIsReadAndSetUpIsNotDown) {
  for (const SymptomId light : {kNoLight, kLightThere}) {
    Scene scene(Medium::kOptical, false);
    scene.see(kLinkDown);
    scene.see(light);
    EXPECT_EQ(scene.top(), "far_port_down/far")
        << "the most frequent cause, where the far end is not read";
    scene.see(kFarAdminDown, Verdict::kAbsent);
    EXPECT_NE(scene.top(), "far_port_down/far");
  }
}

/// Who says that he is not ready sends light: he does not hear us, or he starts.
TEST(Differential, AFarEndThatIsNotReadyAndSendsLightIsNotSurelyDown) {
  Scene scene(Medium::kOptical, false);
  for (const Symptom& row : symptom_table())
    if (row.id < kFarTxLow) scene.see(row.id, Verdict::kAbsent);
  scene.see(kLinkDown);
  scene.see(kLightThere);
  scene.see(kRemoteFault);
  for (const SymptomId id : {kFarTxLow, kFarTxOff, kFarRxLow, kFarRxDark, kFarAdminDown,
                             kFarModuleAbsent, kFarErrors, kGroupDown, kGroupFlaps, kGroupErrors})
    scene.see(id, Verdict::kUnknown);
  const auto first = scene.rank().ranked.front();
  EXPECT_EQ(first.fault->name, "far_port_down");
  EXPECT_LT(first.confidence, 0.9);
}

TEST(Differential, OneDarkPortAloneIsNotItsSwitch) {
  Scene scene(Medium::kOptical, false);
  scene.see(kLinkDown);
  scene.see(kNoLight);
  scene.see(kFlaps);
  EXPECT_NE(scene.top(), "far_switch_fault/far");
  scene.see(kFarAdminDown, Verdict::kAbsent);
  EXPECT_NE(scene.top(), "far_switch_fault/far") << "what is pulled there is dark, too";
}

TEST(Differential, OneWavelengthOfAFibreThatLosesLightIsALaserWhateverIsKnownOfTheFarEnd) {
  Scene scene;
  scene.see(kReceiveErrors);
  scene.see(kOneLaneErrors);
  scene.view.light.rx = Drop{4, 0.22, 1};
  EXPECT_EQ(scene.top(), "dirty_connector/path") << "eight fibres";
  scene.view.light.rx_one_wavelength = true;
  EXPECT_EQ(scene.top(), "failing_transmitter/far");
}

TEST(Differential, WithErrorsOnOneSideLightLostOnBothIsTheFibre) {
  Scene scene;
  scene.see(kReceiveErrors);
  scene.see(kFarErrors, Verdict::kAbsent);
  scene.view.light.rx = Drop{3.4, 0.22, 2};
  scene.view.light.far_tx = Drop{0.05, 0.22, 2};
  scene.view.light.tx = Drop{0.05, 0.22, 1};
  scene.view.light.far_rx = Drop{2.7, 0.22, 1};
  EXPECT_EQ(scene.top(), "damaged_fiber/path");
}

TEST(Differential, AnActiveOpticalCableThatLosesDataInBurstsIsOnePart) {
  Scene scene(Medium::kAoc);
  scene.see(kErrorBursts);
  scene.see(kLosingData);
  scene.see(kFlaps);
  EXPECT_EQ(scene.top(), "faulty_cable/path");
}

TEST(Differential, LossInBothDirectionsIsTheFibre) {
  Scene scene;
  scene.see(kReceiveErrors);
  scene.view.light.rx = Drop{4, 0.2, 1};
  scene.view.light.far_tx = Drop{0.05, 0.2, 1};
  scene.view.light.far_rx = Drop{3.5, 0.2, 1};
  EXPECT_EQ(scene.top(), "damaged_fiber/path");
}

TEST(Differential, ErrorsWithLightAsItWasAlmostExcludeDirt) {
  Scene scene;
  scene.see(kReceiveErrors);
  scene.view.light.rx = Drop{0.05, 0.2, 1};
  const Differential differential = scene.rank();
  EXPECT_EQ(differential.ranked.front().fault->name, "bad_module");
  for (const RankedFault& row : differential.ranked) {
    if (row.fault->name == "dirty_connector") {
      EXPECT_LT(row.probability, 0.25);
    }
  }
}

TEST(Differential, ALossTooSmallForTheErrorsDoesNotExplainThem) {
  Scene scene;
  scene.see(kReceiveErrors);
  scene.view.signal.ber = 1e-4;
  scene.view.signal.ber_reference = 1e-9;
  scene.view.light.rx = Drop{0.8, 0.22, 1};
  EXPECT_EQ(scene.rank().ranked.front().fault->name, "bad_module");
}

TEST(Differential, CopperHasNoDirtyConnector) {
  Scene scene(Medium::kCopper);
  scene.see(kReceiveErrors);
  scene.see(kOneLaneErrors);
  const Differential differential = scene.rank();
  EXPECT_EQ(differential.ranked.front().fault->name, "faulty_cable");
  for (const RankedFault& row : differential.ranked) {
    EXPECT_NE(row.fault->name, "dirty_connector");
    EXPECT_NE(row.fault->name, "damaged_fiber");
  }
}

TEST(Differential, ConsequencesDoNotCountAgainstADeadNic) {
  Scene scene(Medium::kOptical, false);
  scene.see(kDeviceFatal);
  scene.see(kNegotiationFails);
  scene.see(kLightThere);
  EXPECT_EQ(scene.top(), "nic_fault/node");
}

TEST(Differential, NoLightAtBothEndsWithBothModulesIsNotTheFarPort) {
  Scene scene(Medium::kOptical, false);
  scene.see(kNoLight);
  scene.see(kFarRxDark);
  scene.see(kFarTxOff, Verdict::kAbsent);
  scene.see(kFarAdminDown, Verdict::kAbsent);
  EXPECT_NE(scene.rank().ranked.front().fault->name, "far_port_down");
}

TEST(Differential, WhatIsMissingIsNamedWithTheReadingThatWouldDecide) {
  Scene scene;
  scene.see(kReceiveErrors);
  scene.view.light.rx = Drop{4, 0.2, 1};
  const auto missing = missing_evidence(scene.rank(), scene.findings, false);
  ASSERT_FALSE(missing.empty());
  EXPECT_TRUE(std::any_of(missing.begin(), missing.end(), [](const Missing& row) {
    return row.symptom == kFarTxLow || row.symptom == kFarRxLow;
  }));
}

TEST(Differential, TheSecondPassFindsWhatTheFirstFaultDoesNotExplain) {
  Scene scene;
  for (const SymptomId id : {kFlaps, kSpeedReduced, kModuleHot, kDeviceFatal, kRetries})
    scene.see(id, Verdict::kAbsent);
  scene.see(kReceiveErrors);
  scene.see(kPcieReduced);
  scene.view.light.rx = Drop{5, 0.2, 1};
  const Differential first = scene.rank();
  const Differential second = scene.rank(&first.ranked.front());
  EXPECT_NE(first.ranked.front().fault, second.ranked.front().fault);
  EXPECT_LT(second.healthy, 0.1);
}

TEST(ImpliedDrop, FollowsTheTableOfThePhysics) {
  // docs/physics.md 7b, PAM4 without floor: from m = 2 (2.4e-8) to m = 0 (2.4e-4) light falls by 2
  // dB.
  EXPECT_NEAR(implied_drop_db(2.4e-8, 2.4e-4, true), 2, 0.05);
  EXPECT_EQ(implied_drop_db(1e-5, 1e-6, true), 0);
}

TEST(Differential, MultimodeGlassHasNoReflections) {
  Scene scene;
  scene.see(kReceiveErrors);
  for (const SymptomId id : {kOneLaneErrors, kLosingData, kFlaps, kFarErrors})
    scene.see(id, Verdict::kAbsent);
  for (auto* drop : {&scene.view.light.rx, &scene.view.light.tx, &scene.view.light.far_rx,
                     &scene.view.light.far_tx})
    *drop = Drop{0.02, 0.2, 0};
  scene.view.multimode = true;
  EXPECT_EQ(scene.top(), "bad_module/local");
  const auto differential = scene.rank();
  for (const RankedFault& row : differential.ranked) {
    if (row.fault->name == "dirty_connector") {
      EXPECT_LT(row.confidence, 0.05);
    }
  }
}

TEST(Differential, AReadingThatLiesIsNotDirtAsWell) {
  Scene scene;
  scene.see(kLaneReadsDark);
  scene.see(kLightLow);
  scene.see(kReceiveErrors, Verdict::kAbsent);
  scene.view.light.rx = Drop{40, 0.2, 1};
  const auto first = scene.rank();
  ASSERT_EQ(first.ranked.front().fault->name, "bad_module");
  EXPECT_GT(scene.rank(&first.ranked.front()).healthy, 0.3);
}

TEST(Differential, ANoisySignalInACableIsTheCable) {
  Scene scene(Medium::kAoc);
  scene.see(kReceiveErrors);
  scene.see(kSnrLow);
  scene.see(kModuleHot, Verdict::kAbsent);
  EXPECT_EQ(scene.top(), "faulty_cable/path");
}

TEST(RememberedDifferential, SaysAtEveryStepWhatWouldBeSaidAnew) {
  std::minstd_rand dice(7);
  const auto roll = [&dice](unsigned sides) { return static_cast<unsigned>(dice() % sides); };
  Scene scene;
  const auto drops = {&scene.view.light.rx, &scene.view.light.tx, &scene.view.light.far_rx,
                      &scene.view.light.far_tx};
  std::vector<double> knobs;
  for (const Knob& knob : differential_knobs()) knobs.push_back(knob.value);
  const Fault* incumbent = nullptr;
  RememberedDifferential remembered;
  // Each of these is some step's only news; a third of the steps have none.
  const std::vector<std::function<void()>> news = {
      [&] {
        scene.see(static_cast<SymptomId>(roll(kSymptomCount)), static_cast<Verdict>(roll(3)));
      },
      [&] {
        **(drops.begin() + roll(4)) = Drop{roll(8) * 0.5, 0.2, 0};
      },
      [&] { (*(drops.begin() + roll(4)))->reset(); },
      [&] { scene.view.down = !std::exchange(scene.view.up, scene.view.down); },
      [&] { scene.view.now += std::chrono::seconds(roll(20)); },
      [&] { scene.view.medium = static_cast<Medium>(roll(4)); },
      [&] {
        incumbent = roll(2) == 0
                        ? nullptr
                        : &fault_table()[roll(static_cast<unsigned>(fault_table().size()))];
      },
      [&] {
        scene.view.signal.ber = roll(2) == 0 ? std::nullopt : std::optional(1e-6 * (1 + roll(9)));
      },
      [&] { scene.view.signal.ber_reference = 1e-9 * (1 + roll(9)); },
      [&] { knobs[roll(kDifferentialKnobs)] *= 1 + 0.01 * roll(3); }};
  for (int step = 0; step < 4000; ++step) {
    if (roll(3) > 0) news[roll(static_cast<unsigned>(news.size()))]();
    const DifferentialInput input{scene.view, scene.findings, incumbent, nullptr};
    const Differential anew = differentiate(input, knobs);
    const Differential& said = remembered.of(input, knobs);
    ASSERT_EQ(said.posterior, anew.posterior) << step;
    ASSERT_EQ(said.light, anew.light) << step;
    ASSERT_EQ(said.ranked.size(), anew.ranked.size()) << step;
    for (std::size_t i = 0; i < anew.ranked.size(); ++i) {
      ASSERT_EQ(said.ranked[i].fault, anew.ranked[i].fault) << step;
      ASSERT_EQ(said.ranked[i].confidence, anew.ranked[i].confidence) << step;
    }
  }
}

}  // namespace
}  // namespace linkhealth
