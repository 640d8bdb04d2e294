#include "tests/sim/faults.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

namespace linkhealth::sim {
namespace {

constexpr std::string_view kNames[] = {"dirty_connector",   "damaged_fiber",     "failing_transmitter", "bad_module",
                                       "module_overheated", "module_missing",    "module_unsupported",  "faulty_cable",
                                       "reduced_speed",     "settings_mismatch", "admin_down",          "unplugged",
                                       "far_port_down",     "far_switch_fault",  "pcie_degraded",       "nic_fault",
                                       "host_bottleneck",   "congestion",        "loss_elsewhere",      "wrong_cabling",
                                       "monitor_blind"};

/// A fault that was there before the first sample.
constexpr double kLongAgoS = -1e9;

struct Planner {
  const FaultPlan& plan;
  PortSim& port;
  const std::vector<PortSim*>& mates;
  Rng& rng;
  Truth& truth;

  [[nodiscard]] int far() const { return port.setup.far_level; }
  [[nodiscard]] const Medium& medium() const { return *port.setup.medium; }
  /// The far module's powers are read.
  [[nodiscard]] bool far_light() const { return far() >= 3 && !port.far_ddm.power_hidden; }
  /// And also while the link is down, which a MAD cannot cross.
  [[nodiscard]] bool far_light_when_down() const { return far_light() && port.setup.peer_source != "mad"; }
  void accept(std::string fault, End end = End::kNone) { truth.also_accept.push_back({std::move(fault), end}); }

