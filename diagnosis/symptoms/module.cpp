// Symptoms of the module as a whole, and of what the far end reports about itself.
#include <algorithm>

#include "diagnosis/peer_names.h"
#include "diagnosis/symptoms/families.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;
using enum LinkState;
using enum EvidenceSource;

Finding module_absent(const Features& f) {
  if (!f.port.latest.module) return unknown("the module was never read");
  return Checks(kModule).holds("no module in the cage", !f.port.latest.module->present);
}

Finding module_state(const Features& f) {
  constexpr double kStartS = 60;
  const auto& module = f.port.latest.module;
  if (!module || module->state.empty()) return unknown("the module reports no state");
  const bool obeys = held_by_host(f).value_or(0) != 0;  // the host requested this state
  const bool bad = module->state == "ModuleFault" || !module->fault_cause.empty() ||
                   (f.down && f.down_s > kStartS && module->state != "ModuleReady" && !obeys);
  return Checks(kModule).holds("the module reports a fault state", bad);
}

// module_hot: above the module's own limit, or far above its baseline while other modules stayed as
// they were.
constexpr double kRiseC = 11;        // above its own baseline, minus the siblings' rise
constexpr double kRiseFloorC = 55;   // a rise counts only above this temperature
constexpr double kRoomSiblings = 2;  // if this many siblings rose too, it is the room
constexpr double kRoomC =
    5;  // in a hot room a fault only this far above the warning, or at the alarm
// No module is up at such a temperature; its laser is off long before: a wrong reading.
constexpr double kImpossibleC = 110;

struct HeatLimits {
  double warn_c, alarm_c;
};
HeatLimits heat_limits(const Features& f, const Limits& own) {
  // A module without limits returns all-zero limits.
  const bool usable =
      own.high_warn && *own.high_warn > own.low_warn.value_or(0) && *own.high_warn > 30;
  const double warn_c = usable ? *own.high_warn : f.settings.module_warn_c;
  const bool has_alarm = usable && own.high_alarm && *own.high_alarm > warn_c;
  return {warn_c, has_alarm ? *own.high_alarm : warn_c + kRoomC};
}

Finding module_hot(const Features& f) {
  const auto& module = f.port.latest.module;
  if (!module || !module->temperature_c || !module->present)
    return unknown("the module reports no temperature");
  // The median suppresses a glitch; the last reading shows that it has cooled down.
  const LaneSeries& track = f.port.own.temperature_c;
  auto now = track.now();
  if (now) now = std::min(*now, track.recent[0]);
  // A module that switched itself off cools down, but is not repaired until the link is back.
  if (now && f.down) now = std::max(*now, f.port.before_loss.temperature_c.value_or(*now));
  if (f.up && now && *now > kImpossibleC) return unknown("the temperature reading is implausible");
  const HeatLimits limits = heat_limits(f, module->thresholds.temperature_c);
  const double enough = std::min(kRoomSiblings, std::max(1.0, f.group.siblings));
  const auto drop = track.below_baseline();
  const double rise_c = -std::max(drop.value_or(0), track.latest_below_baseline().value_or(0));
  const auto hotter = f.group.siblings_hotter;
  if (hotter >= enough && rise_c < 2 * kRiseC)
    return Checks(kModule).at_least("module temperature", now, limits.alarm_c, "C");
  // Without another module, the room cannot be distinguished from the module.
  if ((now && *now >= limits.warn_c) || !drop || f.group.siblings == 0)
    return Checks(kModule).at_least("module temperature", now, limits.warn_c, "C");
  return Checks(kModule)
      .at_least("module temperature above its baseline and the room's rise",
                rise_c - f.group.siblings_rise_c, kRiseC, "C")
      .at_least("module temperature", now, kRiseFloorC, "C")
      .below("modules of this node that warmed too", hotter, enough);
}

// module_new: the link has not come up since its module was changed. A driver that gives no reason
// may be rejecting it silently.
Finding module_new(const Features& f) {
  constexpr double kSettleS = 60;  // how long a new module may take to come up
  const auto& changed = std::max(f.port.carrier.module_event_at, f.port.own.serial_changed_at);
  if (!changed) {
    const bool seen =
        f.port.carrier.was_up && !f.port.carrier.reboot_at && !f.port.device.driver_reload_at;
    if (!seen) return unknown("the link was never seen up");
    return Checks(kEvents).holds("down since the module was changed", false);
  }
  const bool there = !f.port.latest.module || f.port.latest.module->present;
  const bool since = !f.port.carrier.since || *f.port.carrier.since <= *changed;
  return Checks(kEvents)
      .holds("down since the module was changed", there && since)
      .at_least("seconds since the module was changed", in_seconds(f.now - *changed), kSettleS,
                "s");
}

