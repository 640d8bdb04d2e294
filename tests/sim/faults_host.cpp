// Faults of the host, and what is not a fault of a link: congestion, loss elsewhere, unreadable
// sources.
#include <algorithm>
#include <cmath>

#include "tests/sim/fault_planner.h"

namespace linkhealth::sim {

void plan_pcie(Planner& p) {
  const bool aer_only = p.plan.strength == Strength::kWeak;
  const double width = aer_only            ? 1.0
                       : p.rng.chance(0.6) ? (p.plan.strength == Strength::kStrong ? 0.25 : 0.5)
                                           : 1.0;
  const double speed =
      aer_only || width < 1.0 ? 1.0 : (p.plan.strength == Strength::kStrong ? 0.25 : 0.5);
  const double aer = aer_only            ? p.rng.uniform(40, 150) / 3600
                     : p.rng.chance(0.6) ? p.rng.uniform(10, 200) / 3600
                                         : 0.0;
  const double stalls = aer_only ? 0 : p.rng.uniform(5, 100);
  const bool above = !aer_only && p.rng.chance(0.2);  // the card's own link is not degraded
  if (above) p.truth.note = "above the card";
  p.always([=](PortSim& at) {
    at.now.above_narrow = above;
    at.now.pcie_width_factor = above ? 1.0 : width;
    at.now.pcie_speed_factor = above ? 1.0 : speed;
    at.now.aer_per_s = aer;
    at.now.pci_stalls_per_s = stalls;
    at.now.host_pause_per_s = stalls;
    at.now.host_drops_per_s = stalls * 0.01;
  });
  if (aer_only) p.truth.note = "corrected errors only";
}

/// The card no longer answers commands: its link stays up, and its last counts are returned for
/// ever.
static void plan_no_answer(Planner& p) {
  p.truth.note = "no answer";
  p.truth.link_down = false;
  p.always([](PortSim& at) { at.now.counters_frozen = true; });
  for (double delay = 5; delay < 3000; delay += p.rng.uniform(30, 120))
    p.log(delay, "bnxt_en " + p.port.setup.id.pci + " " + p.port.setup.id.netdev +
                     ": Error (timeout: 500015) msg {0x20 0x1b4} len:0");
}

void plan_nic(Planner& p) {
  if (p.port.setup.driver->name == "bnxt_en" && p.rng.chance(0.4)) return plan_no_answer(p);
  if (p.optical() && p.port.ddm.flags && p.rng.chance(0.25)) {  // shown by its module only
    p.always([](PortSim& at) { at.now.host_silent = true; });
    p.truth.note = "silent";
    p.truth.link_down = true;
    return;
  }
  const bool gone = p.plan.strength == Strength::kStrong && p.rng.chance(0.4) && p.plan.onset_s > 0;
  p.truth.note = gone ? "gone" : "health";
  const bool mlx5 = p.port.setup.driver->name == "mlx5_core";
  const bool silent = p.rng.chance(0.4);
  p.always([gone, silent](PortSim& at) {
    at.now.nic_ok = false;
    at.now.device_gone = gone;
    if (!gone) {
      at.now.blind = {"module"};
      at.now.blind_reason = silent ? "ETIMEDOUT" : "EIO";
      if (silent) at.now.blind.emplace_back("counters");
    }
  });
  const double t = p.plan.onset_s;
  p.port.at(t, [t, gone](PortSim& at) {
    at.emit(t + 0.05, PortEventKind::kDeviceFatal);
    if (gone) at.emit(t + 1.0, PortEventKind::kDeviceGone);
  });
  for (double delay = 0; delay < 1500; delay += p.rng.uniform(80, 400)) {
    p.log(delay + 0.01, mlx5 ? p.mlx5("device's health compromised - reached miss count")
                             : std::string(p.port.setup.driver->name) + " " + p.port.setup.id.pci +
                                   ": NETDEV WATCHDOG: " + p.port.setup.id.netdev +
                                   ": transmit queue 3 timed out");
  }
}

void plan_host_bottleneck(Planner& p) {
  const double drops = p.by_strength(3, 8, 60, 400);
  const bool stalls = p.rng.chance(0.5);
  p.always([drops, stalls](PortSim& at) {
    at.now.host_drops_per_s = drops;
    at.now.host_pause_per_s = drops * 8;
    at.now.pci_stalls_per_s = stalls ? drops * 0.2 : 0;
    at.now.load_added = 0.25;
  });
}

void plan_congestion(Planner& p) {
  const double marks = p.by_strength(1500, 3000, 12000, 60000);
  const double wait = p.by_strength(0.25, 0.35, 0.55, 0.8);
  p.always([marks, wait](PortSim& at) {
    at.now.congestion = marks;
    at.now.wait_share = wait;
    at.now.load_added = 0.3;
  });
}

void plan_loss_elsewhere(Planner& p) {
  const double rate = p.by_strength(0.03, 0.08, 0.4, 2.0);
  // Hundreds of timeouts, which ConnectX also counts as notifications handled; the benign twin is
  // plan_congestion().
  const bool storm = p.plan.strength == Strength::kStrong && rate > 1.2;
  const bool marked = p.port.infiniband() && p.rng.chance(0.6);
  p.always([rate, storm, marked](PortSim& at) {
    at.now.remote_loss_per_s = storm ? 1000 * rate : rate;
    at.now.slow_restarts = storm;
    at.now.remote_marked = marked;
    at.now.load_added = 0.2;
  });
  if (p.far() < 2) {  // the other direction of this cable is not visible
    p.accept("dirty_connector");
    p.accept("bad_module", End::kFar);
  }
}

void plan_monitor_blind(Planner& p) {
  const bool counts_bits = p.medium().fec == Fec::kRs544 && !p.port.infiniband();
  if (counts_bits && p.rng.chance(0.25)) {
    p.truth.note = "frozen";
    p.always([](PortSim& at) { at.now.counters_frozen = true; });
    return;
  }
  const bool permission = p.rng.chance(0.5);
  p.truth.note = permission ? "permission" : "timeout";
  const bool with_link = permission && p.rng.chance(0.5);
  p.always([permission, with_link](PortSim& at) {
    at.now.blind = {"counters", "module"};
    if (with_link) at.now.blind.emplace_back("link");
    at.now.blind_reason = permission ? "EPERM" : "ETIMEDOUT";
  });
  if (!permission) p.accept("nic_fault");
}

}  // namespace linkhealth::sim
