// Stage 2: what several ports of the node have in common. Each port's GroupStats, for its symptoms;
// and the causes that one port reports for all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daemon/engine/engine_state.h"

namespace linkhealth {

namespace {

bool together(const std::optional<SteadyTime>& a, const std::optional<SteadyTime>& b,
              double within_s) {
  return a && b && std::abs(in_seconds(*a - *b)) <= within_s;
}

/// One module carries several ports: a split or twin-port cage.
bool same_module(const PortStep& a, const PortStep& b) {
  return !a.port.own.serial.empty() && a.port.own.serial == b.port.own.serial;
}

/// A virtual function shares the link of a monitored port: it must not count twice.
bool is_other_link(const PortStep& other, const PortStep& step) {
  return &other != &step && other.port.latest.id.exempt.empty();
}

// ------------------------------------------------------------------- ports with the same module

bool same_type(const PortHistory& a, const PortHistory& b) {
  return a.latest.module && b.latest.module && !a.latest.module->type.empty() &&
         a.latest.module->type == b.latest.module->type;
}
std::optional<std::uint32_t> speed_of(const PortHistory& port) {
  return port.latest.link ? port.latest.link->speed_mbps : std::nullopt;
}

void fill_siblings(PortStep& step, const std::vector<PortStep>& all) {
  GroupStats& group = step.features.group;
  std::vector<double> speeds;  // of links with the same kind of module and driver
  for (const PortStep& other : all) {
    if (&other == &step || other.port.carrier.up != true || !speed_of(other.port) ||
        !same_type(step.port, other.port))
      continue;
    if (other.port.latest.id.driver == step.port.latest.id.driver)
      speeds.push_back(*speed_of(other.port));
    if (!is_other_link(other, step) || !other.port.present ||
        speed_of(other.port) != speed_of(step.port))
      continue;
    ++group.siblings_as_slow;
    const auto& ber = other.features.signal.ber;
    if (!ber || !other.features.up || other.port.fec() != step.port.fec()) continue;
    ++group.siblings_ber;
    group.siblings_worst_ber = std::max(group.siblings_worst_ber, *ber);
  }
  if (speeds.size() >= 2 && std::ranges::count(speeds, speeds.front()) == std::ssize(speeds))
    group.siblings_speed_mbps = speeds.front();
}

// ------------------------------------------------------------------------- one card, one room

/// "0000:1b:00.1" and "0000:1b:00.0": two functions of one card.
bool one_card(const PortId& a, const PortId& b) {
  const std::size_t dot = a.pci.rfind('.');
  return dot != std::string::npos && a.pci != b.pci &&
         a.pci.compare(0, dot + 1, b.pci, 0, dot + 1) == 0;
}

/// Another function of the card gave up when this port fell.
bool card_died(const PortStep& step, const PortHistory& other) {
  constexpr double kOneMomentS = 30;  // all functions fall within seconds; a driver may log later
  return step.features.down && !other.device.fatal_is_queue && other.carrier.up != true &&
         together(other.device.fatal_at, step.port.carrier.since, kOneMomentS) &&
         one_card(step.port.latest.id, other.latest.id);
}

/// A port that should count as this one does: by driver, speed, FEC and medium.
bool is_like(const PortStep& other, const PortStep& step) {
  return is_other_link(other, step) && other.port.present && other.features.up &&
         other.port.latest.id.driver == step.port.latest.id.driver &&
         other.port.latest.id.link_layer == step.port.latest.id.link_layer &&
         speed_of(other.port) == speed_of(step.port) && other.port.fec() == step.port.fec() &&
         other.features.medium == step.features.medium;
}

/// What ports of its kind count while this one's counters stand still.
void fill_like(PortStep& step, const std::vector<PortStep>& all) {
  constexpr double kMostShare = 0.5;  // of the window, with load
  GroupStats& group = step.features.group;
  const Stillness& still = step.features.signal.still;
  if (!step.features.up || still.bits_s + still.packets_s <= 0) return;
  for (const PortStep& other : all) {
    if (!is_like(other, step)) continue;
    const TrafficStats& traffic = other.features.traffic;
    group.like_running += traffic.known_s > 0 && traffic.loaded_s > kMostShare * traffic.known_s;
    group.like_still += other.features.signal.still.bits_s > 0;
    const auto& ber = other.features.signal.ber;
    if (!ber || *ber <= 0) continue;
    const double bits = *ber * other.port.line_rate_bps();
    group.like_least_bits_s =
        group.like_correcting > 0 ? std::min(group.like_least_bits_s, bits) : bits;
    ++group.like_correcting;
  }
}

bool is_hotter(const PortStep& step) {
  return step.temperature_drop_c && *step.temperature_drop_c <= -kSharedRiseC;
}

void fill_room(PortStep& step, const std::vector<PortStep>& all) {
  GroupStats& group = step.features.group;
  std::vector<double> rises;
  for (const PortStep& other : all) {
    if (!is_other_link(other, step)) continue;
    group.card_fatal = group.card_fatal || card_died(step, other.port);
    if (one_card(step.port.latest.id, other.port.latest.id) && !other.port.device.fatal_is_queue)
      group.card_fatal_at = std::max(group.card_fatal_at, other.port.device.fatal_at);
    if (!other.port.present) continue;
    if (other.temperature_drop_c) rises.push_back(-*other.temperature_drop_c);
    group.siblings_hotter += is_hotter(other);
    const bool one_module = same_module(step, other);
    if (other.supply_low && !one_module) ++group.siblings_supply_low;
    const auto& module = other.port.latest.module;
    group.shares_module = group.shares_module || (one_module && module && module->present);
  }
  group.siblings = static_cast<double>(rises.size());
  if (!rises.empty()) group.siblings_rise_c = std::max(0.0, lower_median(rises));
}

// ------------------------------------------------------------------------------- one far switch

bool flapped_with(const CarrierLoss& loss, const PortStep& other, double within_s) {
  return std::ranges::any_of(other.port.carrier.losses, [&](const CarrierLoss& theirs) {
    return !theirs.planned && theirs.down_s <= kOutageS && together(loss.t, theirs.t, within_s);
  });
}

void fill_leaf(PortStep& step, const std::vector<PortStep>& all, double within_s, bool starting) {
  constexpr double kOnsetS = 900;
  GroupStats& group = step.features.group;
  const PortState& own = step.state;
  // Without a known switch, ports that go down together count as one switch's.
  const auto same_leaf = [&step](const PortStep& other) {
    return is_other_link(other, step) && other.leaf == step.leaf;
  };
  for (const PortStep& other : all) {
    if (!same_leaf(other) || !other.port.present) continue;
    // Errors that are as old as the link did not begin with errors that began just now.
    const bool same_age = other.state.errors_since && own.errors_ever == other.state.errors_ever;
    if (!step.leaf.empty() && same_age) ++group.leaf_errors;
    if (same_module(step, other) || !other.port.carrier.was_up) continue;
    group.same_leaf += !step.leaf.empty();
    const bool admin = other.port.latest.link && other.port.latest.link->admin_up == false;
    group.fell_together += step.features.down && !starting && other.features.down && !admin &&
                           together(step.port.carrier.since, other.port.carrier.since, within_s);
    group.errors_together +=
        same_age && together(own.errors_since, other.state.errors_since, kOnsetS);
  }
  for (const CarrierLoss& loss : step.port.carrier.losses) {
    if (loss.planned || loss.down_s > kOutageS) continue;
    const bool shared = std::ranges::any_of(all, [&](const PortStep& other) {
      return same_leaf(other) && flapped_with(loss, other, within_s);
    });
    ++(shared ? group.flaps_together : group.flaps_alone);
    if (!shared) continue;
    if (!group.first_flap) group.first_flap = loss.t;
    group.last_flap = loss.t;
  }
}

// --------------------------------------------------------------------------------- shared causes

/// All ports of a driver that had several and has none left.
void add_drivers(const std::vector<PortStep>& all, double within_s,
                 std::vector<SharedCause>& causes) {
  std::map<std::string, std::vector<std::size_t>> by_driver;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all[i].port.seen_elsewhere && all[i].state.seen_before && all[i].exempt.empty())
      by_driver[all[i].port.latest.id.driver].push_back(i);
  std::size_t monitored = 0;
  for (const auto& [driver, members] : by_driver) monitored += members.size();
  for (const auto& entry : by_driver) {
    const std::string& driver = entry.first;
    const std::vector<std::size_t>& members = entry.second;
    const auto gone_at = [&all](std::size_t i) { return all[i].port.absent_since; };
    const bool all_gone = std::ranges::all_of(members, [&](std::size_t i) {
      return !all[i].port.present && together(gone_at(i), gone_at(members.front()), within_s);
    });
    if (members.size() < 2 || !all_gone) continue;
    const bool whole_node = driver.empty() || members.size() == monitored;
    causes.push_back(
        {SharedKind::kDriver, members, FaultId::kNicFault, whole_node ? "this node" : driver});
  }
}

template <typename IsMember>
std::vector<std::size_t> members_of(const std::vector<PortStep>& all, IsMember is_member) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].exempt.empty() && is_member(all[i])) members.push_back(i);
  return members;
}

}  // namespace

