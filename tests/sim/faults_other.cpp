// Faults of people, switches, hosts and the fabric.
#include <algorithm>
#include <cmath>

#include "tests/sim/faults.h"

namespace linkhealth::sim {
namespace {

struct Other {
  const FaultPlan& plan;
  PortSim& port;
  const std::vector<PortSim*>& mates;
  Rng& rng;
  Truth& truth;

  [[nodiscard]] int far() const { return port.setup.far_level; }
  /// The far module can be read while the link is down, which a MAD cannot cross.
  [[nodiscard]] bool far_seen_when_down() const { return far() >= 3 && port.setup.peer_source != "mad"; }
  void accept(std::string fault, End end = End::kNone) { truth.also_accept.push_back({std::move(fault), end}); }
  Effect effect(double delay_s, std::function<void(PortSim&, double, double)> apply, bool fine) {
    Effect out;
    out.start_s = plan.onset_s > 0 ? plan.onset_s + delay_s : -1e9;
    out.end_s = plan.repair_s > 0 ? plan.repair_s : std::numeric_limits<double>::infinity();
    out.fine = fine;
    out.apply = std::move(apply);
    return out;
  }
  void always(std::function<void(PortSim&)> apply, bool fine = false) {
    port.add(effect(
        0, [apply = std::move(apply)](PortSim& at, double, double) { apply(at); }, fine));
  }
  double by_strength(double weak_low, double weak_high, double mid_high, double strong_high) {
    if (plan.strength == Strength::kWeak) return rng.uniform(weak_low, weak_high);
    if (plan.strength == Strength::kMid) return rng.uniform(weak_high, mid_high);
    return rng.uniform(mid_high, strong_high);
  }
  void log(double delay_s, const std::string& text) {
    if (plan.onset_s <= 0) return;
    const double t = plan.onset_s + delay_s;
    port.at(t, [t, text](PortSim& at) { at.kernel_log(t, text); });
  }
  [[nodiscard]] std::string mlx5(const std::string& text) const {
    return "mlx5_core " + port.setup.id.pci + ": " + text;
  }
};

void module_missing(Other& o) {
  o.truth.end = End::kLocal;
  o.truth.link_down = true;
  o.always([](PortSim& at) { at.now.module_present = false; });
  if (o.plan.onset_s > 0) {
    const double t = o.plan.onset_s;
    o.port.at(t, [t](PortSim& at) { at.emit(t, PortEventKind::kModuleRemoved); });
    if (o.port.setup.driver->name == "mlx5_core") o.log(0.1, o.mlx5("Port module event: module 0, Cable unplugged"));
  }
  if (o.port.setup.medium->build != Build::kOptical) o.accept("unplugged");
}

void module_unsupported(Other& o) {
  o.truth.end = End::kLocal;
  o.truth.link_down = true;
  const double out_s = o.rng.uniform(20, 90);
  if (o.plan.onset_s > out_s + 10) {
    const double removed = o.plan.onset_s - out_s;
    Effect swap;
    swap.start_s = removed;
    swap.end_s = o.plan.onset_s;
    swap.apply = [](PortSim& at, double, double) { at.now.module_present = false; };
    o.port.add(std::move(swap));
    o.port.at(removed, [removed](PortSim& at) { at.emit(removed, PortEventKind::kModuleRemoved); });
    o.port.at(o.plan.onset_s, [t = o.plan.onset_s](PortSim& at) {
      at.swap_module(t);
      at.emit(t, PortEventKind::kModuleInserted);
    });
  }
  const std::string_view driver = o.port.setup.driver->name;
  const bool laser_off = driver == "bnxt_en";
  o.always([laser_off](PortSim& at) {
    at.now.module_accepted = false;
    at.now.reason = {"Cable issue", "Unsupported cable"};
    if (laser_off) at.now.powered = false;
  });
  if (driver == "mlx5_core")
    o.log(2, o.mlx5("Port module event[error]: module 0, Cable error, Enforce part number list"));
  if (driver == "bnxt_en") {
    o.log(2, "bnxt_en " + o.port.setup.id.pci + " " + o.port.setup.id.netdev +
                 ": Unqualified SFP+ module detected on port 1");
  }
  if (driver == "ice") {
    o.log(2, "ice " + o.port.setup.id.pci +
                 ": Rx/Tx is disabled on this device because an unsupported module type was detected");
  }
  if (!o.port.gives_reason()) {  // a log line at best, and none when it came before the first sample
    o.accept("settings_mismatch");
    o.accept("bad_module");
  }
}

void reduced_speed(Other& o) {
  o.truth.end = End::kPath;
  const double factor = o.plan.strength == Strength::kStrong ? 0.25 : 0.5;
  const double retrain = o.rng.uniform(3, 30);
  o.port.add(o.effect(
      0,
      [factor, retrain, t0 = o.plan.onset_s](PortSim& at, double, double t) {
        at.now.speed_factor = factor;
        if (t0 > 0 && t < t0 + 1.5) {
          at.now.flap_per_s = 10;
          at.now.flap_down_s = retrain;
        }
      },
      true));
}

void settings_mismatch(Other& o) {
  o.truth.end = End::kPath;
  o.truth.link_down = true;
  const std::vector<DownReason> reasons = {{"Autoneg", "No HCD"},
                                           {"Autoneg", "No partner detected during force mode"},
                                           {"Autoneg", "FEC mismatch during override"},
                                           {"Logical mismatch", "RS FEC is not locked"}};
  const DownReason reason = reasons[o.rng.below(reasons.size())];
  const bool here = o.rng.chance(0.6);  // the change was made on this node; else on the switch
  if (o.plan.onset_s > 60 && here) {
    const double begin = o.plan.onset_s - 20;
    Effect change;
    change.start_s = begin;
    change.end_s = o.plan.onset_s;
    change.apply = [](PortSim& at, double, double) { at.now.admin_up = false; };
    o.port.add(std::move(change));
    o.port.at(begin, [begin](PortSim& at) { at.emit(begin, PortEventKind::kAdminDown); });
    o.port.at(o.plan.onset_s, [t = o.plan.onset_s](PortSim& at) { at.emit(t, PortEventKind::kAdminUp); });
  }
  o.always([reason](PortSim& at) {
    at.now.settings_match = false;
    at.now.reason = reason;
  });
  if (!o.port.gives_reason()) {
    o.accept("far_port_down");
    o.accept("bad_module");
    o.accept("far_switch_fault");
    if (!o.port.powers_readable()) o.accept("faulty_cable");
  }
}

void admin_down(Other& o) {
  o.truth.end = End::kLocal;
  o.truth.link_down = true;
  o.always([](PortSim& at) { at.now.admin_up = false; });
  if (o.plan.onset_s > 0) {
    o.port.at(o.plan.onset_s, [t = o.plan.onset_s](PortSim& at) { at.emit(t, PortEventKind::kAdminDown); });
  }
}

void unplugged(Other& o) {
  o.truth.end = End::kPath;
  o.truth.link_down = true;
  const bool optical = o.port.setup.medium->build == Build::kOptical;
  const bool far_side = o.rng.chance(0.5);
  if (far_side) {
    o.truth.note = "at the far end";
    const bool with_module = !optical || o.rng.chance(0.4);
    o.always([with_module](PortSim& at) {
      if (with_module) at.now.far_module_present = false;
      for (const Way way : {Way::kIn, Way::kOut}) {
        for (LaneNow& lane : at.link.direction(way).now) lane.open = true;
      }
    });
    if (!with_module) o.accept("damaged_fiber");
    if (!o.far_seen_when_down()) {
      o.accept("far_port_down");
      o.accept("far_switch_fault");
      if (optical) o.accept("damaged_fiber");
      if (!optical) o.accept("faulty_cable");
    }
    return;
  }
  o.truth.note = "at this end";
  if (!optical) {
    o.always([](PortSim& at) { at.now.module_present = false; });
    if (o.plan.onset_s > 0) {
      o.port.at(o.plan.onset_s, [t = o.plan.onset_s](PortSim& at) { at.emit(t, PortEventKind::kModuleRemoved); });
    }
    o.accept("module_missing");
    return;
  }
  o.always([](PortSim& at) {
    for (const Way way : {Way::kIn, Way::kOut}) {
      for (LaneNow& lane : at.link.direction(way).now) lane.open = true;
    }
  });
  o.accept("damaged_fiber");
  if (!o.far_seen_when_down()) {
    o.accept("far_port_down");
    o.accept("far_switch_fault");
  }
}

void far_port_down(Other& o) {
  o.truth.end = End::kFar;
  o.truth.link_down = true;
  const bool reboot = !o.mates.empty();
  const bool laser_off = o.rng.chance(0.85);
  o.always([reboot, laser_off](PortSim& at) {
    at.now.far_admin_up = false;
    at.now.laser_follows_far_admin = laser_off || reboot;
    if (reboot) at.now.far_reachable = false;
  });
  o.accept("far_switch_fault");
  o.truth.note = reboot ? "switch down" : laser_off ? "port off" : "port off, laser on";
  if (reboot) return;
  if (o.far() >= 2 && o.port.setup.peer_source == "telemetry") return;
  if (laser_off) {
    o.accept("unplugged");
    o.accept("damaged_fiber");
    if (o.port.setup.medium->build != Build::kOptical) o.accept("faulty_cable");
  } else {
    o.accept("settings_mismatch");
    o.accept("bad_module");
    if (!o.port.powers_readable()) o.accept("unplugged");
    if (o.port.setup.medium->build != Build::kOptical) o.accept("faulty_cable");
  }
}

void far_switch_fault(Other& o) {
  o.truth.end = End::kFar;
  const bool flaps = o.rng.chance(0.5);
  o.truth.note = flaps ? "flaps" : "errors";
  if (flaps) {
    // The line card restarts again and again: all its ports fall within a second or two.
    std::vector<double> falls;
    const double mean = o.by_strength(1100, 700, 400, 100);
    double t = o.plan.onset_s;
    while (t < o.plan.until_s) {
      falls.push_back(t);
      t += mean * o.rng.uniform(0.5, 1.5);
    }
    for (PortSim* member : [&] {
           auto all = o.mates;
           all.push_back(&o.port);
           return all;
         }()) {
      for (const double fall : falls) {
        Effect drop;
        drop.start_s = fall + o.rng.uniform(0.0, 1.8);
        drop.end_s = drop.start_s + o.rng.uniform(20, 40);
        drop.apply = [](PortSim& at, double, double) {
          at.now.far_admin_up = false;
          at.now.far_reachable = false;
        };
        member->add(std::move(drop));
      }
    }
    o.accept("far_port_down");
    return;
  }
  const double target = std::pow(10.0, o.by_strength(-5.3, -4.6, -3.7, -3.2));
  for (PortSim* member : [&] {
         auto all = o.mates;
         all.push_back(&o.port);
         return all;
       }()) {
    const double own = target * o.rng.uniform(0.6, 1.5) * (member->setup.medium->fec == Fec::kRs528 ? 0.2 : 1.0);
    const double delay = o.rng.uniform(0, 3);
    Effect noise = o.effect(
        delay,
        [own](PortSim& at, double, double) {
          for (LaneNow& lane : at.link.direction(Way::kIn).now) {
            lane.added_floor_ber = at.setup.medium->fec == Fec::kNone ? own * 1e-6 : own;
          }
        },
        true);
    member->add(std::move(noise));
  }
}

void pcie_degraded(Other& o) {
  o.truth.end = End::kNode;
  const bool aer_only = o.plan.strength == Strength::kWeak;
  const double width = aer_only ? 1.0 : o.rng.chance(0.6) ? (o.plan.strength == Strength::kStrong ? 0.25 : 0.5) : 1.0;
  const double speed = aer_only || width < 1.0 ? 1.0 : (o.plan.strength == Strength::kStrong ? 0.25 : 0.5);
  const double aer = aer_only ? o.rng.uniform(40, 150) / 3600 : o.rng.chance(0.6) ? o.rng.uniform(10, 200) / 3600 : 0.0;
  const double stalls = aer_only ? 0 : o.rng.uniform(5, 100);
  o.always([=](PortSim& at) {
    at.now.pcie_width_factor = width;
    at.now.pcie_speed_factor = speed;
    at.now.aer_per_s = aer;
    at.now.pci_stalls_per_s = stalls;
    at.now.host_pause_per_s = stalls;
    at.now.host_drops_per_s = stalls * 0.01;
  });
  if (aer_only) o.truth.note = "corrected errors only";
}

void nic_fault(Other& o) {
  o.truth.end = End::kNode;
  o.truth.link_down = true;
  const bool gone = o.plan.strength == Strength::kStrong && o.rng.chance(0.4) && o.plan.onset_s > 0;
  o.truth.note = gone ? "gone" : "health";
  const bool mlx5 = o.port.setup.driver->name == "mlx5_core";
  const bool silent = o.rng.chance(0.4);
  o.always([gone, silent](PortSim& at) {
    at.now.nic_ok = false;
    at.now.device_gone = gone;
    if (!gone) {
      at.now.blind = {"module"};
      at.now.blind_reason = silent ? "ETIMEDOUT" : "EIO";
      if (silent) at.now.blind.emplace_back("counters");
    }
  });
  const double t = o.plan.onset_s;
  o.port.at(t, [t, gone](PortSim& at) {
    at.emit(t + 0.05, PortEventKind::kDeviceFatal);
    if (gone) at.emit(t + 1.0, PortEventKind::kDeviceGone);
  });
  for (double delay = 0; delay < 1500; delay += o.rng.uniform(80, 400)) {
    o.log(delay + 0.01, mlx5 ? o.mlx5("device's health compromised - reached miss count")
                             : std::string(o.port.setup.driver->name) + " " + o.port.setup.id.pci +
                                   ": NETDEV WATCHDOG: " + o.port.setup.id.netdev + ": transmit queue 3 timed out");
  }
}

void host_and_fabric(Other& o) {
  if (o.plan.name == "host_bottleneck") {
    o.truth.end = End::kNode;
    const double drops = o.by_strength(3, 8, 60, 400);
    const bool stalls = o.rng.chance(0.5);
    o.always([drops, stalls](PortSim& at) {
      at.now.host_drops_per_s = drops;
      at.now.host_pause_per_s = drops * 8;
      at.now.pci_stalls_per_s = stalls ? drops * 0.2 : 0;
      at.now.load_added = 0.25;
    });
  } else if (o.plan.name == "congestion") {
    o.truth.end = End::kFabric;
    const double marks = o.by_strength(1500, 3000, 12000, 60000);
    const double wait = o.by_strength(0.25, 0.35, 0.55, 0.8);
    o.always([marks, wait](PortSim& at) {
      at.now.congestion = marks;
      at.now.wait_share = wait;
      at.now.load_added = 0.3;
    });
  } else {
    o.truth.end = End::kFabric;
    const double rate = o.by_strength(0.03, 0.08, 0.4, 2.0);
    const bool marked = o.port.infiniband() && o.rng.chance(0.6);
    o.always([rate, marked](PortSim& at) {
      at.now.remote_loss_per_s = rate;
      at.now.remote_marked = marked;
      at.now.load_added = 0.2;
    });
    if (o.far() < 2) {  // the other direction of this very cable is not seen
      o.accept("dirty_connector");
      o.accept("bad_module", End::kFar);
    }
  }
}

void monitor_blind(Other& o) {
  o.truth.end = End::kNode;
  const bool permission = o.rng.chance(0.5);
  o.truth.note = permission ? "permission" : "timeout";
  const bool with_link = permission && o.rng.chance(0.5);
  o.always([permission, with_link](PortSim& at) {
    at.now.blind = {"counters", "module"};
    if (with_link) at.now.blind.emplace_back("link");
    at.now.blind_reason = permission ? "EPERM" : "ETIMEDOUT";
  });
  if (!permission) o.accept("nic_fault");
}

}  // namespace

bool plan_other(const FaultPlan& plan, PortSim& port, const std::vector<PortSim*>& mates, Rng& rng, Truth& truth);

bool plan_other(const FaultPlan& plan, PortSim& port, const std::vector<PortSim*>& mates, Rng& rng, Truth& truth) {
  Other o{plan, port, mates, rng, truth};
  if (plan.name == "module_missing")
    module_missing(o);
  else if (plan.name == "module_unsupported")
    module_unsupported(o);
  else if (plan.name == "reduced_speed")
    reduced_speed(o);
  else if (plan.name == "settings_mismatch")
    settings_mismatch(o);
  else if (plan.name == "admin_down")
    admin_down(o);
  else if (plan.name == "unplugged")
    unplugged(o);
  else if (plan.name == "far_port_down")
    far_port_down(o);
  else if (plan.name == "far_switch_fault")
    far_switch_fault(o);
  else if (plan.name == "pcie_degraded")
    pcie_degraded(o);
  else if (plan.name == "nic_fault")
    nic_fault(o);
  else if (plan.name == "host_bottleneck" || plan.name == "congestion" || plan.name == "loss_elsewhere")
    host_and_fabric(o);
  else if (plan.name == "monitor_blind")
    monitor_blind(o);
  else if (plan.name == "wrong_cabling")
    truth.end = End::kPath;  // the node crosses its plan (scenario.cpp)
  else
    return false;
  return true;
}

}  // namespace linkhealth::sim
