#include "tests/sim/scenario.h"

#include <algorithm>
#include <cmath>

namespace linkhealth::sim {
namespace {

constexpr double kRebootS = 170;

struct Share {
  std::string_view fault;
  double weight;
};

// docs/physics.md, priors: what is found on links that are up with errors and on links that are
// down, and what is not a cable fault at all.
constexpr Share kField[] = {
    {"dirty_connector", 20}, {"bad_module", 16},         {"damaged_fiber", 8},
    {"faulty_cable", 8},     {"failing_transmitter", 6}, {"module_overheated", 4},
    {"far_switch_fault", 5}, {"pcie_degraded", 3},       {"reduced_speed", 2},
    {"far_port_down", 9},    {"unplugged", 5},           {"settings_mismatch", 3},
    {"admin_down", 3},       {"nic_fault", 2},           {"module_unsupported", 1},
    {"module_missing", 1},   {"host_bottleneck", 2},     {"congestion", 3},
    {"loss_elsewhere", 2},   {"wrong_cabling", 1},       {"monitor_blind", 2},
    {"bad_training", 1}};

std::string hex(std::uint64_t value, int digits) {
  std::string out;
  for (int i = digits - 1; i >= 0; --i) out += "0123456789abcdef"[(value >> (4 * i)) & 15];
  return out;
}

}  // namespace

std::string_view to_string(CaseSet set) {
  return set == CaseSet::kField ? "field" : set == CaseSet::kHard ? "hard" : "healthy";
}

std::optional<CaseSet> parse_case_set(std::string_view text) {
  for (const CaseSet set : {CaseSet::kField, CaseSet::kHard, CaseSet::kHealthy})
    if (text == to_string(set)) return set;
  return std::nullopt;
}

Simulation::~Simulation() = default;

Simulation::Simulation(const CaseSpec& drawn)
    : rng_(drawn.seed * 3 + static_cast<std::uint64_t>(drawn.set) * 0x51ED2701ULL),
      scene_rng_(drawn.seed * 5 + static_cast<std::uint64_t>(drawn.set) * 0x2C1B3C6DULL + 1) {
  CaseSpec spec = drawn;
  draw_scene(spec);
  draw_node(spec);
  draw_cadence(spec);
  draw_ports(spec);
  draw_jobs();
  if (scene_ != nullptr)
    play_scene(spec);
  else if (spec.set != CaseSet::kHealthy)
    draw_fault(spec);
  draw_everyday(spec);
  bool crossed = false;
  for (const auto& [key, truth] : truth_)
    crossed = crossed || truth.fault == "wrong_cabling" || truth.repaired == "wrong_cabling";
  draw_expected(crossed);
  tell_twins();
  for (const auto& port : ports_) port->begin(load_at(0), room_at(0));
}

void Simulation::draw_node(const CaseSpec& spec) {
  header_.node = "node-" + std::to_string(1000 + rng_.below(9000));
  header_.boot_id = hex(rng_.bits(), 16) + hex(rng_.bits(), 16);
  header_.at = WallTime(
      Milliseconds(1790000000000LL + static_cast<std::int64_t>(rng_.below(5000000)) * 1000));
  header_.version = "sim";
  uptime_at_0_ = rng_.chance(0.12) ? rng_.uniform(20, 200) : rng_.lognormal(900000, 1.2);
  duration_s_ = spec.set == CaseSet::kHealthy ? 86400 : rng_.uniform(5400, 12000);
  room_phase_ = rng_.uniform(0, 6.283);
  room_swing_ = rng_.uniform(0.5, 2.2);
}

void Simulation::draw_cadence(const CaseSpec& spec) {
  if (spec.set == CaseSet::kHealthy) {
    period_s_ = dense_period_s_ = 60;
  } else {
    const std::vector<double> periods = {10, 15, 20, 30, 60};
    dense_period_s_ = rng_.pick(periods);
    period_s_ = rng_.chance(0.4) ? 60 : dense_period_s_;
  }
  dense_from_s_ = rng_.uniform(300, 0.4 * duration_s_);
  optics_s_ = std::max(period_s_, rng_.chance(0.8) ? 60.0 : rng_.uniform(30, 180));
  peer_s_ = rng_.chance(0.8) ? 300 : rng_.uniform(120, 600);
}

/// A scene needs its ports and their parts before anything happens to them. Half of the healthy
/// nodes also have cards and modules with several ports.
void Simulation::draw_scene(CaseSpec& spec) {
  const double chance = spec.set == CaseSet::kHard ? 0.3 : 0.12;
  std::vector<double> weights;
  for (const Scene& scene : scenes())
    weights.push_back(spec.scene.empty() || spec.scene == scene.name ? scene.weight : 0);
  const bool drawn = scene_rng_.chance(chance) && spec.fault.empty() && !spec.repaired;
  if (spec.set == CaseSet::kHealthy) {
    const Parts all[] = {Parts::kOwn, Parts::kCards, Parts::kModules, Parts::kModulesOfFour};
    parts_ = all[scene_rng_.weighted({0.4, 0.25, 0.25, 0.1})];
    if (parts_ == Parts::kModulesOfFour) spec.ports = 8;
  } else if (drawn || !spec.scene.empty()) {
    scene_ = &scenes()[scene_rng_.weighted(weights)];
    parts_ = scene_->parts;
    spec.ports = scene_->ports + 2 * scene_rng_.below(3);
  }
}

const Medium* Simulation::draw_medium(bool infiniband) {
  const auto draw = [this] { return &media()[rng_.below(media().size())]; };
  const bool split = parts_ == Parts::kModules || parts_ == Parts::kModulesOfFour;
  const auto fits = [&](const Medium& medium) {
    const bool optical = medium.build == Build::kOptical;
    return (!infiniband || medium.fec != Fec::kNone) && (!scene_ || !scene_->optical || optical) &&
           (!split || (optical && medium.lanes <= 4));
  };
  const Medium* medium = draw();
  while (!fits(*medium)) medium = draw();
  return medium;
}

void Simulation::draw_ports(const CaseSpec& spec) {
  const Driver* driver = &drivers()[rng_.weighted({0.72, 0.11, 0.11, 0.06})];
  const bool ib = driver->infiniband && rng_.chance(0.45);
  const std::size_t drawn = spec.set == CaseSet::kHealthy ? 2 + rng_.below(7) : 1 + rng_.below(5);
  const std::size_t count = spec.ports > 0 ? spec.ports : drawn;
  const Medium* medium = draw_medium(ib);
  const bool rails = rng_.chance(0.5);  // every port has its own leaf
  const std::size_t first_leaf = 1 + rng_.below(40);
  const int level = static_cast<int>(
      rng_.weighted(spec.set == CaseSet::kHard ? std::vector<double>{0.3, 0.25, 0.2, 0.25}
                                               : std::vector<double>{0.15, 0.2, 0.25, 0.4}));
  const bool empty_fails = scene_rng_.chance(0.4);
  const bool ib_names = ib && rng_.chance(0.15);
  for (std::size_t i = 0; i < count; ++i) {
    if (rng_.chance(0.12) && parts_ == Parts::kOwn) medium = draw_medium(ib);
    PortSetup setup;
    setup.medium = medium;
    setup.driver = driver;
    setup.far_level = level;
    setup.id.device = ib_names ? "ibp" + std::to_string(24 + 13 * i) + "s0"
                               : std::string(driver->device_prefix) + std::to_string(i);
    setup.id.port = 1;
    setup.id.netdev = ib && rng_.chance(0.5)
                          ? ""
                          : (ib ? "ib" + std::to_string(i) : "ens" + std::to_string(i + 1) + "np0");
    setup.id.pci = "0000:" + hex(0x18 + 0x10 * i, 2) + ":00.0";
    setup.id.driver = std::string(driver->name);
    setup.id.guid = "b83f:d203:00" + hex(rng_.bits(), 2) + ":" + hex(rng_.bits(), 4);
    setup.id.link_layer = ib ? "InfiniBand" : "Ethernet";
    setup.id.function = "pf";
    setup.leaf = "leaf-" + std::to_string(first_leaf + (rails ? i : i / 4));
    setup.far_port =
        "Ethernet" + std::to_string(1 + rng_.below(32)) + "/" + std::to_string(1 + rng_.below(2));
    while (std::any_of(ports_.begin(), ports_.end(), [&setup](const auto& other) {
      return other->setup.leaf == setup.leaf && other->setup.far_port == setup.far_port;
    }))
      setup.far_port =
          "Ethernet" + std::to_string(33 + i) + "/1";  // on one switch, each port has one cable
    setup.far_guid = "ec0d:9a03:00" + hex(rng_.bits(), 2) + ":" + hex(rng_.bits(), 4);
    setup.peer_source = level == 1 ? "lldp" : ib && rng_.chance(0.7) ? "mad" : "telemetry";
    if (level == 1 && ib) setup.peer_source = "mad";
    if (scene_rng_.chance(0.35)) setup.telemetry_s = scene_rng_.uniform(30, 600);
    setup.empty_fails = empty_fails;
    const PortKey key = setup.id.key();
    ports_.push_back(std::make_unique<PortSim>(std::move(setup), rng_.bits()));
    Truth& truth = truth_[key];
    truth.medium = std::string(medium->name);
    truth.far_level = level;
  }
  if (count >= 2 && rng_.chance(0.12) && parts_ == Parts::kOwn && scene_ == nullptr) {
    ports_.back()->unused = true;
    Truth& truth = truth_[ports_.back()->setup.id.key()];
    truth.exempt = "unused";
    truth.far_level = 0;
    ports_.back()->setup.far_level = 0;
  } else if (count >= 2 && rng_.chance(0.08) && parts_ == Parts::kOwn && scene_ == nullptr) {
    ports_.back()->virtual_function = true;
    ports_.back()->setup.id.function = "vf";
    ports_.back()->setup.id.exempt = "virtual function of " + ports_.front()->setup.id.pci;
    truth_[ports_.back()->setup.id.key()].exempt = "vf";
  }
  share_parts(ports_, parts_, scene_rng_);
  if (parts_ == Parts::kOwn && scene_ == nullptr && driver->name == "mlx5_core" &&
      scene_rng_.chance(0.1))
    draw_twins();
}

void Simulation::draw_twins() {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    PortSim& port = *ports_[i];
    if (port.unused || port.virtual_function) continue;
    PortId& id = port.setup.id;
    id.board_id = "MT_0000000359";
    id.sys_image_guid = id.guid;
    PortId twin = id;
    twin.device = "mlx5_" + std::to_string(20 + i);
    twin.netdev += id.netdev.empty() ? "" : "s";
    twin.pci = "0001:" + id.pci.substr(5);
    twin.guid.back() = twin.guid.back() == '0' ? '1' : '0';
    twins_.emplace_back(std::move(twin), &port);
  }
}