bool is_starting(const Features& f, std::optional<double> uptime_s) {
  constexpr double kBootS = 240, kReloadS = 200;
  const auto& reload = f.port.device.driver_reload_at;
  return (uptime_s && *uptime_s < kBootS) || (reload && in_seconds(f.now - *reload) < kReloadS);
}

std::vector<SharedCause> Engine::State::find_shared(std::vector<PortStep>& all) const {
  const double within_s = std::max(15.0, step_s + 1);
  for (PortStep& step : all) {
    if (!step.exempt.empty()) continue;
    fill_siblings(step, all);
    fill_room(step, all);
    fill_like(step, all);
    step.state.card_stopped = stops_with_card(step.features, step.state.card_stopped);
    step.features.card_stopped = step.state.card_stopped;
    fill_leaf(step, all, within_s, is_starting(step.features, history.uptime_s()));
    if (lanes_may_be_others(step.features)) leave_single_lanes(step.features.light);
  }
  std::vector<SharedCause> causes;
  add_drivers(all, within_s, causes);
  constexpr double kRoomSiblings = 2;
  auto hot = members_of(all, [](const PortStep& step) {
    return step.features.group.siblings_hotter >= kRoomSiblings;
  });
  if (!hot.empty())
    causes.push_back({SharedKind::kRoom, std::move(hot), FaultId::kModuleOverheated, "this node"});
  auto low = members_of(all, [](const PortStep& step) {
    return step.features.supply_low == true && step.features.group.siblings_supply_low > 0 &&
           (step.features.down || step.features.supply_low_s >= kSupplyDipS);
  });
  if (!low.empty())
    causes.push_back({SharedKind::kSupply, std::move(low), FaultId::kPcieDegraded, "this node"});
  return causes;
}

