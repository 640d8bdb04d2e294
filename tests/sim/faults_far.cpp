// Faults caused by people, settings and the far switch.
#include <algorithm>
#include <cmath>

#include "tests/sim/fault_planner.h"

namespace linkhealth::sim {

void plan_reduced_speed(Planner& p) {
  const double factor = p.plan.strength == Strength::kStrong ? 0.25 : 0.5;
  const double retrain = p.rng.uniform(3, 30);
  p.port.add(p.effect(
      0,
      [factor, retrain, t0 = p.plan.onset_s](PortSim& at, double, double t) {
        at.now.speed_factor = factor;
        if (t0 > 0 && t < t0 + 1.5) {
          at.now.flap_per_s = 10;
          at.now.flap_down_s = retrain;
        }
      },
      true));
}

/// A setting of this host disables the module: no part is bad.
void plan_module_held(Planner& p) {
  const bool low = p.rng.chance(0.6);
  p.always([low](PortSim& at) { (low ? at.now.held_low : at.now.held_dark) = true; });
  p.truth.note = low ? "low power" : "transmitters off";
  p.truth.link_down = true;
}

void plan_settings_mismatch(Planner& p) {
  if (p.optical() && p.rng.chance(0.25)) return plan_module_held(p);
  const std::vector<DownReason> reasons = {{"Autoneg", "No HCD"},
                                           {"Autoneg", "No partner detected during force mode"},
                                           {"Autoneg", "FEC mismatch during override"},
                                           {"Logical mismatch", "RS FEC is not locked"}};
  const DownReason reason = reasons[p.rng.below(reasons.size())];
  const bool here = p.rng.chance(0.6);  // the change was made on this node; else on the switch
  if (p.plan.onset_s > 60 && here) {
    const double begin = p.plan.onset_s - 20;
    Effect change;
    change.start_s = begin;
    change.end_s = p.plan.onset_s;
    change.apply = [](PortSim& at, double, double) { at.now.admin_up = false; };
    p.port.add(std::move(change));
    p.port.emit_at(begin, PortEventKind::kAdminDown);
    p.port.emit_at(p.plan.onset_s, PortEventKind::kAdminUp);
  }
  p.always([reason](PortSim& at) {
    at.now.settings_match = false;
    at.now.reason = reason;
  });
  if (!p.port.gives_reason()) {
    p.accept("far_port_down");
    p.accept("bad_module");
    p.accept("far_switch_fault");
    if (!p.port.powers_readable()) p.accept("faulty_cable");
  }
  // "No lock" on a cable that was never seen working: it may be the cable.
  if (p.plan.onset_s <= 0 && reason.state == "Logical mismatch") {
    p.accept(p.optical() ? "bad_module" : "faulty_cable");
    if (p.optical()) p.accept("dirty_connector");
  }
}

void plan_admin_down(Planner& p) {
  p.always([](PortSim& at) { at.now.admin_up = false; });
  if (p.plan.onset_s > 0) {
    p.port.emit_at(p.plan.onset_s, PortEventKind::kAdminDown);
  }
}

void plan_unplugged(Planner& p) {
  const bool optical = p.optical();
  const bool far_side = p.rng.chance(0.5);
  if (far_side) {
    p.truth.note = "at the far end";
    const bool with_module = !optical || p.rng.chance(0.4);
    p.always([with_module](PortSim& at) {
      if (with_module) at.now.far_module_present = false;
      at.link.open_all();
    });
    if (!with_module) p.accept("damaged_fiber");
    if (!p.far_seen_when_down()) {
      p.accept("far_port_down");
      p.accept("far_switch_fault");
      if (optical) p.accept("damaged_fiber");
      if (!optical) p.accept("faulty_cable");
    }
    return;
  }
  p.truth.note = "at this end";
  if (!optical) {
    p.always([](PortSim& at) { at.now.module_present = false; });
    if (p.plan.onset_s > 0) {
      p.port.emit_at(p.plan.onset_s, PortEventKind::kModuleRemoved);
    }
    p.accept("module_missing");
    return;
  }
  p.always([](PortSim& at) { at.link.open_all(); });
  p.accept("damaged_fiber");
  if (!p.far_seen_when_down()) {
    p.accept("far_port_down");
    p.accept("far_switch_fault");
  }
}

void plan_far_port_down(Planner& p) {
  const bool reboot = !p.mates.empty();
  const bool laser_off = p.rng.chance(0.85);
  p.always([reboot, laser_off](PortSim& at) {
    at.now.far_admin_up = false;
    at.now.laser_follows_far_admin = laser_off || reboot;
    if (reboot) at.now.far_reachable = false;
  });
  p.accept("far_switch_fault");
  p.truth.note = reboot ? "switch down" : laser_off ? "port off" : "port off, laser on";
  if (reboot) return;
  if (p.far() >= 2 && p.port.setup.peer_source == "telemetry") return;
  if (laser_off) {
    p.accept("unplugged");
    p.accept("damaged_fiber");
    if (!p.optical()) p.accept("faulty_cable");
  } else {
    p.accept("settings_mismatch");
    p.accept("bad_module");
    if (!p.port.powers_readable()) p.accept("unplugged");
    if (!p.optical()) p.accept("faulty_cable");
  }
}

void plan_far_switch_fault(Planner& p) {
  const bool flaps = p.rng.chance(0.5);
  p.truth.note = flaps ? "flaps" : "errors";
  if (flaps) {
    // The line card restarts repeatedly: all its ports go down within a second or two.
    std::vector<double> falls;
    const double mean = p.by_strength(1100, 700, 400, 100);
    double t = p.plan.onset_s;
    while (t < p.plan.until_s) {
      falls.push_back(t);
      t += mean * p.rng.uniform(0.5, 1.5);
    }
    for (PortSim* member : p.members()) {
      for (const double fall : falls) {
        Effect drop;
        drop.start_s = fall + p.rng.uniform(0.0, 1.8);
        drop.end_s = drop.start_s + p.rng.uniform(20, 40);
        drop.apply = [](PortSim& at, double, double) {
          at.now.far_admin_up = false;
          at.now.far_reachable = false;
        };
        member->add(std::move(drop));
      }
    }
    p.accept("far_port_down");
    return;
  }
  const double target = std::pow(10.0, p.by_strength(-5.3, -4.6, -3.7, -3.2));
  for (PortSim* member : p.members()) {
    const double before = member->link.mean_ber(Way::kIn, member->setup.medium->temperature_c);
    const double share = member->setup.medium->fec == Fec::kRs528 ? 0.2 : 1.0;
    const double own = std::max(target * p.rng.uniform(0.6, 1.5) * share, 12 * before);
    const double delay = p.rng.uniform(0, 3);
    Effect noise = p.effect(
        delay,
        [own](PortSim& at, double, double) {
          for (LaneNow& lane : at.link.direction(Way::kIn).now)
            lane.added_floor_ber = at.setup.medium->fec == Fec::kNone ? own * 1e-6 : own;
        },
        true);
    member->add(std::move(noise));
  }
}

}  // namespace linkhealth::sim
