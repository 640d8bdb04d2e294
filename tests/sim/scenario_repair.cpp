// How a fault of the simulated node ends: repair by a technician, and crossed cables.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/scenario.h"

namespace linkhealth::sim {

void Simulation::add_repair(const FaultPlan& plan, PortSim& port, Truth& truth) {
  const std::vector<std::string> by_hand = {"dirty_connector", "bad_module", "faulty_cable",
                                            "damaged_fiber", "failing_transmitter"};
  if (std::find(by_hand.begin(), by_hand.end(), plan.name) != by_hand.end())
    add_hands(plan, port, plan.name != "dirty_connector");
  if (plan.name == "nic_fault") reboot_node(plan.repair_s);  // with a replaced card
  tell_repair(plan, truth);
}

void Simulation::tell_repair(const FaultPlan& plan, Truth& truth) {
  truth.repaired = truth.fault;
  truth.repaired_s = plan.repair_s;
  truth.tolerate = {truth.fault, "unplugged", "module_missing"};
  for (const Answer& answer : truth.also_accept) truth.tolerate.push_back(answer.fault);
  truth.fault = "healthy";
  truth.end = End::kNone;
}

void Simulation::add_hands(const FaultPlan& plan, PortSim& port, bool swap) {
  const double begin = plan.repair_s - rng_.uniform(40, 200);
  Effect hands;  // the cable is unplugged during the work
  hands.start_s = begin;
  hands.end_s = plan.repair_s + 1;
  hands.apply = [swap](PortSim& at, double, double) {
    if (swap) at.now.module_present = false;
    at.link.open_all();
  };
  port.add(std::move(hands));
  if (swap) {
    port.emit_at(begin, PortEventKind::kModuleRemoved);
    port.at(plan.repair_s, [t = plan.repair_s](PortSim& at) {
      at.swap_module(t);
      at.emit(t, PortEventKind::kModuleInserted);
    });
  }
}

void Simulation::cross_cables(PortSim& port, const FaultPlan& plan) {
  for (const auto& other : ports_) {
    if (other.get() == &port || other->unused || other->virtual_function ||
        other->setup.far_level < 1)
      continue;
    std::swap(port.setup.leaf, other->setup.leaf);
    std::swap(port.setup.far_port, other->setup.far_port);
    Truth& truth = truth_[other->setup.id.key()];
    if (truth.fault != "healthy") return;
    truth.fault = "wrong_cabling";
    truth.end = End::kPath;
    truth.onset_s = 0;
    if (plan.repair_s > 0) uncross_cables(port, *other, plan);
    return;
  }
}

void Simulation::uncross_cables(PortSim& port, PortSim& other, const FaultPlan& plan) {
  port.at(plan.repair_s, [&other](PortSim& at) {
    std::swap(at.setup.leaf, other.setup.leaf);
    std::swap(at.setup.far_port, other.setup.far_port);
  });
  add_hands(plan, port, false);
  add_hands(plan, other, false);
  tell_repair(plan, truth_[other.setup.id.key()]);
}

}  // namespace linkhealth::sim
