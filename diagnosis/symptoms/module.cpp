// Symptoms of the module as a whole, and of what the far end says about itself.
#include <algorithm>

#include "diagnosis/peer_names.h"
#include "diagnosis/symptoms/families.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;

Finding module_absent(const PortView& v, KnobValues) {
  if (!v.port.latest.module) return not_known("the module was never read");
  return Case(Reader::kModule)
      .holds("no module in the cage", !v.port.latest.module->present)
      .close();
}

Finding module_state(const PortView& v, KnobValues) {
  const auto& module = v.port.latest.module;
  if (!module || module->state.empty()) return not_known("the module gives no state");
  const bool bad = module->state == "ModuleFault" || !module->fault_cause.empty() ||
                   (v.down && v.down_s > 60 && module->state != "ModuleReady");
  return Case(Reader::kModule).holds("the module's own state is not good", bad).close();
}

// module_hot: above the module's own limit, or far above its past while its neighbours stayed as
// they were.
constexpr Knob kHotKnobs[] = {
    {"warn_c", 70, 40, 110, "C", "where the module gives no limit (docs/physics.md 3f)"},
    {"rise_c", 11, 3, 40, "C", "above its own reference, what its siblings rose taken off"},
    {"rise_floor_c", 55, 20, 100, "C", "a rise counts only above this"},
    {"siblings", 2, 1, 16, "", "so many siblings that rose too make it the room"},
    {"room_c", 5, 0, 30, "C",
     "a hot room is a fault only so far above the warning, or at the module's alarm"},
    {"most_c", 110, 90, 200, "C",
     "no module carries at such heat, its laser is off long before: a reading gone wrong"}};
Finding module_hot(const PortView& v, KnobValues k) {
  const auto& module = v.port.latest.module;
  if (!module || !module->temperature_c || !module->present)
    return not_known("the module gives no temperature");
  // The median outvotes a glitch; the last reading knows that it has cooled down.
  const LaneSeries& track = v.port.own.temperature_c;
  auto now = track.now();
  if (now) now = std::min(*now, track.recent[0]);
  // One that switched itself off cools down, and is no better for it until the link is back.
  if (now && v.down) now = std::max(*now, v.port.before_loss.temperature_c.value_or(*now));
  if (v.up && now && *now > k[5]) return not_known("the temperature cannot be");
  // All-zero limits are what a module without limits gives.
  const auto& limits = module->thresholds.temperature_c;
  const bool usable =
      limits.high_warn && *limits.high_warn > limits.low_warn.value_or(0) && *limits.high_warn > 30;
  const double warn = usable ? *limits.high_warn : k[0];
  const double enough = std::min(k[3], std::max(1.0, static_cast<double>(v.group.siblings)));
  const auto drop = track.below_baseline();
  const double rise_c = -std::max(drop.value_or(0), track.latest_below_baseline().value_or(0));
  const bool room = static_cast<double>(v.group.siblings_hotter) >= enough && rise_c < 2 * k[1];
  const double alarm =
      usable && limits.high_alarm && *limits.high_alarm > warn ? *limits.high_alarm : warn + k[4];
  if (room) return Case(Reader::kModule).at_least("module temperature", now, alarm, "C").close();
  if (now && *now >= warn)
    return Case(Reader::kModule).at_least("module temperature", now, warn, "C").close();
  // Without another module nobody can say whether it is the room.
  if (!drop || v.group.siblings == 0)
    return Case(Reader::kModule).at_least("module temperature", now, warn, "C").close();
  return Case(Reader::kModule)
      .at_least("module temperature above its own normal and the room's rise",
                rise_c - v.group.siblings_rise_c, k[1], "C")
      .at_least("module temperature", now, k[2], "C")
      .below("modules of this node that rose too", static_cast<double>(v.group.siblings_hotter),
             enough)
      .close();
}

// module_new: the link has not come up since its module was changed. A driver that gives no reason
// refuses it silently.
constexpr Knob kNewKnobs[] = {
    {"settle_s", 60, 0, 3600, "s", "how long a new module may take to come up"}};
