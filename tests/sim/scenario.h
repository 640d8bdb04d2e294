// A simulated node over some hours: its ports, the room, the running jobs, everyday events on good
// links, and faults. Yields the snapshots that the daemon would take, and the truth. The same spec
// gives the same snapshots everywhere.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/json/old_gaps.h"
#include "model/snapshot.h"
#include "tests/sim/faults.h"
#include "tests/sim/port.h"
#include "tests/sim/scenes.h"

namespace linkhealth::sim {

enum class CaseSet : std::uint8_t {
  kField,  ///< faults as often as in the field, mostly clear
  /// Every fault equally often; weak, partly unreadable, disturbed, two at once, there before the
  /// first sample.
  kHard,
  kHealthy,  ///< a day without a fault, with everything that happens to good links
};
std::string_view to_string(CaseSet set);
std::optional<CaseSet> parse_case_set(std::string_view text);

struct CaseSpec {
  CaseSet set = CaseSet::kField;
  std::uint64_t seed = 1;
  std::string fault;      ///< only this fault; "" draws one
  std::size_t ports = 0;  ///< number of ports; 0 draws it
  bool repaired = false;  ///< every fault ends, and the time after that is simulated
  std::string scene{};    ///< only this scene (scenes.h); "" draws one, or none
};

class Simulation {
 public:
  explicit Simulation(const CaseSpec& spec);
  ~Simulation();

  [[nodiscard]] const RecordingHeader& header() const { return header_; }
  /// What was wrong, by port. Valid from the start.
  [[nodiscard]] const std::map<PortKey, Truth>& truth() const { return truth_; }
  [[nodiscard]] double duration_s() const { return duration_s_; }
  /// The next snapshot; false at the end.
  bool next(Snapshot& out);

 private:
  struct Job {
    double start_s, end_s, load;
  };
  void draw_node(const CaseSpec& spec);
  void draw_scene(CaseSpec& spec);
  void draw_ports(const CaseSpec& spec);
  [[nodiscard]] const Medium* draw_medium(bool infiniband);
  void play_scene(const CaseSpec& spec);
  void draw_twins();
  void tell_twins();
  void show_twins(Snapshot& out, OldGaps& failed) const;
  void draw_cadence(const CaseSpec& spec);
  void draw_jobs();
  void draw_expected(bool wrong_cabling);
  void draw_everyday(const CaseSpec& spec);
  void everyday_of_port(PortSim& port, double rate);
  void reboot_node(double t);
  void change_fec(double t);
  void draw_fault(const CaseSpec& spec);
  FaultPlan draw_plan(std::string_view name, const CaseSpec& spec);
  void add_second_fault(const FaultPlan& first, PortSim& port, Truth& truth);
  void add_repair(const FaultPlan& plan, PortSim& port, Truth& truth);
  static void tell_repair(const FaultPlan& plan, Truth& truth);
  void add_hands(const FaultPlan& plan, PortSim& port, bool swap);
  void cross_cables(PortSim& port, const FaultPlan& plan);
  void uncross_cables(PortSim& port, PortSim& other, const FaultPlan& plan);
  [[nodiscard]] double load_at(double t) const;
  [[nodiscard]] double room_at(double t) const;
  std::vector<PortSim*> mates_of(const PortSim& port);
  std::string choose_fault(const CaseSpec& spec, const PortSim& port);

  Rng rng_;
  Rng scene_rng_;  ///< separate, so that a new scene changes no other case
  const Scene* scene_ = nullptr;
  Parts parts_ = Parts::kOwn;
  RecordingHeader header_;
  std::map<PortKey, Truth> truth_;
  std::vector<std::unique_ptr<PortSim>> ports_;
  /// Socket Direct: the other function of each card, which shows the same port.
  std::vector<std::pair<PortId, const PortSim*>> twins_;
  std::vector<Job> jobs_;
  std::vector<double> reboots_;
  double duration_s_ = 7200;
  double period_s_ = 60, dense_period_s_ = 60, dense_from_s_ = 0;
  double optics_s_ = 60, peer_s_ = 300;
  double t_ = 0;
  double optics_due_ = 0, peer_due_ = 0;
  double uptime_at_0_ = 0;
  double room_phase_ = 0, room_swing_ = 1.5, room_hot_from_ = 1e18, room_hot_for_ = 0,
         room_hot_c_ = 0;
  double fan_step_at_ = 1e18, fan_step_c_ = 0;
  bool first_ = true;
  OldGapConverter sources_;
};

}  // namespace linkhealth::sim