void Simulation::tell_twins() {
  for (const auto& [id, port] : twins_) {
    const PortKey key = port->setup.id.key();
    Truth& first = truth_[key];
    // One cable has one fault. But each function is enabled separately, and has its own PCIe link.
    if (first.fault != "healthy" && first.end != End::kNode && first.fault != "admin_down")
      first.shared = key;
    truth_[id.key()] = first;
    if (const auto expected = header_.expected.find(key); expected != header_.expected.end())
      header_.expected[id.key()] = ExpectedPort(expected->second);
  }
}

void Simulation::show_twins(Snapshot& out, OldGaps& failed) const {
  for (const auto& [id, port] : twins_) {
    const PortKey first = port->setup.id.key();
    if (const auto at = out.ports.find(first); at != out.ports.end()) {
      PortSample sample = at->second;
      sample.id = id;
      out.ports[id.key()] = std::move(sample);
    }
    for (std::size_t i = 0, n = out.events.size(); i < n; ++i)
      if (out.events[i].port == first) {
        out.events.push_back(out.events[i]);
        out.events.back().port = id.key();
      }
    for (std::size_t i = 0, n = failed.gaps.size(); i < n; ++i)
      if (failed.gaps[i].port == first) {
        failed.gaps.push_back(failed.gaps[i]);
        failed.gaps.back().port = id.key();
      }
  }
}

