// What good links go through: rooms that warm up, reboots, maintenance, one flap, bursts of traffic, meters that lie.
#include <algorithm>
#include <cmath>

#include "tests/sim/scenario.h"

namespace linkhealth::sim {
namespace {

Effect window(double start_s, double length_s, bool fine, std::function<void(PortSim&, double, double)> apply) {
  Effect out;
  out.start_s = start_s;
  out.end_s = start_s + length_s;
  out.fine = fine;
  out.apply = std::move(apply);
  return out;
}

}  // namespace

void Simulation::reboot_node(double t) {
  reboots_.push_back(t);
  for (const auto& port : ports_) {
    port->add(window(t, 120, true, [](PortSim& at, double, double) { at.now.rebooting = true; }));
    port->at(t + 60, [](PortSim& at) { at.reload_driver(); });
  }
}

void Simulation::everyday_of_port(PortSim& port, double rate) {
  Truth& truth = truth_[port.setup.id.key()];
  // What touches the link itself would repair or hide a fault of the same port.
  const bool good = truth.fault == "healthy" && truth.repaired.empty();
  const double touch = good ? rate : 0.0;
  const double end = duration_s_;
  if (rng_.chance(0.10 * touch)) {  // one flap that means nothing
    const double t = rng_.uniform(300, end - 300);
    port.add(window(t, 1.0, true, [](PortSim& at, double, double) { at.now.flap_per_s = 20; }));
  }
  if (rng_.chance(0.05 * touch)) {  // maintenance: set down and up again
    const double t = rng_.uniform(600, end - 400);
    const double length = std::min(end - t - 300, rng_.lognormal(900, 0.9));
    if (length > 20) {
      port.add(window(t, length, true, [](PortSim& at, double, double) { at.now.admin_up = false; }));
      port.at(t, [t](PortSim& at) { at.emit(t, PortEventKind::kAdminDown); });
      port.at(t + length, [t = t + length](PortSim& at) { at.emit(t, PortEventKind::kAdminUp); });
      truth.tolerate.emplace_back("admin_down");
    }
  }
  if (rng_.chance(0.03 * touch)) {  // the switch goes for an upgrade and comes back
    const double t = rng_.uniform(600, end - 700);
    const double length = std::min(end - t - 300, rng_.lognormal(220, 0.4));
    port.add(window(t, length, true,
                    [](PortSim& at, double, double) { at.now.far_admin_up = at.now.far_reachable = false; }));
    truth.tolerate.insert(truth.tolerate.end(),
                          {"far_port_down", "far_switch_fault", "unplugged", "damaged_fiber", "faulty_cable"});
  }
  if (rng_.chance(0.25 * rate)) {  // a storm of traffic for some minutes
    for (std::size_t i = 0; i < 1 + rng_.below(6); ++i) {
      const double marks = rng_.uniform(1000, 30000);
      port.add(window(rng_.uniform(0, end), rng_.uniform(40, 300), false, [marks](PortSim& at, double, double) {
        at.now.congestion = marks;
        at.now.wait_share = 0.4;
        at.now.host_drops_per_s = 0.1;
      }));
    }
  }
  if (rng_.chance(0.03 * touch)) {  // a module is swapped for a good one
    const double t = rng_.uniform(900, end - 900);
    port.add(
        window(t, rng_.uniform(30, 110), true, [](PortSim& at, double, double) { at.now.module_present = false; }));
    port.at(t, [t](PortSim& at) { at.emit(t, PortEventKind::kModuleRemoved); });
    port.at(t + 29, [t](PortSim& at) {
      at.swap_module(t);
      at.emit(t + 29, PortEventKind::kModuleInserted);
    });
    truth.tolerate.insert(truth.tolerate.end(), {"module_missing", "unplugged"});
  }
  if (rng_.chance(0.06 * touch)) {  // low light that is fine: within the budget, and stays
    const double db = rng_.uniform(0.8, 2.0);
    const std::size_t lane = rng_.below(port.link.lanes());
    const bool all = port.setup.medium->duplex || rng_.chance(0.3);
    double worst = 99;
    port.settle(0);
    for (std::size_t i = 0; i < port.link.lanes(); ++i) worst = std::min(worst, port.link.margin_db(Way::kIn, i, 50));
    if (port.setup.medium->bias_ma > 0 && worst - db > 1.8) {
      port.add(window(0, 1e18, false, [db, lane, all](PortSim& at, double, double) {
        for (std::size_t i = 0; i < at.link.lanes(); ++i) {
          if (all || i == lane) at.link.direction(Way::kIn).now[i].added_loss_db += db;
        }
      }));
    }
  }
  if (rng_.chance(0.08 * rate)) {  // the module is busy for a while
    port.add(window(rng_.uniform(0, end), rng_.uniform(60, 600), false, [](PortSim& at, double, double) {
      at.now.blind = {"module"};
      at.now.blind_reason = "EBUSY";
    }));
  }
  if (rng_.chance(0.03 * rate)) {  // somebody clears the counters
    port.at(rng_.uniform(300, end), [](PortSim& at) { at.reset_counters(); });
  }
  if (rng_.chance(0.02 * touch)) {  // the driver is loaded again
    const double t = rng_.uniform(600, end - 600);
    port.at(t, [t](PortSim& at) { at.emit(t, PortEventKind::kDeviceGone); });
    port.add(window(t, 12, true, [](PortSim& at, double, double) { at.now.rebooting = at.now.device_gone = true; }));
    port.at(t + 11, [](PortSim& at) { at.reload_driver(); });
    port.at(t + 12, [t](PortSim& at) { at.emit(t + 12, PortEventKind::kDeviceAdded); });
  }
}

void Simulation::draw_everyday(const CaseSpec& spec) {
  const double rate = spec.set == CaseSet::kHealthy ? 1.0 : spec.set == CaseSet::kHard ? 0.7 : 0.25;
  if (rng_.chance(0.15 * rate)) {  // a hot room
    room_hot_from_ = rng_.uniform(0, duration_s_);
    room_hot_for_ = rng_.uniform(3600, 14400);
    room_hot_c_ = rng_.uniform(4, 11);
  }
  if (rng_.chance(0.15 * rate)) {
    fan_step_at_ = rng_.uniform(0, duration_s_);
    fan_step_c_ = rng_.chance(0.6) ? -6 : rng_.uniform(2, 6);
  }
  if (rng_.chance(0.08 * rate)) reboot_node(rng_.uniform(900, duration_s_ - 900));
  if (uptime_at_0_ < 300) {  // the node has just come up: links find each other
    for (const auto& port : ports_) {
      if (!rng_.chance(0.5)) continue;
      const double begin = rng_.uniform(0.5, 60);
      port->add(window(begin, rng_.uniform(2, 40), true, [](PortSim& at, double, double) { at.now.flap_per_s = 0.1; }));
    }
  }
  const bool adaptive_routing = rng_.chance(0.10);  // packets overtake each other on every port, harmless
  const double busy_fabric = rng_.chance(0.15) ? rng_.uniform(50, 250) : 0;
  const double reorder = adaptive_routing ? rng_.uniform(0.2, 20) : 0;
  const double noise_s = rng_.chance(0.3) ? rng_.uniform(0, 3e-4) : 0;
  for (const auto& port : ports_) {
    port->add(window(0, 1e18, false, [=](PortSim& at, double, double) {
      at.now.reorder_per_s += reorder;
      at.now.congestion = std::max(at.now.congestion, busy_fabric);
      at.now.remote_loss_per_s += noise_s;
    }));
    if (port->unused || port->virtual_function) continue;
    everyday_of_port(*port, rate);
  }
}

}  // namespace linkhealth::sim
