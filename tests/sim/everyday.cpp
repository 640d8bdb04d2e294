// Everyday events on good links: rooms that warm up, reboots, maintenance, a single flap, bursts of
// traffic, inaccurate meters.
#include <algorithm>
#include <cmath>

#include "tests/sim/scenario.h"

namespace linkhealth::sim {
namespace {

Effect window(double start_s, double length_s, bool fine,
              std::function<void(PortSim&, double, double)> apply) {
  Effect out;
  out.start_s = start_s;
  out.end_s = start_s + length_s;
  out.fine = fine;
  out.apply = std::move(apply);
  return out;
}

/// One port on which an everyday event happens.
struct Everyday {
  PortSim& port;
  Rng& rng;
  Truth& truth;
  double end_s;
  std::function<Truth&(const PortSim&)> truth_of;
};

void one_flap(Everyday& e) {
  e.port.add(window(e.rng.uniform(300, e.end_s - 300), 1.0, true,
                    [](PortSim& at, double, double) { at.now.flap_per_s = 20; }));
}

void maintenance(Everyday& e) {
  const double t = e.rng.uniform(600, e.end_s - 400);
  const double length = std::min(e.end_s - t - 300, e.rng.lognormal(900, 0.9));
  if (length < 20) return;
  e.port.add(window(t, length, true, [](PortSim& at, double, double) { at.now.admin_up = false; }));
  e.port.emit_at(t, PortEventKind::kAdminDown);
  e.port.emit_at(t + length, PortEventKind::kAdminUp);
  e.truth.tolerate.emplace_back("admin_down");
}

void switch_upgrade(Everyday& e) {
  const double t = e.rng.uniform(600, e.end_s - 700);
  const double length = std::min(e.end_s - t - 300, e.rng.lognormal(220, 0.4));
  e.port.add(window(t, length, true, [](PortSim& at, double, double) {
    at.now.far_admin_up = at.now.far_reachable = false;
  }));
  for (const char* name :
       {"far_port_down", "far_switch_fault", "unplugged", "damaged_fiber", "faulty_cable"}) {
    e.truth.tolerate.emplace_back(name);
  }
}

void storms_of_traffic(Everyday& e) {
  const std::size_t count = 1 + e.rng.below(6);
  for (std::size_t i = 0; i < count; ++i) {
    const double marks = e.rng.uniform(1000, 30000);
    e.port.add(window(e.rng.uniform(0, e.end_s), e.rng.uniform(40, 300), false,
                      [marks](PortSim& at, double, double) {
                        at.now.congestion = marks;
                        at.now.wait_share = 0.4;
                        at.now.host_drops_per_s = 0.1;
                      }));
  }
}

/// A technician removes the module, with all links that it serves.
void take_out(Everyday& e, double t, double length_s, bool swapped) {
  for (PortSim* port : cage_of(e.port)) {
    port->add(window(t, length_s, true,
                     [](PortSim& at, double, double) { at.now.module_present = false; }));
    port->emit_at(t, PortEventKind::kModuleRemoved);
    port->at(t + 29, [t, swapped](PortSim& at) {
      if (swapped) at.swap_module(t);
      share_meters(at);
      at.emit(t + 29, PortEventKind::kModuleInserted);
    });
    for (const char* name : {"module_missing", "unplugged"})
      e.truth_of(*port).tolerate.emplace_back(name);
  }
}

/// The same module comes back: the benign twin of one that drops out.
void module_reseat(Everyday& e) { take_out(e, e.rng.uniform(900, e.end_s - 900), 29, false); }

void module_swap(Everyday& e) {
  const double t = e.rng.uniform(900, e.end_s - 900);
  take_out(e, t, e.rng.uniform(30, 110), true);
}

/// Low, but within the budget and constant.
void low_light(Everyday& e) {
  const double db = e.rng.uniform(0.8, 2.0);
  const std::size_t lane = e.rng.below(e.port.link.lanes());
  const bool all = e.port.setup.medium->duplex || e.rng.chance(0.3);
  double worst = 99;
  e.port.settle(0);
  for (std::size_t i = 0; i < e.port.link.lanes(); ++i)
    worst = std::min(worst, e.port.link.margin_db(Way::kIn, i, 50));
  if (e.port.setup.medium->bias_ma <= 0 || worst - db < 1.8) return;
  e.port.add(window(-1e9, 2e18, false, [db, lane, all](PortSim& at, double, double) {
    for (std::size_t i = 0; i < at.link.lanes(); ++i)
      if (all || i == lane) at.link.direction(Way::kIn).now[i].added_loss_db += db;
  }));
}

void module_busy(Everyday& e) {
  e.port.add(window(e.rng.uniform(0, e.end_s), e.rng.uniform(60, 600), false,
                    [](PortSim& at, double, double) {
                      at.now.blind = {"module"};
                      at.now.blind_reason = "EBUSY";
                    }));
}

void counters_cleared(Everyday& e) {
  e.port.at(e.rng.uniform(300, e.end_s), [](PortSim& at) { at.reset_counters(); });
}

void driver_reload(Everyday& e) {
  const double t = e.rng.uniform(600, e.end_s - 600);
  e.port.emit_at(t, PortEventKind::kDeviceGone);
  e.port.add(window(t, 12, true, [](PortSim& at, double, double) {
    at.now.rebooting = at.now.device_gone = true;
  }));
  e.port.at(t + 11, [](PortSim& at) { at.reload_driver(); });
  e.port.at(t + 12, [t](PortSim& at) { at.emit(t + 12, PortEventKind::kDeviceAdded); });
}

/// One firmware command took too long; the counters continue.
void one_slow_command(Everyday& e) {
  if (e.port.setup.driver->name != "bnxt_en") return;
  const double t = e.rng.uniform(300, e.end_s - 300);
  e.port.at(t, [t](PortSim& at) {
    at.kernel_log(t, "bnxt_en " + at.setup.id.pci + " " + at.setup.id.netdev +
                         ": Error (timeout: 500015) msg {0x16 0x2c1} len:0");
  });
}

/// Another reader of the module leaves the wrong page selected.
void mixed_pages(Everyday& e) {
  e.port.add(window(e.rng.uniform(0, e.end_s), e.rng.uniform(60, 3600), false,
                    [](PortSim& at, double, double) { at.now.bad_pages = true; }));
}

/// The job uses other rails: this one is idle, and its PCIe link saves power.
void sleeping_pcie(Everyday& e) {
  const double factor = 2.5 / e.port.pcie.max_speed_gtps.value_or(16);
  const bool above = e.rng.chance(0.3);  // the bridge saves power, the card does not
  e.port.add(window(e.rng.uniform(0, e.end_s), e.rng.uniform(900, 7200), false,
                    [factor, above](PortSim& at, double, double) {
                      at.now.load_factor = 2e-4;
                      (above ? at.now.above_gtps : at.now.pcie_speed_factor) = above ? 2.5 : factor;
                    }));
}

struct EverydayRow {
  double chance;  ///< per port and day
  bool touches;   ///< the link itself: it would repair or hide a fault of the same port
  void (*happen)(Everyday&);
};

constexpr EverydayRow kEveryday[] = {
    {0.10, true, &one_flap},       {0.05, true, &maintenance},
    {0.03, true, &switch_upgrade}, {0.25, false, &storms_of_traffic},
    {0.03, true, &module_swap},    {0.06, true, &low_light},
    {0.08, false, &module_busy},   {0.03, false, &counters_cleared},
    {0.02, true, &driver_reload},  {0.03, true, &module_reseat},
    {0.05, true, &sleeping_pcie},  {0.20, true, &one_slow_command},
    {0.04, true, &mixed_pages},
};

}  // namespace

void Simulation::reboot_node(double t) {
  reboots_.push_back(t);
  for (const auto& port : ports_) {
    port->add(window(t, 120, true, [](PortSim& at, double, double) { at.now.rebooting = true; }));
    port->at(t + 60, [](PortSim& at) { at.reload_driver(); });
  }
}

/// From now on the switches negotiate another FEC mode, equally on all ports.
void Simulation::change_fec(double t) {
  for (const auto& port : ports_)  // cables that need correction keep it
    if (port->setup.medium->build == Build::kDac) return;
  for (const auto& port : ports_) {
    if (port->setup.medium->fec != Fec::kRs544 || port->unused || port->virtual_function) continue;
    Truth& truth = truth_[port->setup.id.key()];
    if (truth.fault != "healthy") return;
    // As far as the node can see, its switches disappeared and came back.
    for (const char* name : {"far_port_down", "far_switch_fault", "nic_fault", "settings_mismatch"})
      truth.tolerate.emplace_back(name);
    port->add(window(t, 8, true, [](PortSim& at, double, double) { at.now.far_admin_up = false; }));
    port->at(t + 8, [](PortSim& at) { at.fec = "LLRS"; });
  }
}

void Simulation::everyday_of_port(PortSim& port, double rate) {
  Truth& truth = truth_[port.setup.id.key()];
  const auto truth_of = [this](const PortSim& at) -> Truth& { return truth_[at.setup.id.key()]; };
  const std::vector<PortSim*> cage = cage_of(port);
  const bool good = std::ranges::all_of(cage, [&](const PortSim* at) {
    return truth_of(*at).fault == "healthy" && truth_of(*at).repaired.empty();
  });
  Everyday everyday{port, rng_, truth, duration_s_, truth_of};
  for (const EverydayRow& row : kEveryday)
    if (rng_.chance(row.chance * rate) && (good || !row.touches)) row.happen(everyday);
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
  if (rng_.chance(0.08 * rate)) {  // the power feeds are switched over
    const double t = rng_.uniform(600, duration_s_);
    const double length = rng_.uniform(60, 600), drop_v = rng_.uniform(0.15, 0.3);
    for (const auto& port : ports_)
      port->add(window(t, length, false,
                       [drop_v](PortSim& at, double, double) { at.now.supply_drop_v = drop_v; }));
  }
  if (scene_rng_.chance(0.06 * rate)) change_fec(scene_rng_.uniform(900, duration_s_ - 900));
  if (rng_.chance(0.08 * rate)) reboot_node(rng_.uniform(900, duration_s_ - 900));
  if (uptime_at_0_ < 300) {  // the node has just booted: links are training
    for (const auto& port : ports_) {
      if (!rng_.chance(0.5)) continue;
      const double begin = rng_.uniform(0.5, 60);
      port->add(window(begin, rng_.uniform(2, 40), true,
                       [](PortSim& at, double, double) { at.now.flap_per_s = 0.1; }));
    }
  }
  const bool adaptive_routing =
      rng_.chance(0.10);  // packets overtake each other on every port, harmless
  const double busy_fabric = rng_.chance(0.15) ? rng_.uniform(10, 80) : 0;
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