void Simulation::play_scene(const CaseSpec& spec) {
  FaultPlan plan = draw_plan("nic_fault", spec);  // a fault that cannot exist from the start
  Stage stage{plan, {}, rng_, [this](const PortSim& port) -> Truth& {
                return truth_[port.setup.id.key()];
              }};
  for (const auto& port : ports_)
    if (!port->unused && !port->virtual_function) stage.ports.push_back(port.get());
  scene_->play(stage);
}

void Simulation::draw_jobs() {
  jobs_.clear();
  double t = -rng_.uniform(0, 5000);
  while (t < duration_s_) {
    const double length = rng_.lognormal(5000, 1.0);
    const double load = rng_.chance(0.2) ? rng_.uniform(0.0, 0.03) : rng_.uniform(0.08, 0.8);
    jobs_.push_back({t, t + length, load});
    t += length + (rng_.chance(0.3) ? rng_.lognormal(600, 1.0) : 5);
  }
}

double Simulation::load_at(double t) const {
  for (const Job& job : jobs_)
    if (t >= job.start_s && t < job.end_s) return job.load * (0.93 + 0.07 * std::sin(t * 0.11));
  return 0.003;
}

double Simulation::room_at(double t) const {
  double room = room_swing_ * std::sin(6.283185 * t / 86400.0 + room_phase_);
  if (t > room_hot_from_) {
    const double since = t - room_hot_from_;
    const double rise = std::min(1.0, since / 1800.0);
    const double fall = std::clamp((since - room_hot_for_) / 1800.0, 0.0, 1.0);
    room += room_hot_c_ * (rise - fall);
  }
  if (t > fan_step_at_) room += fan_step_c_;
  return room;
}

