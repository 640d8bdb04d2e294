// Properties of the generator: the same case is the same everywhere, faults show where they are,
// and what a driver does not offer is absent.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/sim/scenario.h"

namespace linkhealth::sim {
namespace {

std::uint64_t fingerprint(const CaseSpec& spec) {
  Simulation simulation(spec);
  Snapshot snapshot;
  std::uint64_t sum = 0;
  while (simulation.next(snapshot)) {
    for (const auto& [key, port] : snapshot.ports) {
      if (port.counters)
        for (const auto& [id, value] : port.counters->known()) sum = sum * 31 + value + id;
      if (port.module) sum = sum * 31 + port.module->lanes.size();
    }
    sum = sum * 31 + snapshot.events.size();
  }
  return sum;
}

TEST(Scenario, TheSameSeedGivesTheSameCase) {
  EXPECT_EQ(fingerprint({CaseSet::kHard, 5, ""}), fingerprint({CaseSet::kHard, 5, ""}));
  EXPECT_NE(fingerprint({CaseSet::kHard, 5, ""}), fingerprint({CaseSet::kHard, 6, ""}));
}

TEST(Scenario, EveryFaultOccurs) {
  for (const std::string_view name : fault_names()) {
    bool seen = false;
    for (std::uint64_t seed = 1; seed < 200 && !seen; ++seed) {
      const Simulation simulation({CaseSet::kHard, seed, std::string(name)});
      for (const auto& [key, truth] : simulation.truth()) seen = seen || truth.fault == name;
    }
    EXPECT_TRUE(seen) << name;
  }
}

TEST(Scenario, EverySceneIsPlayed) {
  for (const Scene& scene : scenes()) {
    CaseSpec spec{CaseSet::kHard, 11, ""};
    spec.scene = scene.name;
    const Simulation simulation(spec);
    std::size_t faulty = 0;
    for (const auto& [key, truth] : simulation.truth()) {
      faulty += truth.fault != "healthy";
      EXPECT_TRUE(truth.fault == "healthy" || truth.severity == "shared" ||
                  truth.severity == "by itself")
          << scene.name;
    }
    EXPECT_GE(faulty, 1u) << scene.name;
  }
}

TEST(Scenario, PortsOfOneModuleReadItAlike) {
  CaseSpec spec{CaseSet::kHard, 12, ""};
  spec.scene = "module of four dies";
  Simulation simulation(spec);
  std::map<std::string, std::set<std::size_t>> lanes;  // by serial
  Snapshot snapshot;
  for (int i = 0; i < 20 && simulation.next(snapshot); ++i)
    for (const auto& [key, port] : snapshot.ports)
      if (port.module) lanes[port.module->serial].insert(port.module->lanes.size());
  EXPECT_LT(lanes.size(), snapshot.ports.size());
  for (const auto& [serial, counts] : lanes) EXPECT_LE(counts.size(), 2u) << serial;
  EXPECT_EQ(*lanes.begin()->second.rbegin(), 16u);
}

TEST(Scenario, TelemetryIsToldAgainWithAGrowingAge) {
  bool seen = false;
  for (std::uint64_t seed = 1; seed < 40 && !seen; ++seed) {
    Simulation simulation({CaseSet::kField, seed, "congestion"});
    Snapshot snapshot;
    std::map<PortKey, PeerSample> last;
    while (simulation.next(snapshot) && !seen)
      for (const auto& [key, port] : snapshot.ports) {
        if (!port.peer || port.peer->source != "telemetry") continue;
        const auto before = last.find(key);
        seen = seen ||
               (before != last.end() && port.peer->counters == before->second.counters &&
                port.peer->counters && port.peer->age_s > before->second.age_s.value_or(0) + 1);
        last[key] = *port.peer;
      }
  }
  EXPECT_TRUE(seen);
}

TEST(Scenario, TimeAndEventsAreInOrder) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Simulation simulation({CaseSet::kHard, seed, ""});
    Snapshot snapshot;
    double last = -1;
    while (simulation.next(snapshot)) {
      const double t = steady_seconds(snapshot.taken_at);
      EXPECT_GT(t, last) << seed;
      for (const PortEvent& event : snapshot.events)
        EXPECT_LT(steady_seconds(event.t), t + 3) << seed;
      last = t;
    }
    EXPECT_GT(last, 5000);
  }
}

TEST(Scenario, ABlindGroupIsAbsentAndHasAGap) {
  bool seen = false;
  for (std::uint64_t seed = 1; seed < 60 && !seen; ++seed) {
    Simulation simulation({CaseSet::kField, seed, "monitor_blind"});
    PortKey blind;
    for (const auto& [key, truth] : simulation.truth())
      if (truth.fault == "monitor_blind") blind = key;
    if (blind.empty()) continue;
    Snapshot last;
    Snapshot snapshot;
    SourceMap sources;
    while (simulation.next(snapshot)) {
      last = snapshot;
      if (last.ports.at(blind).sources) sources = *last.ports.at(blind).sources;
    }
    if (last.ports.at(blind).counters) continue;  // frozen ones are still read
    EXPECT_EQ(sources.at(SourceId::kCounters).state, SourceState::kFailing);
    seen = true;
  }
  EXPECT_TRUE(seen);
}