// module_differs: the present module is of another kind than in the plan, than the previous one, or
// than those of similar ports. The two ends of a link need the same kind.
Finding module_differs(const Features& f) {
  const auto& module = f.port.latest.module;
  if (!module || !module->present || module->type.empty())
    return unknown("the module's type is unknown");
  const auto& changed = f.port.own.serial_changed_at;
  const bool since = changed && (!f.port.carrier.since || *f.port.carrier.since <= *changed);
  // A link that came up with its module has the kind that it needs.
  if (f.port.carrier.was_up && !since) return Checks(kModule).holds("module type changed", false);
  const double planned = f.expected != nullptr ? f.expected->speed_mbps.value_or(0) : 0;
  const double made_for = module_speed_mbps(module->type);
  if (planned > 0 && made_for > 0 && made_for < planned)
    return Checks(kPlan).below("module speed, relative to the plan", made_for, planned, "Mb/s");
  if (since && !f.port.own.type_before.empty())
    return Checks(kModule).holds("module type changed", module->type != f.port.own.type_before);
  if (f.group.siblings_type.empty()) return unknown("no comparison for the module's type");
  return Checks(kNodePorts)
      .holds("module type differs from comparable ports", module->type != f.group.siblings_type);
}

/// Then its host may well hold the module in low power, and sends nothing.
bool is_off(const Features& f) { return is_set_down(f.link(), f.port.latest.id.link_layer); }

// module_held: the host's control settings of the module keep the link down.
Finding module_held(const Features& f) {
  constexpr double kSettleS = 30;  // drivers switch a module on within seconds
  const auto& module = f.port.latest.module;
  if (!module || !module->present) return unknown("the module was never read");
  if (is_off(f)) return unknown("the port is administratively down");
  if (!f.light.rx_fresh) return unknown("the module was not read since the link changed");
  const auto held = held_by_host(f);
  if (!held) return unknown("the module does not report its host control settings");
  Checks checks(kModule);
  if (*held == 0) return checks.holds("this host keeps its module disabled", false);
  for (const HoldText& row : hold_texts())
    if ((*held & row.hold) != 0) checks.holds(row.what, true);
  return checks.at_least("seconds since the last operator action on the port", f.settled_down_s(),
                         kSettleS, "s");
}

// host_silent: no signal from this host reaches its module (Tx LOS), or the module cannot lock on
// it (Tx LOL).
Finding host_silent(const Features& f) {
  constexpr double kReads = 2;  // the flags of a single one may be latched from the carrier loss
  const auto& module = f.port.latest.module;
  if (!module || !module->present) return unknown("the module was never read");
  if (is_off(f)) return unknown("the port is administratively down");
  if (!f.light.rx_fresh) return unknown("the module was not read since the link changed");
  if (held_by_host(f).value_or(0) != 0) return unknown("this host keeps its module disabled");
  const HostSignal signal = host_signal(*module);
  if (!signal.known) return unknown("the module has no host-side flags");
  // A port that searches for its partner trains again and again, and the module loses its lock.
  if (!signal.lost && f.light.rx_dark_all) return unknown("no light is received either");
  const bool silent = signal.lost || signal.unlocked;
  const auto reads = static_cast<double>(f.port.own.unheard_reads);
  if (silent && reads < kReads)
    return unknown_yet("it was read only once since the link went down");
  return Checks(kModule).holds(signal.lost ? "no signal from this host reaches the module"
                                           : "the module cannot lock to this host's signal",
                               silent);
}

// module_drops_out: the same module disappeared and came back repeatedly within an hour.
Finding module_drops_out(const Features& f) {
  constexpr double kWindowS = 7200, kTimes = 2;  // the first time may have been a technician
  const DropOuts& drop_outs = f.port.own.drop_outs;
  if (!f.port.had_module) return unknown("the module was never read");
  return Checks(kEvents).at_least("module disappeared and returned on its own, times in 2 h",
                                  static_cast<double>(drop_outs.count(f.now, kWindowS)), kTimes);
}

