// Shared by the files that plan faults: one fault, its port, and the resulting truth.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/sim/faults.h"

namespace linkhealth::sim {

/// A fault that existed before the first sample.
inline constexpr double kLongAgoS = -1e9;

struct Planner {
  const FaultPlan& plan;
  PortSim& port;
  const std::vector<PortSim*>& mates;
  Rng& rng;
  Truth& truth;

  [[nodiscard]] int far() const { return port.setup.far_level; }
  [[nodiscard]] const Medium& medium() const { return *port.setup.medium; }
  [[nodiscard]] bool optical() const { return medium().build == Build::kOptical; }
  /// The far module's powers are read.
  [[nodiscard]] bool far_light() const { return far() >= 3 && !port.far_ddm.power_hidden; }
  /// The far module can be read while the link is down; MADs do not pass then.
  [[nodiscard]] bool far_seen_when_down() const {
    return far() >= 3 && port.setup.peer_source != "mad";
  }
  [[nodiscard]] bool far_light_when_down() const { return far_light() && far_seen_when_down(); }
  /// This port and the others of the same far switch.
  [[nodiscard]] std::vector<PortSim*> members() const {
    std::vector<PortSim*> all = mates;
    all.push_back(&port);
    return all;
  }
  void accept(std::string fault, End end = End::kNone) {
    truth.also_accept.push_back({std::move(fault), end});
  }

  /// From the onset until the repair, growing over `ramp_s`. `fine`: the link needs steps of
  /// seconds.
  Effect effect(double ramp_s, std::function<void(PortSim&, double, double)> apply,
                bool fine = true) const;
  /// Likewise, at full strength from the onset on.
  void always(std::function<void(PortSim&)> apply, bool fine = false);
  /// Something that happens at the onset, if that is in the recording.
  void at_onset(std::function<void(PortSim&, double)> run);
  /// A line of the kernel log, `delay_s` after the onset.
  void log(double delay_s, const std::string& text);
  [[nodiscard]] std::string mlx5(const std::string& text) const;
  /// A value within the limits for this fault's strength.
  double by_strength(double weak_low, double weak_high, double mid_high, double strong_high);
};

void plan_dirty(Planner& p);
void plan_fibre(Planner& p);
void plan_transmitter(Planner& p);
void plan_bad_module(Planner& p);
/// Its management, power or firmware is dead: it carries nothing.
void plan_module_management(Planner& p);
void plan_hot(Planner& p);
void plan_bad_training(Planner& p);
void plan_cable(Planner& p);
void plan_module_missing(Planner& p);
void plan_module_unsupported(Planner& p);
void plan_reduced_speed(Planner& p);
void plan_settings_mismatch(Planner& p);
void plan_admin_down(Planner& p);
void plan_unplugged(Planner& p);
void plan_far_port_down(Planner& p);
void plan_far_switch_fault(Planner& p);
void plan_pcie(Planner& p);
void plan_nic(Planner& p);
void plan_host_bottleneck(Planner& p);
void plan_congestion(Planner& p);
void plan_loss_elsewhere(Planner& p);
void plan_monitor_blind(Planner& p);

/// The mean error ratio to which a signal fault of this strength raises a direction.
double target_ber(Planner& p, Way way);
/// An error ratio at which codewords are lost all the time.
double losing_ber(Planner& p);
/// The scale in dB at which `set` makes the direction's mean error ratio reach the target.
double scale_for(Planner& p, Way way, double target,
                 const std::function<void(PortSim&, double)>& set);

}  // namespace linkhealth::sim