/// The first port of a shared cause that shows it reports it for all.
void Engine::State::report_once(const std::vector<SharedCause>& causes,
                                std::vector<PortStep>& all) {
  for (const SharedCause& cause : causes) {
    bool reported = false;
    for (const std::size_t i : cause.ports) {
      PortStep& step = all[i];
      std::optional<PortVerdict::Named>& named = step.verdict.primary;
      // All ports of a driver that are gone are gone, whatever each of them shows yet.
      if (cause.kind != SharedKind::kDriver && (!named || named->fault->id != cause.fault))
        continue;
      step.shared = &cause;
      if (!reported)
        reported = true;
      else if (cause.kind == SharedKind::kDriver)
        step.verdict = PortVerdict{};
      else
        named.reset();
    }
  }
}

std::string summary_of(const SharedCause& cause, const PortStep& step) {
  const GroupStats& group = step.features.group;
  switch (cause.kind) {
    case SharedKind::kDriver:
      return fmt::format(
          "all {} ports of {} went at once: the driver, or what the monitor may see of /sys; no "
          "cable",
          cause.ports.size(), cause.name);
    case SharedKind::kRoom:
      return fmt::format(
          "{:.0f} modules of this node got hot together: the room, its inlet or a fan, not this "
          "module",
          group.siblings_hotter + 1);
    case SharedKind::kSupply:
      return fmt::format(
          "{:.0f} modules of this node lost supply voltage together ({:.2f} V here): the card's or "
          "the "
          "node's supply, not these modules",
          group.siblings_supply_low + 1, step.port.own.supply_v.now().value_or(0));
  }
  return "";
}

}  // namespace linkhealth