  Effect effect(double ramp_s, std::function<void(PortSim&, double, double)> apply, bool fine = true) {
    Effect out;
    out.start_s = plan.onset_s > 0 ? plan.onset_s : kLongAgoS;
    out.ramp_s = plan.onset_s > 0 ? ramp_s : 0;
    out.end_s = plan.repair_s > 0 ? plan.repair_s : std::numeric_limits<double>::infinity();
    out.fine = fine;
    out.apply = std::move(apply);
    return out;
  }
  double by_strength(double weak_low, double weak_high, double mid_high, double strong_high) {
    if (plan.strength == Strength::kWeak) return rng.uniform(weak_low, weak_high);
    if (plan.strength == Strength::kMid) return rng.uniform(weak_high, mid_high);
    return rng.uniform(mid_high, strong_high);
  }
};

/// The mean error ratio that a signal fault of this strength brings a link to.
double target_ber(Planner& p, Way way) {
  double exponent = 0;
  switch (p.medium().fec) {
    case Fec::kRs544:
      exponent = p.by_strength(-5.6, -4.5, -3.65, -3.15);
      break;
    case Fec::kRs528:
      exponent = p.by_strength(-6.6, -5.4, -4.35, -3.5);
      break;
    case Fec::kNone:
      exponent = p.by_strength(-12.0, -11.0, -9.8, -7.5);
      break;
  }
  const double before = p.port.link.mean_ber(way, p.medium().temperature_c);
  return std::min(std::max(std::pow(10.0, exponent), before * 12), p.medium().fec == Fec::kRs528 ? 5e-4 : 8e-4);
}

/// An error ratio at which codewords are lost all the time.
double losing_ber(Planner& p) {
  switch (p.medium().fec) {
    case Fec::kRs544:
      return p.rng.uniform(4.5e-4, 8e-4);
    case Fec::kRs528:
      return p.rng.uniform(1.2e-4, 4e-4);
    case Fec::kNone:
      break;
  }
  return p.rng.uniform(1e-10, 1e-8);
}

/// The scale in dB at which `set` makes the direction's mean error ratio reach the target.
double scale_for(Planner& p, Way way, double target, const std::function<void(PortSim&, double)>& set) {
  double low = 0;
  double high = 25;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    p.port.link.begin_step();
    set(p.port, middle);
    (p.port.link.mean_ber(way, p.medium().temperature_c) < target ? low : high) = middle;
  }
  p.port.link.begin_step();
  return high;
}

/// Neighbouring lanes of one ferrule; every lane where one fibre carries all.
std::vector<double> touched_lanes(Planner& p, double spread_probability) {
  const std::size_t lanes = p.port.link.lanes();
  std::vector<double> weight(lanes, 0.0);
  if (p.medium().duplex) {
    for (double& lane : weight) lane = p.rng.uniform(0.92, 1.08);
    return weight;
  }
  std::size_t count = 1;
  for (std::size_t i = 1; i < lanes; ++i) count += p.rng.chance(spread_probability) ? 1 : 0;
  const std::size_t first = p.rng.below(lanes - count + 1);
  for (std::size_t i = first; i < first + count; ++i) weight[i] = p.rng.uniform(0.5, 1.0);
  weight[first + p.rng.below(count)] = 1.0;
  return weight;
}

std::function<void(PortSim&, double)> lose_light(Way way, std::vector<double> weight) {
  return [way, weight](PortSim& port, double db) {
    for (std::size_t lane = 0; lane < weight.size(); ++lane) {
      port.link.direction(way).now[lane].added_loss_db += db * weight[lane];
    }
  };
}

void dirty_reflections(Planner& p) {
  const double floor = p.medium().modulation == Modulation::kPam4 ? std::pow(10.0, p.rng.uniform(-5.5, -4.0))
                                                                  : std::pow(10.0, p.rng.uniform(-7.0, -5.0));
  const std::vector<double> weight = touched_lanes(p, 0.25);
  p.port.add(p.effect(0, [weight, floor](PortSim& port, double strength, double) {
    for (std::size_t lane = 0; lane < weight.size(); ++lane) {
      port.link.direction(Way::kIn).now[lane].added_floor_ber = floor * weight[lane] * strength;
    }
  }));
  p.truth.note = "reflections";
  p.accept("bad_module");
}

void plan_dirty(Planner& p) {
  p.truth.end = End::kPath;
  if (p.medium().single_mode && p.medium().fec != Fec::kNone && p.rng.chance(0.15)) return dirty_reflections(p);
  const bool outgoing = p.far() >= 2 && p.rng.chance(0.15);
  const Way way = outgoing ? Way::kOut : Way::kIn;
  const auto set = lose_light(way, touched_lanes(p, 0.25));
  // The far end's count of corrected bits is not read: what goes wrong there is seen only when data are lost.
  const double db = scale_for(p, way, outgoing ? losing_ber(p) : target_ber(p, way), set);
  const double ramp = p.rng.chance(0.8) ? 0 : p.rng.uniform(60, 900);
  p.port.add(p.effect(ramp, [set, db](PortSim& port, double strength, double) { set(port, db * strength); }));
  if (outgoing) {
    p.truth.note = "outgoing fibre";
    if (!p.far_light()) {
      p.accept("bad_module");
      p.accept("damaged_fiber");
      p.accept("loss_elsewhere");
      p.accept("far_switch_fault");
    }
    return;
  }
  // Nobody can see a loss that is no larger than the spread of good lanes and was there before.
  if (!p.port.powers_readable() || (p.plan.onset_s <= 0 && db < 2.5)) p.accept("bad_module");
  if (!p.far_light()) {
    p.accept("failing_transmitter", End::kFar);
    p.accept("damaged_fiber");
  }
}

void plan_broken_fibre(Planner& p) {
  const bool all = p.medium().duplex || p.rng.chance(0.7);
  const std::size_t from = all ? 0 : p.rng.below(p.port.link.lanes());
  p.port.add(p.effect(0, [all, from](PortSim& port, double, double) {
    for (const Way way : {Way::kIn, Way::kOut}) {
      for (std::size_t lane = from; lane < (all ? port.link.lanes() : from + 1); ++lane) {
        port.link.direction(way).now[lane].open = true;
      }
    }
  }));
  p.truth.note = "broken";
  p.truth.link_down = true;
  p.accept("unplugged");
  if (p.far_light_when_down()) return;
  if (all) {
    p.accept("far_port_down");
    p.accept("far_switch_fault");
  } else {
    p.accept("failing_transmitter", End::kFar);
    p.accept("dirty_connector");
    p.accept("bad_module");
  }
}

void plan_fibre(Planner& p) {
  p.truth.end = End::kPath;
  if (p.plan.strength == Strength::kStrong && p.rng.chance(0.4)) return plan_broken_fibre(p);
  // A bend or crush takes the same from both directions of the fibres that lie in it.
  const std::vector<double> weight = touched_lanes(p, 0.5);
  const auto in = lose_light(Way::kIn, weight);
  std::vector<double> other = weight;
  for (double& lane : other) lane *= p.rng.uniform(0.75, 1.1);
  const auto out = lose_light(Way::kOut, other);
  const double db = scale_for(p, Way::kIn, target_ber(p, Way::kIn), in);
  const bool moves = p.rng.chance(0.3);  // a cable that hangs in a door
  const double phase = p.rng.uniform(0, 6.3);
  p.port.add(p.effect(0, [in, out, db, moves, phase](PortSim& port, double strength, double t) {
    const double now = db * strength * (moves ? 0.92 + 0.08 * std::sin(t / 700.0 + phase) : 1.0);
    in(port, now);
    out(port, now);
  }));
  if (!p.far_light()) {
    p.accept("dirty_connector");
    p.accept("failing_transmitter", End::kFar);
  }
  if (!p.port.powers_readable()) p.accept("bad_module");
}

std::vector<std::size_t> laser_lanes(Planner& p) {
  const std::size_t per = p.medium().lanes_per_laser;
  const std::size_t first = p.rng.below(p.port.link.lanes() / per) * per;
  std::vector<std::size_t> out;
  for (std::size_t lane = first; lane < first + per; ++lane) out.push_back(lane);
  return out;
}

void plan_transmitter(Planner& p) {
  const bool local = p.rng.chance(0.5);
  const Way way = local ? Way::kOut : Way::kIn;
  p.truth.end = local ? End::kLocal : End::kFar;
  const std::vector<std::size_t> lanes = laser_lanes(p);
  const bool dead = p.plan.strength == Strength::kStrong && p.rng.chance(0.35);
  const bool ageing = !dead && (p.plan.drift || p.rng.chance(0.4));
  const auto set = [way, lanes](PortSim& port, double db) {
    for (const std::size_t lane : lanes) port.link.direction(way).now[lane].tx_change_db = -db;
  };
  const double db = dead ? 0 : std::max(2.2, scale_for(p, way, target_ber(p, way), set));
  const double ramp = dead ? 0 : p.plan.drift ? 0.7 * (p.plan.until_s - p.plan.onset_s) : p.rng.uniform(0, 1800);
  const double bias = ageing ? p.rng.uniform(1.25, 1.5) : p.rng.uniform(0.97, 1.03);
  p.port.add(p.effect(ramp, [=](PortSim& port, double strength, double) {
    for (const std::size_t lane : lanes) {
      LaneNow& now = port.link.direction(way).now[lane];
      now.tx_dark = now.tx_dark || dead;
      now.tx_change_db = -db * strength;
      // The control loop raises the current first; when it has no more to give the light goes.
      now.bias_factor = dead ? 0.0 : 1.0 + (bias - 1.0) * std::min(1.0, strength * 3.0);
    }
  }));
  if (p.plan.drift && p.plan.onset_s > 0)
    p.truth.onset_s = p.plan.onset_s + ramp * std::min(1.0, 2.0 / std::max(2.0, db));
  p.truth.note = dead ? "dead" : ageing ? "ageing" : "sudden";
  p.truth.link_down = dead;
  if (!local && !(dead ? p.far_light_when_down() : p.far_light())) {
    p.accept("dirty_connector");
    p.accept("damaged_fiber");
    if (dead) p.accept("bad_module");
  }
  if (!p.port.powers_readable()) p.accept("bad_module");
}

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
    const std::string line =
        "mlx5_core " + p.port.setup.id.pci + ": Port module event[error]: module 0, Cable error, " + kind.second;
    p.port.at(p.plan.onset_s + 0.3, [line, t = p.plan.onset_s + 0.3](PortSim& port) { port.kernel_log(t, line); });
  }
  p.truth.note = "management";
  p.truth.link_down = true;
}

