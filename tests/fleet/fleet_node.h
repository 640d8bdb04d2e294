// One node of a fleet: simulated links (tests/sim), judged by the real engine and published as the
// daemon does. What a simulation can't be relied on to show within a minute is added to its
// reports: a switch that flaps, a port whose fault keeps coming back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/api/report_store.h"
#include "daemon/engine/engine.h"
#include "tests/sim/scenario.h"

namespace linkhealth::sim {

struct FleetNodeSpec {
  std::size_t number = 0;
  std::uint64_t seed = 1;
  std::size_t ports = 8;
  std::string fault;      ///< "" for none
  bool repaired = false;  ///< the simulation repairs the fault: looks for a seed that does
  bool offender = false;  ///< the first port's fault is repaired and comes back with each step
  bool flapping = false;  ///< the links to the switch of the port with the fault lose their carrier
                          ///< with each step
  WallTime began;         ///< the wall time of the first step
};

class FleetNode {
 public:
  explicit FleetNode(const FleetNodeSpec& spec);

  /// The next snapshot, judged and published; at the simulation's end the last one again, with the
  /// time going on. `now`: the wall time that the report gets.
  void step(WallTime now);
  /// Steps until a fault is in this state, or `most` steps were taken.
  bool step_until(FaultState state, std::size_t most, WallTime now);
  /// Steps until so long before the fault begins.
  void step_before_onset(double lead_s, WallTime now);
  /// The last report again, with the time of now.
  void stand_still(WallTime now);
  [[nodiscard]] const ReportStore& reports() const { return reports_; }
  [[nodiscard]] std::string name() const { return "gpu-" + std::to_string(1000 + spec_.number); }

 private:
  void publish(Report report, std::vector<FaultEvent> events, WallTime now);
  void inject(Report& report, std::vector<FaultEvent>& events);

  FleetNodeSpec spec_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<Engine> engine_;
  ReportStore reports_;
  Snapshot last_;
  std::shared_ptr<const Report> judged_;
  PortKey flapping_port_;
  std::uint64_t steps_ = 0;
};

}  // namespace linkhealth::sim