TEST(Scenario, HealthyLinksStayWithinTheirLimits) {
  Simulation simulation({CaseSet::kHealthy, 3, ""});
  Snapshot snapshot;
  std::map<PortKey, std::uint64_t> first, last;
  while (simulation.next(snapshot)) {
    for (const auto& [key, port] : snapshot.ports) {
      if (!port.counters) continue;
      const auto lost = port.counters->get("fec_uncorrectable_blocks");
      if (!lost) continue;
      first.try_emplace(key, *lost);
      last[key] = *lost;
    }
  }
  ASSERT_FALSE(first.empty());
  for (const auto& [key, value] : last) {
    // Below the first value: the counters were cleared in between.
    EXPECT_LT(value, first[key] + 1000u) << key;
  }
}

PortSetup setup_of(std::string_view medium) {
  PortSetup setup;
  for (const Medium& each : media())
    if (each.name == medium) setup.medium = &each;
  setup.driver = &drivers()[0];
  setup.id.device = "mlx5_0";
  setup.id.link_layer = "Ethernet";
  setup.far_level = 3;
  setup.peer_source = "telemetry";
  setup.leaf = "leaf-1";
  return setup;
}

/// Readings of both ends, without failed reads.
std::pair<ModuleSample, ModuleSample> read_both(PortSim& port, double t) {
  for (int tries = 0; tries < 50; ++tries) {
    std::vector<Gap> gaps;
    const PortSample sample = port.sample(t, true, true, true, gaps);
    if (sample.module && sample.peer && sample.peer->module)
      return {*sample.module, *sample.peer->module};
  }
  return {};
}

double db_lost(const std::optional<double>& before, const std::optional<double>& after) {
  return dbm_from_mw(*before) - dbm_from_mw(*after);
}

TEST(Port, BothEndsReadTheSameLight) {
  for (const std::string_view medium : {"400G-SR4", "400G-DR4", "400G-SR8"}) {
    PortSim port(setup_of(medium), 11);
    port.begin(0.3, 0);
    port.advance(0, 60, 0.3, 0);
    const auto [local, far] = read_both(port, 60);
    Effect
        fading;  // lane 1 of the far laser sends 4 dB less, lane 2 of the outgoing fibre loses 3 dB
    fading.start_s = 61;
    fading.apply = [](PortSim& at, double, double) {
      at.link.direction(Way::kIn).now[0].tx_change_db = -4;
      at.link.direction(Way::kOut).now[1].added_loss_db = 3;
    };
    port.add(fading);
    port.advance(60, 120, 0.3, 0);
    const auto [local_after, far_after] = read_both(port, 120);
    EXPECT_NEAR(db_lost(far.lanes[0].tx_power_mw, far_after.lanes[0].tx_power_mw), 4, 0.6)
        << medium;
    EXPECT_NEAR(db_lost(local.lanes[0].rx_power_mw, local_after.lanes[0].rx_power_mw), 4, 0.6)
        << medium;
    EXPECT_NEAR(db_lost(far.lanes[1].rx_power_mw, far_after.lanes[1].rx_power_mw), 3, 0.6)
        << medium;
    EXPECT_NEAR(db_lost(local.lanes[1].rx_power_mw, local_after.lanes[1].rx_power_mw), 0, 0.6)
        << medium;
    EXPECT_NEAR(db_lost(local.lanes[1].tx_power_mw, local_after.lanes[1].tx_power_mw), 0, 0.6)
        << medium;
  }
}

TEST(Port, ABreakTakesTheCarrierAndARepairBringsItBack) {
  PortSim port(setup_of("400G-DR4"), 12);
  port.begin(0.3, 0);
  Effect broken;
  broken.start_s = 100;
  broken.end_s = 200;
  broken.apply = [](PortSim& at, double, double) {
    at.link.direction(Way::kIn).now[2].open = true;
  };
  port.add(broken);
  port.advance(0, 150, 0.3, 0);
  EXPECT_FALSE(port.carrier());
  ASSERT_FALSE(port.events().empty());
  EXPECT_NEAR(steady_seconds(port.events().front().t), 100, 0.1);
  port.advance(150, 600, 0.3, 0);
  EXPECT_TRUE(port.carrier());
  EXPECT_EQ(port.events().back().kind, PortEventKind::kCarrierUp);
}

TEST(Port, CountersOnlyGrow) {
  PortSim port(setup_of("400G-SR4"), 13);
  port.begin(0.3, 0);
  Counters before;
  for (double t = 0; t < 3600; t += 30) {
    port.advance(t, t + 30, 0.3, 0);
    std::vector<Gap> gaps;
    const PortSample sample = port.sample(t + 30, false, false, false, gaps);
    for (const auto& [id, value] : before.known())
      EXPECT_GE(sample.counters->get(id).value_or(0), value);
    before = *sample.counters;
  }
  EXPECT_GT(before.get("fec_corrected_blocks").value_or(0), 0u);
}

}  // namespace
}  // namespace linkhealth::sim