void plan_bad_module(Planner& p) {
  p.truth.end = End::kLocal;
  const std::size_t kind = p.rng.weighted({0.45, 0.2, 0.15, 0.08, 0.12});
  if (kind == 4) return plan_module_management(p);
  if (kind == 3 && p.port.powers_readable()) {  // the meter of a lane is broken, the data are fine
    const std::size_t lane = p.rng.below(p.port.link.lanes());
    p.port.at(p.plan.onset_s > 0 ? p.plan.onset_s : -600.0, [lane](PortSim& port) { port.ddm.rx_broken[lane] = true; });
    if (p.plan.repair_s > 0) p.port.at(p.plan.repair_s, [lane](PortSim& port) { port.ddm.rx_broken[lane] = false; });
    p.truth.note = "meter";
    return;
  }
  if (kind == 2) {
    const double per_s = 1.0 / p.by_strength(800, 450, 250, 60);
    p.port.add(p.effect(0, [per_s](PortSim& port, double, double) { port.now.flap_per_s = per_s; }));
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
      for (std::size_t i = 0; i < port.link.lanes(); ++i) {
        if (whole || i == lane) port.link.direction(way).now[i].penalty_db = db;
      }
    };
    const double db = scale_for(p, way, far_receiver ? losing_ber(p) : target_ber(p, way), set);
    p.port.add(p.effect(p.rng.chance(0.6) ? 0 : p.rng.uniform(300, 5000),
                        [=](PortSim& port, double strength, double) { set(port, db * strength); }));
    p.truth.note = whole ? "receiver" : "lane";
  }
  // A bad eye of the sender and a bad receiver look the same while all powers are right.
  p.accept("bad_module");
  if (p.medium().single_mode) p.accept("dirty_connector");
  if (!p.port.powers_readable() || (far_receiver && !p.far_light())) {
    p.accept("dirty_connector");
    p.accept("damaged_fiber");
    p.accept("loss_elsewhere");
  }
}

