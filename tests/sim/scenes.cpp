#include "tests/sim/scenes.h"

#include <algorithm>

namespace linkhealth::sim {
namespace {

Effect from(const FaultPlan& plan, double delay_s, std::function<void(PortSim&)> apply) {
  Effect out;
  out.start_s = plan.onset_s > 0 ? plan.onset_s + delay_s : kLongAgoS;
  out.apply = [apply = std::move(apply)](PortSim& at, double, double) { apply(at); };
  return out;
}

// ------------------------------------------------------------------------------- one module

void module_dies(Stage& s) {
  s.share(s.sharing(Parts::kModules), &plan_module_management, "bad_module", End::kLocal);
}

void module_is_pulled(Stage& s) {
  s.share(s.sharing(Parts::kModules), &plan_module_missing, "module_missing", End::kLocal);
}

void module_is_hot(Stage& s) {
  s.share(s.sharing(Parts::kModules), &plan_hot, "module_overheated", End::kLocal);
}

void half_of(Stage& s, PortSim& port) {
  const std::string_view faults[] = {"unplugged", "far_port_down", "damaged_fiber"};
  s.single(port, faults[s.rng.below(3)], s.plan.onset_s);
}

/// Each half has its own fibre: what happens to one does not concern the module.
void half_falls(Stage& s) { half_of(s, *s.ports[s.rng.below(s.ports.size())]); }

// -------------------------------------------------------------------------- unlike its siblings

std::string other_type(const PortSim& port) {
  return port.setup.medium->single_mode ? "400G-SR4.2" : "400G-DR4";
}

/// A module of another kind than all others, which the far end does not support.
void wrong_type(Stage& s) {
  PortSim& port = *s.ports[s.rng.below(s.ports.size())];
  s.single(port, "module_unsupported", 0);
  s.truth_of(port).note = "unlike its siblings";
  port.type = other_type(port);
}

/// A different module, intended and working.
void other_type_falls(Stage& s) {
  PortSim& port = *s.ports[s.rng.below(s.ports.size())];
  port.type = other_type(port);
  half_of(s, port);
}

void wrong_fec(Planner& p) {
  p.port.add(from(p.plan, 0, [](PortSim& at) { at.now.settings_match = false; }));
  p.port.at(p.plan.onset_s, [](PortSim& at) { at.fec = "LLRS"; });
}

void fec_is_changed(Stage& s) {
  PortSim& port = *s.ports[s.rng.below(s.ports.size())];
  if (port.setup.medium->fec != Fec::kRs544) return half_of(s, port);
  s.share({&port}, &wrong_fec, "settings_mismatch", End::kPath);
  s.truth_of(port).note = "FEC";
}

void other_fec_falls(Stage& s) {
  PortSim& port = *s.ports[s.rng.below(s.ports.size())];
  if (port.setup.medium->fec == Fec::kRs544) port.fec = "LLRS";
  half_of(s, port);
}

// --------------------------------------------------------------------------------- one card

void card_dies(Stage& s) { s.share(s.sharing(Parts::kCards), &plan_nic, "nic_fault", End::kNode); }

/// Within one minute, but for two reasons.
void two_by_chance(Stage& s) {
  std::vector<PortSim*> both = s.sharing(Parts::kCards);
  if (both.size() < 2) both = s.ports;
  const std::string_view here[] = {"unplugged", "module_missing", "module_unsupported"};
  s.single(*both[0], here[s.rng.below(3)], s.plan.onset_s);
  // If they are less than a second or two apart, they cannot be distinguished.
  s.single(*both[1], "far_port_down", s.plan.onset_s + s.rng.uniform(6, 55));
}

// ------------------------------------------------------------------------- a trunk, the node

void trunk_cut(Planner& p) {
  const double delay_s = p.port.rng.uniform(0, 0.3);
  p.port.add(from(p.plan, delay_s, [](PortSim& at) { at.link.open_all(); }));
  p.truth.link_down = true;
  p.truth.note = "trunk";
  p.accept("unplugged");  // the trunk's connector, at a patch panel
  if (p.far_seen_when_down()) return;
  p.accept("far_port_down");
  p.accept("far_switch_fault");
  if (!p.port.powers_readable()) p.accept("nic_fault");
}

void trunk_is_cut(Stage& s) { s.share(s.ports, &trunk_cut, "damaged_fiber", End::kPath); }

void node_stops(Planner& p) {
  const double delay_s = p.port.rng.uniform(0, 0.6);
  p.port.add(from(p.plan, delay_s, [](PortSim& at) { at.now.nic_ok = false; }));
  p.truth.link_down = true;
  p.truth.note = "all rails";
}

/// All cards lose their links within one second, without a reason.
void node_falls(Stage& s) {
  s.share(s.ports, &node_stops, "nic_fault", End::kNode);
  const bool one_leaf = std::ranges::all_of(
      s.ports, [&](const PortSim* port) { return port->setup.leaf == s.ports[0]->setup.leaf; });
  if (!one_leaf && s.ports[0]->setup.far_level > 0) return;
  for (PortSim* port : s.ports)  // that switch, or an unknown one, is equally likely
    for (const char* name : {"far_switch_fault", "far_port_down"})
      s.truth_of(*port).also_accept.push_back({name, End::kNone});
}

constexpr Scene kScenes[] = {
    {"module dies", 2, Parts::kModules, 2, true, &module_dies},
    {"module of four dies", 1, Parts::kModulesOfFour, 4, true, &module_dies},
    {"module pulled", 2, Parts::kModules, 4, true, &module_is_pulled},
    {"module hot", 1, Parts::kModules, 4, true, &module_is_hot},
    {"half of a module", 2, Parts::kModules, 2, true, &half_falls},
    {"card dies", 2, Parts::kCards, 4, false, &card_dies},
    {"two by chance", 3, Parts::kCards, 2, true, &two_by_chance},
    {"trunk cut", 2, Parts::kOwn, 2, true, &trunk_is_cut},
    {"node falls", 2, Parts::kOwn, 3, false, &node_falls},
    {"wrong type", 1, Parts::kCards, 4, true, &wrong_type},
    {"another type falls", 1, Parts::kCards, 4, true, &other_type_falls},
    {"wrong FEC", 1, Parts::kCards, 4, true, &fec_is_changed},
    {"another FEC falls", 1, Parts::kCards, 4, true, &other_fec_falls},
};

}  // namespace

std::span<const Scene> scenes() { return kScenes; }

std::vector<PortSim*> cage_of(PortSim& port) {
  return port.cage.empty() ? std::vector<PortSim*>{&port} : port.cage;
}

void share_meters(PortSim& port) {
  const Ddm& ddm = cage_of(port).front()->ddm;
  for (PortSim* other : cage_of(port)) {
    other->ddm.temperature_offset_c = ddm.temperature_offset_c;
    other->ddm.whole_degrees = ddm.whole_degrees;
    other->ddm.power_hidden = ddm.power_hidden;
    other->ddm.flags = ddm.flags;
    other->ddm.vdm = ddm.vdm;
    other->ddm.limits = ddm.limits;
    other->ddm.supply_v = ddm.supply_v;
  }
}

namespace {

/// Ports `first` and the next ones are functions of one card.
void share_card(const std::vector<PortSim*>& ports) {
  for (std::size_t i = 1; i < ports.size(); ++i) {
    PortId& id = ports[i]->setup.id;
    const PortId& first = ports[0]->setup.id;
    id.pci = first.pci.substr(0, first.pci.size() - 1) + std::to_string(i);
    ports[i]->pcie = ports[0]->pcie;
  }
  if (ports[0]->setup.id.driver != "mlx5_core") return;
  for (PortSim* port : ports) port->setup.id.sys_image_guid = ports[0]->setup.id.guid;
}

void share_module(const std::vector<PortSim*>& ports) {
  for (PortSim* port : ports) {
    port->cage = ports;
    port->setup.medium = ports[0]->setup.medium;
    port->heat_offset_c = ports[0]->heat_offset_c;
  }
  share_meters(*ports[0]);
}

}  // namespace

void share_parts(const std::vector<std::unique_ptr<PortSim>>& ports, Parts parts, Rng& rng) {
  if (parts == Parts::kOwn) return;
  const std::size_t size = parts == Parts::kModulesOfFour ? 4 : 2;
  // Half of the split modules belong to one card, the others to one card per port.
  const bool one_card = parts == Parts::kCards || rng.chance(0.5);
  for (std::size_t i = 0; i + size <= ports.size(); i += size) {
    std::vector<PortSim*> group;
    for (std::size_t k = i; k < i + size; ++k)
      if (!ports[k]->unused && !ports[k]->virtual_function) group.push_back(ports[k].get());
    if (group.size() < size) return;
    if (one_card) share_card(group);
    if (parts != Parts::kCards) share_module(group);
  }
}

std::vector<PortSim*> Stage::sharing(Parts parts) const {
  PortSim* const port = ports[rng.below(ports.size())];
  std::vector<PortSim*> out;
  for (PortSim* other : ports) {
    const std::string &pci = port->setup.id.pci, &its = other->setup.id.pci;
    const bool card = pci.substr(0, pci.size() - 1) == its.substr(0, its.size() - 1);
    const bool module = port == other || (!port->cage.empty() && port->cage == other->cage);
    if (parts == Parts::kCards ? card : module) out.push_back(other);
  }
  return out;
}

void Stage::share(const std::vector<PortSim*>& members, void (*plan_one)(Planner&),
                  std::string_view fault, End end) const {
  const Rng same = rng;
  const std::vector<PortSim*> no_mates;
  for (PortSim* port : members) {
    Rng own = same;
    Truth& truth = truth_of(*port);
    truth.fault = std::string(fault);
    truth.end = end;
    truth.onset_s = plan.onset_s;
    truth.severity = "shared";
    if (members.size() > 1) truth.shared = fault;
    truth.link_down = fault != "module_overheated";
    Planner planner{plan, *port, no_mates, own, truth};
    plan_one(planner);
    rng = own;
  }
}

void Stage::single(PortSim& port, std::string_view fault, double onset_s) const {
  FaultPlan own = plan;
  own.name = *std::ranges::find(fault_names(), fault);
  own.onset_s = onset_s;
  plan_fault(own, port, {}, rng, truth_of(port));
  truth_of(port).severity = "by itself";
  if (fault == "damaged_fiber") truth_of(port).note = "of one half";
}

}  // namespace linkhealth::sim