constexpr std::string_view kNoSupply = "the module reports no supply voltage";
Finding supply_shared(const Features& f) {
  if (!f.supply_low) return unknown(kNoSupply);
  Checks found(kNodePorts);
  found.holds("the module's supply voltage is low", f.supply_low)
      .at_least("other affected modules of this node", f.group.siblings_supply_low, 1);
  if (const double least_s = f.supply_least_s(); least_s > 0)
    found.at_least("low since", f.supply_low_s, least_s, "s");
  return found;
}

Finding far_admin_down(const Features& f) {
  const auto& peer = f.port.latest.peer;
  if (!peer || !peer->link || !f.peer_fresh(&PeerSample::link_age_s))
    return unknown("the state of the far port is unknown");
  std::optional<bool> off;
  if (peer->link->admin_up) off = !*peer->link->admin_up;
  if (peer->link->phys_state == "Disabled") off = true;
  return Checks(kFarLink).holds("the far port is administratively down", off);
}

Finding far_module_absent(const Features& f) {
  const auto& peer = f.port.latest.peer;
  if (!peer || !peer->module || !f.peer_fresh(&PeerSample::module_age_s))
    return unknown("the far end provides no module data");
  return Checks(kFarModule).holds("no module at the far end", !peer->module->present);
}

Finding neighbour_differs(const Features& f) {
  if (f.expected == nullptr || f.expected->peer_system.empty())
    return unknown("the plan has no far end for this port");
  const auto& peer = f.port.latest.peer;
  if (!peer || peer->system.empty() || peer->source == "plan")
    return unknown("the far end reports no name");
  const NameMatch system = compare_systems(peer->system, f.expected->peer_system);
  if (system == NameMatch::kUnknown) return unknown("the far end reports only an address");
  const bool differs =
      system == NameMatch::kDiffers ||
      compare_ports(peer->port, peer->description, f.expected->peer_port) == NameMatch::kDiffers;
  return Checks(kPlan).holds("the far end is not the planned one", differs);
}

constexpr std::string_view kReadModule = "read the module (ethtool -m)";

constexpr Symptom kRows[] = {
    {kModuleAbsent, "module_absent", "no module present", kAny, &module_absent,
     kModule | kDownReason, "SFF-8024 presence; linux: ethtool module EEPROM errors", kReadModule},
    {kModuleState, "module_state", "the module reports a fault state", kAny, &module_state, kModule,
     "CMIS 5 module state and fault cause", kReadModule},
    {kModuleHot, "module_hot", "the module is too hot", kAny, &module_hot, kModule,
     "the module's own limits; UFM PDR plugin", kReadModule},
    {kModuleNew, "module_new", "down since the module was changed", kDown, &module_new, kModule,
     "module events and serial numbers against the carrier; judgement", ""},
    {kModuleDiffers, "module_differs", "the module is not of the expected kind", kDown,
     &module_differs, kModule, "SFF-8024 (media types); the plan, the module before, the siblings",
     kReadModule},
    {kSupplyShared, "supply_shared", "several modules lost supply voltage together", kAny,
     &supply_shared, kModule, "the modules of one node; judgement (one other module)", ""},
    {kModuleHeld, "module_held", "this host keeps its module disabled", kDown, &module_held,
     kModule, "CMIS 5.4 8.2.11, 8.8; SFF-8636 6.2.10; linux: ethtool-netlink MODULE_SET",
     kReadModule},
    {kHostSilent, "host_silent", "no signal from this host reaches its module", kDown, &host_silent,
     kModule, kModuleMap, kReadModule},
    {kModuleDropsOut, "module_drops_out", "the module disappears and returns on its own", kAny,
     &module_drops_out, kEvents, "judgement (from the second time within 1 h)", ""},
    {kFarAdminDown, "far_admin_down", "the far port is administratively down", kDown,
     &far_admin_down, kFarLink, "IBTA PortInfo of the far port", "check the state of {peer}"},
    {kFarModuleAbsent, "far_module_absent", "no module at the far end", kDown, &far_module_absent,
     kFarModule, "telemetry of the far end", "check that {peer} has a module"},
    {kNeighbourDiffers, "neighbour_differs", "the far end is not the planned one", kAny,
     &neighbour_differs, kPlan, "LLDP (IEEE 802.1AB) or SMP NodeDescription against the plan",
     "configure the plan (expected.peer) and enable LLDP or a subnet manager to name the far end"},
};

}  // namespace

constinit const std::span<const Symptom> kModuleFamily = kRows;

}  // namespace linkhealth::symptoms