void plan_hot(Planner& p) {
  p.truth.end = End::kLocal;
  // What its own limit calls hot: 70 C.
  const double heat =
      p.by_strength(72, 75, 79, 90) - p.medium().temperature_c - p.port.heat_offset_c - p.port.ddm.temperature_offset_c;
  const bool shuts_down = p.plan.strength == Strength::kStrong && p.rng.chance(0.6);
  const double ramp = p.rng.uniform(120, 700);
  p.port.add(p.effect(ramp, [heat](PortSim& port, double strength, double) { port.now.heat_c = heat * strength; }));
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
    const std::string line =
        "mlx5_core " + p.port.setup.id.pci + ": Port module event[error]: module 0, Cable error, High Temperature";
    p.port.at(t, [line, t](PortSim& port) { port.kernel_log(t, line); });
  }
  // Before the warning limit it is only a warm module: that is when a reader can know.
  p.truth.onset_s = p.plan.onset_s > 0 ? p.plan.onset_s + ramp * 0.9 : 0.0;
}

void plan_cable(Planner& p) {
  p.truth.end = End::kPath;
  if (p.rng.chance(0.3)) {
    const double per_s = 1.0 / p.by_strength(800, 450, 250, 50);
    p.port.add(p.effect(0, [per_s](PortSim& port, double, double) { port.now.flap_per_s = per_s; }));
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
    p.port.add(p.effect(0, [=](PortSim& port, double strength, double) { set(port, db * strength); }));
    p.truth.note = whole ? "whole" : "lane";
  }
  if (p.medium().build == Build::kAoc) {  // the module is a part of it
    p.accept("bad_module");
  }
}

}  // namespace

std::span<const std::string_view> fault_names() { return kNames; }

bool shared_by_mates(std::string_view name) { return name == "far_switch_fault"; }

bool fault_fits(std::string_view name, const PortSim& port, std::size_t ports_on_leaf) {
  const Build build = port.setup.medium->build;
  const bool cable = build != Build::kOptical;
  if (name == "dirty_connector" || name == "damaged_fiber" || name == "failing_transmitter" || name == "bad_module") {
    return !cable;
  }
  if (name == "faulty_cable") return cable;
  if (name == "module_overheated") return build == Build::kOptical || build == Build::kAoc;
  if (name == "module_unsupported") return true;
  if (name == "far_switch_fault") return ports_on_leaf >= 2;
  if (name == "wrong_cabling") return port.setup.far_level >= 1;
  return true;
}

// In faults_other.cpp: the faults of people, switches, hosts and the fabric.
bool plan_other(const FaultPlan& plan, PortSim& port, const std::vector<PortSim*>& mates, Rng& rng, Truth& truth);

void plan_fault(const FaultPlan& plan, PortSim& port, const std::vector<PortSim*>& mates, Rng& rng, Truth& truth) {
  truth.fault = std::string(plan.name);
  truth.onset_s = plan.onset_s;
  truth.severity = plan.strength == Strength::kWeak ? "weak" : plan.strength == Strength::kMid ? "mid" : "strong";
  Planner p{plan, port, mates, rng, truth};
  if (plan.name == "dirty_connector") return plan_dirty(p);
  if (plan.name == "damaged_fiber") return plan_fibre(p);
  if (plan.name == "failing_transmitter") return plan_transmitter(p);
  if (plan.name == "bad_module") return plan_bad_module(p);
  if (plan.name == "module_overheated") return plan_hot(p);
  if (plan.name == "faulty_cable") return plan_cable(p);
  plan_other(plan, port, mates, rng, truth);
}

}  // namespace linkhealth::sim
