// Faults of modules, and of one-piece cables.
#include <algorithm>
#include <memory>

#include "tests/sim/fault_planner.h"

namespace linkhealth::sim {
namespace {

/// Often enough not to be a single mishap before the recording ends.
double flaps_per_s(Planner& p) {
  return std::max(1.0 / p.by_strength(800, 450, 250, 60), 8.0 / (p.plan.until_s - p.plan.onset_s));
}

/// It disappears and comes back by itself, as if it were pulled.
void plan_drop_outs(Planner& p) {
  for (double t = std::max(p.plan.onset_s, 1.0); t < p.plan.until_s;
       t += p.rng.uniform(600, 2400)) {
    Effect out;
    out.start_s = t;
    out.end_s = t + p.rng.uniform(15, 40);
    out.apply = [](PortSim& port, double, double) { port.now.module_present = false; };
    p.port.emit_at(out.start_s, PortEventKind::kModuleRemoved);
    p.port.emit_at(out.end_s, PortEventKind::kModuleInserted);
    p.port.add(std::move(out));
  }
  // The first time may be a technician.
  p.truth.onset_s = std::max(p.plan.onset_s, 1.0) + 2400;
  p.truth.tolerate = {"module_missing", "unplugged"};
  p.truth.note = "drops out";
}

}  // namespace

void plan_module_management(Planner& p) {
  const std::vector<std::pair<DownReason, std::string>> kinds = {
      {{"EEPROM issue", ""}, "Bus stuck (I2C or data shorted)"},
      {{"Power budget exceeded", ""}, "Power budget exceeded"},
      {{"Module", "CMIS module is not in ModuleReady state"}, "Unknown status"}};
  const auto& kind = kinds[p.rng.below(kinds.size())];
  const bool readable = kind.first.state != "EEPROM issue";
  p.port.add(p.effect(0, [kind, readable](PortSim& port, double, double) {
    port.now.powered = false;
    port.now.module_managed = readable;
    port.now.reason = kind.first;
    if (readable) {
      port.now.module_state = kind.first.state == "Module" ? "ModuleFault" : "ModuleLowPwr";
    } else {
      port.now.blind = {"module"};
      port.now.blind_reason = "EIO";
    }
  }));
  if (p.port.setup.driver->name == "mlx5_core" && p.plan.onset_s > 0) {
    const std::string line = "mlx5_core " + p.port.setup.id.pci +
                             ": Port module event[error]: module 0, Cable error, " + kind.second;
    p.port.at(p.plan.onset_s + 0.3,
              [line, t = p.plan.onset_s + 0.3](PortSim& port) { port.kernel_log(t, line); });
  }
  p.truth.note = "management";
  p.truth.link_down = true;
}

void plan_bad_module(Planner& p) {
  const std::size_t kind = p.rng.weighted({0.45, 0.2, 0.15, 0.08, 0.12});
  if (kind == 4) return plan_module_management(p);
  if (kind == 3 && p.port.powers_readable()) {  // a lane's meter is broken, the data is fine
    const std::size_t lane = p.rng.below(p.port.link.lanes());
    p.port.at(p.plan.onset_s > 0 ? p.plan.onset_s : -600.0,
              [lane](PortSim& port) { port.ddm.rx_broken[lane] = true; });
    if (p.plan.repair_s > 0)
      p.port.at(p.plan.repair_s, [lane](PortSim& port) { port.ddm.rx_broken[lane] = false; });
    p.truth.note = "meter";
    return;
  }
  if (kind == 2 && p.plan.until_s - p.plan.onset_s > 9000 && p.rng.chance(0.3))
    return plan_drop_outs(p);
  if (kind == 2) {
    const double per_s = flaps_per_s(p);
    p.port.add(
        p.effect(0, [per_s](PortSim& port, double, double) { port.now.flap_per_s = per_s; }));
    p.truth.note = "flaps";
    p.accept("bad_module", End::kFar);
    p.accept("far_switch_fault");
    return;
  }
  const bool far_receiver = p.far() >= 2 && p.rng.chance(0.15);
  const Way way = far_receiver ? Way::kOut : Way::kIn;
  if (far_receiver) p.truth.end = End::kFar;
  if (kind == 1) {
    const double per_s = std::pow(10.0, p.by_strength(-2.4, -1.9, -1.3, -0.7));
    const double decades = p.rng.uniform(2.0, 3.2);
    p.port.add(p.effect(0, [=](PortSim& port, double, double) {
      port.link.direction(way).burst_per_s_now = per_s;
      port.link.direction(way).burst_decades_now = decades;
    }));
    p.truth.note = "bursts";
  } else {
    const std::size_t lane = p.rng.below(p.port.link.lanes());
    const bool whole = p.rng.chance(0.25);
    const auto set = [=](PortSim& port, double db) {
      for (std::size_t i = 0; i < port.link.lanes(); ++i)
        if (whole || i == lane) port.link.direction(way).now[i].penalty_db = db;
    };
    const double db = scale_for(p, way, far_receiver ? losing_ber(p) : target_ber(p, way), set);
    const double ramp = p.rng.chance(0.6) ? 0 : p.rng.uniform(300, 5000);
    // Visible once the error ratio has risen fourfold.
    const double shows =
        scale_for(p, way, 4 * p.port.link.mean_ber(way, p.medium().temperature_c), set);
    if (ramp > 0 && p.plan.onset_s > 0)
      p.truth.onset_s = p.plan.onset_s + ramp * std::min(1.0, shows / std::max(db, 0.1));
    p.port.add(
        p.effect(ramp, [=](PortSim& port, double strength, double) { set(port, db * strength); }));
    p.truth.note = whole ? "receiver" : "lane";
  }
  // A sender with a bad eye and a bad receiver look the same while all powers are normal.
  p.accept("bad_module");
  if (p.medium().single_mode) p.accept("dirty_connector");
  if (!p.port.powers_readable() || (far_receiver && !p.far_light())) {
    p.accept("dirty_connector");
    p.accept("damaged_fiber");
    p.accept("loss_elsewhere");
  }
}

/// The link goes down for seconds, and its receiver adapts badly when it trains again. The benign
/// twin is one_flap() in everyday.cpp.
void plan_bad_training(Planner& p) {
  const auto set = [](PortSim& port, double db) {
    for (LaneNow& lane : port.link.direction(Way::kIn).now) lane.penalty_db = db;
  };
  const bool from_start = p.plan.onset_s <= 0;
  const double before = p.port.link.mean_ber(Way::kIn, p.medium().temperature_c);
  const double target =
      from_start ? target_ber(p, Way::kIn)
                 : std::min(before * std::pow(10.0, p.by_strength(1.7, 2.2, 3.2, 4.5)), 2e-5);
  const double db = scale_for(p, Way::kIn, target, set);
  p.always([set, db](PortSim& port) { set(port, db); });
  if (from_start) {  // looks like a bad eye in all readings
    p.accept("bad_module");
    p.accept("dirty_connector");
    return;
  }
  Effect fall;
  fall.start_s = p.plan.onset_s;
  fall.end_s = p.plan.onset_s + 1;
  fall.apply = [](PortSim& port, double, double) { port.now.flap_per_s = 20; };
  p.port.add(std::move(fall));
}

void plan_hot(Planner& p) {
  // Hot according to its own limit: 70 C.
  const double heat = p.by_strength(72, 75, 79, 90) - p.medium().temperature_c -
                      p.port.heat_offset_c - p.port.ddm.temperature_offset_c;
  const bool shuts_down = p.plan.strength == Strength::kStrong && p.rng.chance(0.6);
  const double ramp = p.rng.uniform(120, 700);
  p.port.add(p.effect(
      ramp, [heat](PortSim& port, double strength, double) { port.now.heat_c = heat * strength; }));
  auto off = std::make_shared<bool>(false);
  p.port.add(p.effect(0, [off, shuts_down](PortSim& port, double, double) {
    if (!shuts_down) return;
    if (port.temperature_c > 79) *off = true;
    if (port.temperature_c < 66) *off = false;
    if (!*off) return;
    port.now.too_hot = true;
    port.now.reason = {"Overheat", ""};
  }));
  if (p.port.setup.driver->name == "mlx5_core" && p.rng.chance(0.6) && p.plan.onset_s > 0) {
    const double t = p.plan.onset_s + ramp * 0.8;
    const std::string line = "mlx5_core " + p.port.setup.id.pci +
                             ": Port module event[error]: module 0, Cable error, High Temperature";
    p.port.at(t, [line, t](PortSim& port) { port.kernel_log(t, line); });
  }
  // Below the warning limit it is just a warm module: the fault is visible from then on.
  p.truth.onset_s = p.plan.onset_s > 0 ? p.plan.onset_s + ramp * 0.9 : 0.0;
}

void plan_cable(Planner& p) {
  if (p.rng.chance(0.3)) {
    const double per_s = flaps_per_s(p);
    p.port.add(
        p.effect(0, [per_s](PortSim& port, double, double) { port.now.flap_per_s = per_s; }));
    p.truth.note = "flaps";
    p.accept("far_switch_fault");
  } else {
    const bool whole = p.rng.chance(0.4);
    const std::size_t lane = p.rng.below(p.port.link.lanes());
    const bool both = p.medium().bias_ma <= 0 && p.rng.chance(0.6);
    const auto set = [=](PortSim& port, double db) {
      for (std::size_t i = 0; i < port.link.lanes(); ++i) {
        if (!whole && i != lane) continue;
        port.link.direction(Way::kIn).now[i].penalty_db = db;
        if (both) port.link.direction(Way::kOut).now[i].penalty_db = 0.8 * db;
      }
    };
    const double db = scale_for(p, Way::kIn, target_ber(p, Way::kIn), set);
    p.port.add(
        p.effect(0, [=](PortSim& port, double strength, double) { set(port, db * strength); }));
    p.truth.note = whole ? "whole" : "lane";
  }
  if (p.medium().build == Build::kAoc) {  // the module is part of it
    p.accept("bad_module");
  }
}

void plan_module_missing(Planner& p) {
  p.always([](PortSim& at) { at.now.module_present = false; });
  if (p.plan.onset_s > 0) {
    const double t = p.plan.onset_s;
    p.port.emit_at(t, PortEventKind::kModuleRemoved);
    if (p.port.setup.driver->name == "mlx5_core")
      p.log(0.1, p.mlx5("Port module event: module 0, Cable unplugged"));
  }
  // A module that was never seen may also be a whole cable.
  if (!p.optical() || p.plan.onset_s <= 0) p.accept("unplugged");
}

void plan_module_unsupported(Planner& p) {
  const double out_s = p.rng.uniform(20, 90);
  if (p.plan.onset_s > out_s + 10) {
    const double removed = p.plan.onset_s - out_s;
    Effect swap;
    swap.start_s = removed;
    swap.end_s = p.plan.onset_s;
    swap.apply = [](PortSim& at, double, double) { at.now.module_present = false; };
    p.port.add(std::move(swap));
    p.port.emit_at(removed, PortEventKind::kModuleRemoved);
    const bool kind = p.optical() && p.rng.chance(0.3);
    p.port.at(p.plan.onset_s, [t = p.plan.onset_s, kind](PortSim& at) {
      at.swap_module(t);
      if (kind) at.type = at.setup.medium->single_mode ? "400G-SR4.2" : "400G-DR4";
      at.emit(t, PortEventKind::kModuleInserted);
    });
  }
  const std::string_view driver = p.port.setup.driver->name;
  const bool laser_off = driver == "bnxt_en";
  p.always([laser_off](PortSim& at) {
    at.now.module_accepted = false;
    at.now.reason = {"Cable issue", "Unsupported cable"};
    if (laser_off) at.now.powered = false;
  });
  if (driver == "mlx5_core")
    p.log(2, p.mlx5("Port module event[error]: module 0, Cable error, Enforce part number list"));
  if (driver == "bnxt_en") {
    p.log(2, "bnxt_en " + p.port.setup.id.pci + " " + p.port.setup.id.netdev +
                 ": Unqualified SFP+ module detected on port 1");
  }
  if (driver == "ice") {
    p.log(2,
          "ice " + p.port.setup.id.pci +
              ": Rx/Tx is disabled on this device because an unsupported module type was detected");
  }
  if (!p.port
           .gives_reason()) {  // at best a log line, and none if that came before the first sample
    p.accept("settings_mismatch");
    p.accept("bad_module");
  }
}

}  // namespace linkhealth::sim
