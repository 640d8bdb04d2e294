#include "tests/sim/faults.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/sim/fault_planner.h"

namespace linkhealth::sim {
namespace {

struct Row {
  std::string_view name;
  End end;
  bool link_down;
  void (*plan)(Planner&);  ///< may change the end
};

constexpr Row kRows[] = {
    {"dirty_connector", End::kPath, false, &plan_dirty},
    {"damaged_fiber", End::kPath, false, &plan_fibre},
    {"failing_transmitter", End::kNone, false, &plan_transmitter},
    {"bad_module", End::kLocal, false, &plan_bad_module},
    {"module_overheated", End::kLocal, false, &plan_hot},
    {"module_missing", End::kLocal, true, &plan_module_missing},
    {"module_unsupported", End::kLocal, true, &plan_module_unsupported},
    {"faulty_cable", End::kPath, false, &plan_cable},
    {"reduced_speed", End::kPath, false, &plan_reduced_speed},
    {"settings_mismatch", End::kPath, true, &plan_settings_mismatch},
    {"admin_down", End::kLocal, true, &plan_admin_down},
    {"unplugged", End::kPath, true, &plan_unplugged},
    {"far_port_down", End::kFar, true, &plan_far_port_down},
    {"far_switch_fault", End::kFar, false, &plan_far_switch_fault},
    {"pcie_degraded", End::kNode, false, &plan_pcie},
    {"nic_fault", End::kNode, true, &plan_nic},
    {"host_bottleneck", End::kNode, false, &plan_host_bottleneck},
    {"congestion", End::kFabric, false, &plan_congestion},
    {"loss_elsewhere", End::kFabric, false, &plan_loss_elsewhere},
    {"wrong_cabling", End::kPath, false,
     [](Planner&) {}},  // the node crosses its plan (scenario.cpp)
    {"monitor_blind", End::kNode, false, &plan_monitor_blind},
    {"bad_training", End::kLocal, false, &plan_bad_training},
};

constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kRows)> out{};
  std::ranges::transform(kRows, out.begin(), &Row::name);
  return out;
}();

}  // namespace

Effect Planner::effect(double ramp_s, std::function<void(PortSim&, double, double)> apply,
                       bool fine) const {
  Effect out;
  out.start_s = plan.onset_s > 0 ? plan.onset_s : kLongAgoS;
  out.ramp_s = plan.onset_s > 0 ? ramp_s : 0;
  out.end_s = plan.repair_s > 0 ? plan.repair_s : std::numeric_limits<double>::infinity();
  out.fine = fine;
  out.apply = std::move(apply);
  return out;
}

void Planner::always(std::function<void(PortSim&)> apply, bool fine) {
  port.add(effect(
      0, [apply = std::move(apply)](PortSim& at, double, double) { apply(at); }, fine));
}

void Planner::at_onset(std::function<void(PortSim&, double)> run) {
  if (plan.onset_s <= 0) return;
  port.at(plan.onset_s, [run = std::move(run), t = plan.onset_s](PortSim& at) { run(at, t); });
}

void Planner::log(double delay_s, const std::string& text) {
  if (plan.onset_s <= 0) return;
  const double t = plan.onset_s + delay_s;
  port.at(t, [t, text](PortSim& at) { at.kernel_log(t, text); });
}

std::string Planner::mlx5(const std::string& text) const {
  return "mlx5_core " + port.setup.id.pci + ": " + text;
}

double Planner::by_strength(double weak_low, double weak_high, double mid_high,
                            double strong_high) {
  if (plan.strength == Strength::kWeak) return rng.uniform(weak_low, weak_high);
  if (plan.strength == Strength::kMid) return rng.uniform(weak_high, mid_high);
  return rng.uniform(mid_high, strong_high);
}

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
  return std::min(std::max(std::pow(10.0, exponent), before * 12),
                  p.medium().fec == Fec::kRs528 ? 5e-4 : 8e-4);
}

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

double scale_for(Planner& p, Way way, double target,
                 const std::function<void(PortSim&, double)>& set) {
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

std::span<const std::string_view> fault_names() { return kNames; }

bool fault_fits(std::string_view name, const PortSim& port, std::size_t ports_on_leaf) {
  const Build build = port.setup.medium->build;
  if (name == "dirty_connector" || name == "damaged_fiber" || name == "failing_transmitter" ||
      name == "bad_module")
    return build == Build::kOptical;
  // Without FEC or light readings it is indistinguishable from similar faults.
  if (name == "bad_training")
    return build == Build::kOptical && port.setup.medium->fec != Fec::kNone &&
           port.powers_readable();
  if (name == "faulty_cable") return build != Build::kOptical;
  if (name == "module_overheated") return build == Build::kOptical || build == Build::kAoc;
  if (name == "far_switch_fault") return ports_on_leaf >= 2;
  return name != "wrong_cabling" || port.setup.far_level >= 1;
}

void plan_fault(const FaultPlan& plan, PortSim& port, const std::vector<PortSim*>& mates, Rng& rng,
                Truth& truth) {
  truth.fault = std::string(plan.name);
  truth.onset_s = plan.onset_s;
  truth.severity = plan.strength == Strength::kWeak  ? "weak"
                   : plan.strength == Strength::kMid ? "mid"
                                                     : "strong";
  Planner planner{plan, port, mates, rng, truth};
  const Row& row = *std::ranges::find(kRows, plan.name, &Row::name);
  truth.end = row.end;
  truth.link_down = row.link_down;
  row.plan(planner);
}

}  // namespace linkhealth::sim