Finding module_new(const PortView& v, KnobValues k) {
  if (!v.down) return not_known("the link is up");
  const auto& changed = std::max(v.port.carrier.module_event_at, v.port.own.serial_changed_at);
  if (!changed) {
    const bool seen =
        v.port.carrier.was_up && !v.port.carrier.reboot_at && !v.port.device.driver_reload_at;
    if (!seen) return not_known("the link was never seen up");
    return Case(Reader::kEvents).holds("down since the module was changed", false).close();
  }
  const bool there = !v.port.latest.module || v.port.latest.module->present;
  const bool since = !v.port.carrier.since || *v.port.carrier.since <= *changed;
  return Case(Reader::kEvents)
      .holds("down since the module was changed", there && since)
      .at_least("seconds since the module was changed", in_seconds(v.now - *changed), k[0], "s")
      .close();
}

Finding supply_is_low(const PortView& v, KnobValues) {
  if (!v.supply_low) return not_known("the module gives no supply voltage");
  return Case(Reader::kModule).holds("the module's supply voltage is low", v.supply_low).close();
}
// supply_shared: modules have one supply in common, and its dip shows in all of them.
constexpr Knob kSharedKnobs[] = {
    {"siblings", 1, 1, 64, "", "so many other modules whose voltage is low now"}};
Finding supply_shared(const PortView& v, KnobValues k) {
  if (!v.supply_low) return not_known("the module gives no supply voltage");
  return Case(Reader::kNode)
      .holds("the module's supply voltage is low", v.supply_low)
      .at_least("other modules of this node with it",
                static_cast<double>(v.group.siblings_supply_low), k[0])
      .close();
}

Finding far_admin_down(const PortView& v, KnobValues) {
  const auto& peer = v.port.latest.peer;
  if (!peer || !peer->link || !v.peer_fresh(&PeerSample::link_age_s))
    return not_known("the state of the far port is not known");
  std::optional<bool> off;
  if (peer->link->admin_up) off = !*peer->link->admin_up;
  if (peer->link->phys_state == "Disabled") off = true;
  return Case(Reader::kPeer).holds("the far port is set down", off).close();
}

Finding far_module_absent(const PortView& v, KnobValues) {
  const auto& peer = v.port.latest.peer;
  if (!peer || !peer->module || !v.peer_fresh(&PeerSample::module_age_s))
    return not_known("the peer gives no module data");
  return Case(Reader::kPeer).holds("no module at the far end", !peer->module->present).close();
}

Finding neighbour_differs(const PortView& v, KnobValues) {
  if (v.expected == nullptr || v.expected->peer_system.empty())
    return not_known("no plan says what is at the far end");
  const auto& peer = v.port.latest.peer;
  if (!peer || peer->system.empty() || peer->source == "plan")
    return not_known("the far end does not say who it is");
  const NameMatch system = compare_systems(peer->system, v.expected->peer_system);
  if (system == NameMatch::kUnknown) return not_known("the far end names itself by an address");
  const bool differs =
      system == NameMatch::kDiffers ||
      compare_ports(peer->port, peer->description, v.expected->peer_port) == NameMatch::kDiffers;
  return Case(Reader::kPlan).holds("the far end is not the one of the plan", differs).close();
}

constexpr Symptom kRows[] = {
    {kModuleAbsent,
     "module_absent",
     "there is no module",
     {},
     &module_absent,
     "read the module (ethtool -m)"},
    {kModuleState,
     "module_state",
     "the module says that it is not well",
     {},
     &module_state,
     "read the module (ethtool -m)"},
    {kModuleHot, "module_hot", "the module is too hot", kHotKnobs, &module_hot,
     "read the module (ethtool -m)"},
    {kModuleNew, "module_new", "not up since the module was changed", kNewKnobs, &module_new, ""},
    {kSupplyLow, "supply_low", "the module's supply voltage is low", {}, &supply_is_low, ""},
    {kSupplyShared, "supply_shared", "several modules lose supply voltage together", kSharedKnobs,
     &supply_shared, ""},
    {kFarAdminDown,
     "far_admin_down",
     "the far port is set down",
     {},
     &far_admin_down,
     "look at the state of {peer}"},
    {kFarModuleAbsent,
     "far_module_absent",
     "there is no module at the far end",
     {},
     &far_module_absent,
     "look whether {peer} has a module"},
    {kNeighbourDiffers,
     "neighbour_differs",
     "the cable ends somewhere else than planned",
     {},
     &neighbour_differs,
     "give the plan (expected.peer) and let LLDP or the subnet manager say who is there"},
};

}  // namespace

constinit const std::span<const Symptom> kModuleFamily = kRows;

}  // namespace linkhealth::symptoms