std::vector<PortSim*> Simulation::mates_of(const PortSim& port) {
  std::vector<PortSim*> out;
  for (const auto& other : ports_) {
    if (other.get() != &port && other->setup.leaf == port.setup.leaf && !other->unused &&
        !other->virtual_function) {
      out.push_back(other.get());
    }
  }
  return out;
}

std::string Simulation::choose_fault(const CaseSpec& spec, const PortSim& port) {
  const std::size_t on_leaf = mates_of(port).size() + 1;
  for (int tries = 0; tries < 200; ++tries) {
    std::string name = spec.fault;
    if (name.empty()) {
      if (spec.set == CaseSet::kField) {
        std::vector<double> weights;
        for (const Share& share : kField) weights.push_back(share.weight);
        name = std::string(kField[rng_.weighted(weights)].fault);
      } else {
        name = std::string(fault_names()[rng_.below(fault_names().size())]);
      }
    }
    if (fault_fits(name, port, on_leaf)) return name;
    if (!spec.fault.empty()) break;
  }
  return {};
}

FaultPlan Simulation::draw_plan(std::string_view name, const CaseSpec& spec) {
  const bool hard = spec.set == CaseSet::kHard;
  FaultPlan plan;
  plan.name = *std::find(fault_names().begin(), fault_names().end(), name);
  const std::vector<double> field = {0.12, 0.45, 0.43};
  const std::vector<double> weak_first = {0.45, 0.35, 0.2};
  plan.strength = static_cast<Strength>(rng_.weighted(hard ? weak_first : field));
  plan.drift = name == "failing_transmitter" && rng_.chance(hard ? 0.4 : 0.25);
  // A dead NIC logs it once: a monitor that starts later cannot know it.
  const bool from_start =
      (rng_.chance(hard ? 0.15 : 0.06) && name != "nic_fault") || name == "wrong_cabling";
  plan.onset_s = from_start ? 0.0 : rng_.uniform(600, std::max(700.0, 0.55 * duration_s_));
  const bool repairable =
      name == "dirty_connector" || name == "bad_module" || name == "faulty_cable";
  const bool somebody_comes = !from_start && repairable && rng_.chance(0.04);
  if (somebody_comes || spec.repaired) {
    plan.repair_s = plan.onset_s + rng_.uniform(2500, 5000);
    duration_s_ = plan.repair_s + 16000;
    draw_jobs();
  }
  plan.until_s = spec.repaired ? plan.repair_s : duration_s_;
  return plan;
}

void Simulation::draw_fault(const CaseSpec& spec) {
  const bool hard = spec.set == CaseSet::kHard;
  PortSim& port = *ports_[rng_.below(ports_.size() - (ports_.size() > 1 ? 1 : 0))];
  const std::string name = choose_fault(spec, port);
  if (name.empty() || port.unused || port.virtual_function) return;
  const FaultPlan plan = draw_plan(name, spec);
  std::vector<PortSim*> mates = mates_of(port);
  const bool group = name == "far_port_down" && !mates.empty() && rng_.chance(0.45);
  if (name != "far_switch_fault" && !group) mates.clear();
  Truth& truth = truth_[port.setup.id.key()];
  plan_fault(plan, port, mates, rng_, truth);
  if (name == "wrong_cabling") cross_cables(port, plan);
  for (PortSim* mate : mates) {
    Truth& other = truth_[mate->setup.id.key()];
    if (group) {
      plan_fault(plan, *mate, mates, rng_, other);
    } else {
      const std::string medium = other.medium;
      other = truth;
      other.medium = medium;
    }
  }
  if (hard && !truth.link_down && name != "monitor_blind" && rng_.chance(0.15))
    add_second_fault(plan, port, truth);
  if (plan.repair_s > 0) add_repair(plan, port, truth);
}

void Simulation::add_second_fault(const FaultPlan& first, PortSim& port, Truth& truth) {
  const std::string name = choose_fault(CaseSpec{CaseSet::kHard, 0, ""}, port);
  const std::vector<std::string> independent = {"congestion", "pcie_degraded", "host_bottleneck",
                                                "module_overheated", "dirty_connector"};
  if (name == first.name ||
      std::find(independent.begin(), independent.end(), name) == independent.end())
    return;
  FaultPlan plan = first;
  plan.strength = Strength::kMid;
  plan.onset_s = rng_.uniform(600, 0.6 * duration_s_);
  plan.drift = false;
  plan.name = *std::find(fault_names().begin(), fault_names().end(), name);
  Truth own;
  plan_fault(plan, port, {}, rng_, own);
  truth.second = name;
  truth.also_accept.push_back({name, End::kNone});
  for (const Answer& answer : own.also_accept) truth.also_accept.push_back(answer);
}

