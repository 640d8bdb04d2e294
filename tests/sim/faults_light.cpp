// Faults of light: dirt, fibres, lasers.
#include <algorithm>
#include <cmath>

#include "tests/sim/fault_planner.h"

namespace linkhealth::sim {
namespace {

/// Neighbouring lanes of one ferrule; every lane if one fibre carries all.
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
    for (std::size_t lane = 0; lane < weight.size(); ++lane)
      port.link.direction(way).now[lane].added_loss_db += db * weight[lane];
  };
}

void dirty_reflections(Planner& p) {
  const double floor = p.medium().modulation == Modulation::kPam4
                           ? std::pow(10.0, p.rng.uniform(-5.5, -4.0))
                           : std::pow(10.0, p.rng.uniform(-7.0, -5.0));
  const std::vector<double> weight = touched_lanes(p, 0.25);
  p.port.add(p.effect(0, [weight, floor](PortSim& port, double strength, double) {
    for (std::size_t lane = 0; lane < weight.size(); ++lane)
      port.link.direction(Way::kIn).now[lane].added_floor_ber = floor * weight[lane] * strength;
  }));
  p.truth.note = "reflections";
  p.accept("bad_module");
}

void plan_broken_fibre(Planner& p) {
  const bool all = p.medium().duplex || p.rng.chance(0.7);
  const std::size_t from = all ? 0 : p.rng.below(p.port.link.lanes());
  p.port.add(p.effect(0, [all, from](PortSim& port, double, double) {
    for (const Way way : {Way::kIn, Way::kOut}) {
      for (std::size_t lane = from; lane < (all ? port.link.lanes() : from + 1); ++lane)
        port.link.direction(way).now[lane].open = true;
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

std::vector<std::size_t> laser_lanes(Planner& p) {
  const std::size_t per = p.medium().lanes_per_laser;
  const std::size_t first = p.rng.below(p.port.link.lanes() / per) * per;
  std::vector<std::size_t> out;
  for (std::size_t lane = first; lane < first + per; ++lane) out.push_back(lane);
  return out;
}

}  // namespace

void plan_dirty(Planner& p) {
  if (p.medium().single_mode && p.medium().fec != Fec::kNone && p.rng.chance(0.15))
    return dirty_reflections(p);
  const bool outgoing = p.far() >= 2 && p.rng.chance(0.15);
  const Way way = outgoing ? Way::kOut : Way::kIn;
  const auto set = lose_light(way, touched_lanes(p, 0.25));
  // The far end's count of corrected bits is not read: its errors are only visible when data is
  // lost.
  const double db = scale_for(p, way, outgoing ? losing_ber(p) : target_ber(p, way), set);
  const double ramp = p.rng.chance(0.8) ? 0 : p.rng.uniform(60, 900);
  p.port.add(p.effect(
      ramp, [set, db](PortSim& port, double strength, double) { set(port, db * strength); }));
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
  // Not visible: a loss within the spread of good lanes that existed before.
  if (!p.port.powers_readable() || (p.plan.onset_s <= 0 && db < 2.5)) p.accept("bad_module");
  if (!p.far_light()) {
    p.accept("failing_transmitter", End::kFar);
    p.accept("damaged_fiber");
  }
}

void plan_fibre(Planner& p) {
  if (p.plan.strength == Strength::kStrong && p.rng.chance(0.4)) return plan_broken_fibre(p);
  // A bend or crush affects both directions of the fibres in it equally.
  const std::vector<double> weight = touched_lanes(p, 0.5);
  const auto in = lose_light(Way::kIn, weight);
  std::vector<double> other = weight;
  for (double& lane : other) lane *= p.rng.uniform(0.75, 1.1);
  const auto out = lose_light(Way::kOut, other);
  const double db = scale_for(p, Way::kIn, target_ber(p, Way::kIn), in);
  const bool moves = p.rng.chance(0.3);  // a cable caught in a door
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
  const double ramp = dead           ? 0
                      : p.plan.drift ? 0.7 * (p.plan.until_s - p.plan.onset_s)
                                     : p.rng.uniform(0, 1800);
  const double bias = ageing ? p.rng.uniform(1.25, 1.5) : p.rng.uniform(0.97, 1.03);
  p.port.add(p.effect(ramp, [=](PortSim& port, double strength, double) {
    for (const std::size_t lane : lanes) {
      LaneNow& now = port.link.direction(way).now[lane];
      now.tx_dark = now.tx_dark || dead;
      now.tx_change_db = -db * strength;
      // The control loop first raises the current; when that reaches its limit, the light
      // decreases.
      now.bias_factor = dead ? 0.0 : 1.0 + (bias - 1.0) * std::min(1.0, strength * 3.0);
    }
  }));
  if (ramp > 0 && p.plan.onset_s > 0)  // visible once 2 dB are lost
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

}  // namespace linkhealth::sim