void Simulation::draw_expected(bool wrong_cabling) {
  bool was_down = false;  // a port that was never up and is not expected is unused
  for (const auto& [key, truth] : truth_)
    was_down = was_down || (truth.link_down && truth.onset_s == 0.0);
  bool leaf_matters = wrong_cabling;  // a faulty switch is only recognised by several of its ports
  for (const auto& [key, truth] : truth_)
    leaf_matters = leaf_matters || truth.fault == "far_switch_fault";
  const bool none = !leaf_matters && !was_down && rng_.chance(0.2);
  const bool no_peer = !leaf_matters && rng_.chance(0.3);
  std::vector<std::pair<std::string, std::string>> planned;
  for (const auto& port : ports_) planned.emplace_back(port->setup.leaf, port->setup.far_port);
  if (wrong_cabling) {  // undo the crossing: the plan is right, the cables are not
    std::vector<std::size_t> crossed;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const Truth& truth = truth_[ports_[i]->setup.id.key()];
      if (truth.fault == "wrong_cabling" || truth.repaired == "wrong_cabling") crossed.push_back(i);
    }
    if (crossed.size() == 2) std::swap(planned[crossed[0]], planned[crossed[1]]);
    if (crossed.size() == 1) {
      PortSim& port = *ports_[crossed[0]];
      std::string& right = planned[crossed[0]].second;
      right = "Ethernet" + std::to_string(40 + rng_.below(9)) + "/1";
      if (const auto over = truth_[port.setup.id.key()].repaired_s)
        port.at(*over, [right](PortSim& at) { at.setup.far_port = right; });
    }
  }
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const PortSim& port = *ports_[i];
    if (none || port.unused || port.virtual_function) continue;
    ExpectedPort expected;
    if (!rng_.chance(0.12)) expected.speed_mbps = port.setup.medium->speed_mbps;
    if (!rng_.chance(0.2)) expected.lanes = port.setup.medium->lanes;
    if (!no_peer) {
      expected.peer_system = planned[i].first;
      expected.peer_port = planned[i].second;
    }
    header_.expected[port.setup.id.key()] = expected;
  }
}

bool Simulation::next(Snapshot& out) {
  const double period = t_ >= dense_from_s_ ? dense_period_s_ : period_s_;
  const double target = first_ ? rng_.uniform(0.0, 0.3) : t_ + period;
  if (target > duration_s_) return false;
  const double jitter = first_ ? 0.0 : rng_.uniform(-0.1, 0.1);
  const double at = target + jitter;
  const bool optics = first_ || target >= optics_due_ - 0.5;
  const bool peer = first_ || target >= peer_due_ - 0.5;
  if (optics) optics_due_ = (first_ ? 0 : optics_due_) + std::max(optics_s_, period);
  if (peer) peer_due_ = (first_ ? 0 : peer_due_) + std::max(peer_s_, period);
  out = Snapshot{};
  out.taken_at = steady_from_seconds(at);
  out.wall_time = header_.at + from_seconds(at);
  double uptime = uptime_at_0_ + at;
  bool off = false;
  for (const double reboot : reboots_) {
    off = off || (at >= reboot && at < reboot + kRebootS);
    if (at >= reboot + kRebootS) uptime = at - reboot - 100;
  }
  for (const auto& port : ports_) port->advance(std::max(0.0, t_), at, load_at(at), room_at(at));
  t_ = first_ ? at : target + (at - target);
  first_ = false;
  if (off) {  // a booting node takes no snapshots
    for (const auto& port : ports_) port->events().clear();
    return next(out);
  }
  out.uptime_s = std::floor(uptime);
  OldGaps failed;
  for (const auto& port : ports_) {
    if (!port->now.device_gone)
      out.ports[port->setup.id.key()] = port->sample(at, optics, peer, peer, failed.gaps);
    for (PortEvent& event : port->events()) out.events.push_back(std::move(event));
    port->events().clear();
  }
  show_twins(out, failed);
  std::stable_sort(out.events.begin(), out.events.end(),
                   [](const PortEvent& a, const PortEvent& b) { return a.t < b.t; });
  sources_.convert(failed, out);
  return true;
}

}  // namespace linkhealth::sim
