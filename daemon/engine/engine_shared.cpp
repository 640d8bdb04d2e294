// Stage 2: what several ports of the node have in common. Each port's GroupStats, for its symptoms;
// and the causes that one port reports for all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "daemon/engine/engine_state.h"
#include "daemon/engine/shared_parts.h"

namespace linkhealth {

namespace {

bool together(const std::optional<SteadyTime>& a, const std::optional<SteadyTime>& b,
              double within_s) {
  return a && b && std::abs(in_seconds(*a - *b)) <= within_s;
}

bool same_module(const PortStep& a, const PortStep& b) { return same_module(a.port, b.port); }
bool same_card(const PortStep& a, const PortStep& b) {
  return same_card(a.port.latest.id, b.port.latest.id);
}

/// Virtual functions and the other functions of a cable share the link of a monitored port, which
/// must not be counted twice.
bool is_other_link(const PortStep& other, const PortStep& step) {
  return other.link != step.link && other.first_of_link && other.port.latest.id.exempt.empty();
}

// ----------------------------------------------------------------------------- one cable, one link

void find_links(std::vector<PortStep>& all) {
  const auto judged = [](const PortStep& step) { return step.exempt.empty() && step.port.present; };
  for (std::size_t i = 0; i < all.size(); ++i) {
    PortStep& step = all[i];
    step.link = i;
    for (std::size_t k = 0; k < i && step.first_of_link; ++k) {
      const PortStep& first = all[k];
      if (!first.first_of_link || !judged(first) || !judged(step)) continue;
      const bool sure = same_link(first.port, first.far, step.port, step.far);
      const bool guessed =
          !sure && (first.far.empty() || step.far.empty()) && seem_one_link(first.port, step.port);
      if (!sure && !guessed) continue;
      step.link = k;
      step.first_of_link = false;
      step.counts_with_first = sure;
    }
  }
  for (PortStep& step : all)
    for (const PortStep& other : all)
      if (&other != &step && other.link == step.link)
        step.twins += (step.twins.empty() ? "" : ", ") + other.port.key;
}

// ------------------------------------------------------------------- ports with the same module

bool same_type(const PortHistory& a, const PortHistory& b) {
  return a.latest.module && b.latest.module && !a.latest.module->type.empty() &&
         a.latest.module->type == b.latest.module->type;
}
std::optional<std::uint32_t> speed_of(const PortHistory& port) {
  return port.latest.link ? port.latest.link->speed_mbps : std::nullopt;
}

/// The value shared by two or more links; "" if they differ.
std::string common(const std::vector<std::string>& values) {
  const bool same =
      values.size() >= 2 && std::ranges::count(values, values.front()) == std::ssize(values);
  return same ? values.front() : "";
}

/// As far as the driver name shows: the comparison is about the module's kind.
bool may_be_one_type(const PortId& a, const PortId& b) {
  return a.driver == b.driver && a.board_id == b.board_id && a.link_layer == b.link_layer;
}

/// What links of such cards run with, for a port that is down.
void fill_kinds(PortStep& step, const std::vector<PortStep>& all) {
  std::vector<std::string> types, modes;
  for (const PortStep& other : all) {
    const PortHistory& port = other.port;
    if (!is_other_link(other, step) || port.carrier.up != true || !port.latest.module ||
        port.latest.module->type.empty() || !may_be_one_type(port.latest.id, step.port.latest.id))
      continue;
    types.push_back(port.latest.module->type);
    if (same_type(step.port, port)) modes.emplace_back(port.fec());
  }
  step.features.group.siblings_type = common(types);
  step.features.group.siblings_fec = common(modes);
}

void fill_siblings(PortStep& step, const std::vector<PortStep>& all) {
  GroupStats& group = step.features.group;
  if (step.features.down) fill_kinds(step, all);
  std::vector<double> speeds;  // of links with the same kind of module and driver
  for (const PortStep& other : all) {
    if (other.link == step.link || !other.first_of_link || other.port.carrier.up != true ||
        !speed_of(other.port) || !same_type(step.port, other.port))
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

/// Whether the last readings of all lanes were taken at `t` or later: medians are judged.
bool is_read_since(const ModuleHistory& own, SteadyTime t) {
  const auto all_newer = [t](const ModuleHistory::Lanes& lanes) {
    return std::ranges::all_of(
        lanes, [t](const LaneSeries& lane) { return lane.count_since(t) == lane.recent_count; });
  };
  return own.read_at && *own.read_at >= t && all_newer(own.rx_dbm) && all_newer(own.tx_dbm) &&
         all_newer(own.bias_ma);
}

/// Lanes of a shared module cannot be attributed to a port. While all of its ports are up without
/// errors and use all of its lanes, what a lane shows concerns the module, and its first port
/// reports it for all.
bool tells_for_cage(const PortStep& step, const std::vector<PortStep>& all) {
  std::uint32_t lanes = 0;
  for (const PortStep& other : all) {
    if (!same_module(step, other) || !other.exempt.empty() || !other.port.present) continue;
    if (!other.features.up || other.features.errors_since) return false;
    // A reading from before another port's link came up shows that port's dark lanes.
    const auto& came = other.port.carrier.since;
    if (came && !is_read_since(step.port.own, *came)) return false;
    if (&other != &step && by_number(other.port.key, step.port.key)) return false;
    lanes += other.features.link().lanes.value_or(other.port.carrier.best_lanes);
  }
  return lanes >= std::max(step.port.own.rx_lanes, step.port.own.tx_lanes);
}

/// For a module with several ports, of which this one is down: its lanes are among those that no
/// port uses that is up. If all of these are dark, no lane of this port has light.
void find_own_dark(PortStep& step, const std::vector<PortStep>& all) {
  LightStats& light = step.features.light;
  if (!step.features.down || !step.features.group.shares_module || !light.rx_dark_some) return;
  std::size_t carrying = 0;
  for (const PortStep& other : all)
    if (same_module(step, other) && other.first_of_link && other.features.up)
      carrying += other.features.link().lanes.value_or(other.port.carrier.best_lanes);
  if (carrying == 0 || light.rx_dark_lanes + carrying < light.rx_lanes) return;
  light.rx_dark_all = true;
  light.rx_dark_some = false;
}

/// A loss of up to half the light may be due to another patch cord on one of the ports.
void keep_large_losses(LightStats& light) {
  constexpr double kLostDb = 3;
  for (auto* loss : {&light.rx, &light.tx})
    if (*loss && (!(*loss)->against_past() || (*loss)->loss_db < kLostDb)) loss->reset();
}

/// Ports on cards of one type are compared with each other, even if no module can be read: how many
/// lanes all others have. A different speed may be intended (storage next to compute); fewer lanes
/// at the same speed rarely are.
void fill_lanes(PortStep& step, const std::vector<PortStep>& all) {
  constexpr std::size_t kLeastAlike = 2;
  const auto lane_mbps = [](const LinkSample& link) { return *link.speed_mbps / *link.lanes; };
  const auto known = [](const PortStep& one) {
    const auto& link = one.port.latest.link;
    return one.port.present && one.port.carrier.up == true && link && link->lanes &&
           *link->lanes > 0 && link->speed_mbps;
  };
  if (!known(step)) return;
  const LinkSample& own = *step.port.latest.link;
  std::size_t alike = 0;
  double lanes = 0;
  for (const PortStep& other : all) {
    if (!is_other_link(other, step) || !other.exempt.empty() || !known(other) ||
        !same_card_type(step.port.latest.id, other.port.latest.id))
      continue;
    const LinkSample& link = *other.port.latest.link;
    if (lane_mbps(link) != lane_mbps(own) || (alike > 0 && *link.lanes != lanes)) return;
    lanes = *link.lanes;
    ++alike;
  }
  if (alike >= kLeastAlike) step.features.group.siblings_lanes = lanes;
}

// ------------------------------------------------------------------------- one card, one room

/// Another function of the card failed when this port went down.
bool card_died(const PortStep& step, const PortHistory& other) {
  // all functions go down within seconds; a driver may log later.
  constexpr double kOneMomentS = 30;
  return step.features.down && !other.device.fatal_is_queue && other.carrier.up != true &&
         together(other.device.fatal_at, step.port.carrier.since, kOneMomentS) &&
         step.port.latest.id.pci != other.latest.id.pci &&
         same_card(step.port.latest.id, other.latest.id);
}

/// A port that should count like this one: by driver, speed, FEC and medium.
bool is_like(const PortStep& other, const PortStep& step) {
  return is_other_link(other, step) && other.port.present && other.features.up &&
         other.port.latest.id.driver == step.port.latest.id.driver &&
         other.port.latest.id.link_layer == step.port.latest.id.link_layer &&
         speed_of(other.port) == speed_of(step.port) && other.port.fec() == step.port.fec() &&
         other.features.medium == step.features.medium;
}

/// What similar ports count while this one's counters stand still.
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
  std::set<std::string_view> seen;  // by module: one with several ports is only one hot module
  for (const PortStep& other : all) {
    if (&other == &step || !other.port.latest.id.exempt.empty()) continue;
    group.card_fatal = group.card_fatal || card_died(step, other.port);
    if (same_slot(step.port.latest.id, other.port.latest.id) && !other.port.device.fatal_is_queue)
      group.card_fatal_at = std::max(group.card_fatal_at, other.port.device.fatal_at);
    if (!is_other_link(other, step) || !other.port.present) continue;
    const auto& module = other.port.latest.module;
    if (same_module(step, other)) {
      group.shares_module = group.shares_module || !module || module->present;
      group.module_at_fault = group.module_at_fault ||
                              observe(SymptomId::kModuleFaultReported, other.features).present();
      continue;
    }
    if (!other.port.own.serial.empty() && !seen.insert(other.port.own.serial).second) continue;
    if (other.temperature_drop_c) rises.push_back(-*other.temperature_drop_c);
    group.siblings_hotter += is_hotter(other);
    group.siblings_supply_low += other.supply_low;
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
  // If no switch is known, ports that flap or have errors together count as one switch's.
  const auto same_leaf = [&step](const PortStep& other) {
    return is_other_link(other, step) && other.leaf == step.leaf;
  };
  // a port on another card: if only this card's ports went down, it was not the switch.
  bool stayed_up = false;
  double fell_elsewhere = 0;
  for (const PortStep& other : all) {
    if (!same_leaf(other) || !other.port.present) continue;
    // Errors as old as the link did not begin together with errors that have just begun.
    const bool same_age = other.state.errors_since && own.errors_ever == other.state.errors_ever;
    if (!step.leaf.empty() && same_age) ++group.leaf_errors;
    if (same_module(step, other) || !other.port.carrier.was_up) continue;
    group.same_leaf += !step.leaf.empty();
    const bool admin = other.port.latest.link && other.port.latest.link->admin_up == false;
    const bool fell = !step.leaf.empty() && step.features.down && !starting &&
                      other.features.down && !admin &&
                      together(step.port.carrier.since, other.port.carrier.since, within_s);
    group.fell_together += fell;
    fell_elsewhere += fell && !same_card(step, other);
    stayed_up = stayed_up || (other.features.up && !same_card(step, other));
    group.errors_together +=
        same_age && together(own.errors_since, other.state.errors_since, kOnsetS);
  }
  if (stayed_up && fell_elsewhere == 0) group.fell_together = 0;
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

// ------------------------------------------------------------------------- down at the same moment

/// Down, and not by an operator or by software.
bool may_be_fallen(const PortStep& step) {
  const LinkSample& link = step.features.link();
  return step.exempt.empty() && step.port.present && step.features.down && step.work == nullptr &&
         !is_set_down(link, step.port.latest.id.link_layer) && link.admin_up != false;
}

/// Ports that went down together before a restart, according to the open fault, and have been down
/// since.
std::vector<std::size_t> fallen_before(const std::vector<PortStep>& all,
                                       const std::vector<std::string>& ports) {
  std::vector<std::size_t> fallen;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::ranges::count(ports, all[i].stable) > 0 && !all[i].port.carrier.since &&
        may_be_fallen(all[i]))
      fallen.push_back(i);
  return fallen;
}

/// Groups of ports that went down within `within_s`. Times that are known from events are compared
/// more exactly.
std::vector<std::vector<std::size_t>> moments_of(const std::vector<PortStep>& all, double within_s,
                                                 std::optional<double> uptime_s) {
  std::vector<std::size_t> fallen;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (may_be_fallen(all[i]) && all[i].port.carrier.since && all[i].port.carrier.was_up &&
        !is_starting(all[i].features, uptime_s))
      fallen.push_back(i);
  constexpr double kExactS = 5;  // a switch that restarts drops its ports within seconds
  const auto since = [&all](std::size_t i) { return *all[i].port.carrier.since; };
  const auto is_exact = [&all](std::size_t i) { return all[i].port.carrier.since_is_exact; };
  std::ranges::stable_sort(fallen, {}, since);
  std::vector<std::vector<std::size_t>> moments;
  for (const std::size_t i : fallen) {
    const bool exact = !moments.empty() && is_exact(i) && is_exact(moments.back().front());
    const double most_s = exact ? std::min(kExactS, within_s) : within_s;
    if (moments.empty() || in_seconds(since(i) - since(moments.back().front())) > most_s)
      moments.emplace_back();
    moments.back().push_back(i);
  }
  for (auto& moment : moments) std::ranges::sort(moment);
  return moments;
}

class Falls {
 public:
  Falls(std::vector<PortStep>& all, std::vector<SharedCause>& causes)
      : all_(all), causes_(causes) {}

  /// Adds what the ports that went down together share: the closest thing that all have in common;
  /// otherwise, for each subset that has one.
  void add(const std::vector<std::size_t>& moment) {
    if (moment.size() < 2) return;
    // Ports that no longer transmit themselves were not taken down by their switch.
    const bool all_off = std::ranges::all_of(moment, [&](std::size_t i) {
      return observe(SymptomId::kTxOff, all_[i].features).present();
    });
    for (const auto& [kind, has] : kTies)
      if (!(all_off && kind == SharedKind::kLeaf) &&
          std::ranges::all_of(moment,
                              [&](std::size_t i) { return has(all_[moment.front()], all_[i]); }))
        return found(kind, moment);
    if (const auto kind = of_node(moment)) return found(*kind, moment);
    for (auto tie = std::rbegin(kTies); tie != std::rend(kTies); ++tie)
      if (split(moment, tie->has)) return;
  }

 private:
  struct Tie {
    SharedKind kind;
    bool (*has)(const PortStep&, const PortStep&);
  };
  static bool same_leaf(const PortStep& a, const PortStep& b) {
    return !a.leaf.empty() && a.leaf == b.leaf;
  }
  /// The closest first.
  static constexpr Tie kTies[] = {
      {SharedKind::kLink, [](const PortStep& a, const PortStep& b) { return a.link == b.link; }},
      {SharedKind::kModule,
       [](const PortStep& a, const PortStep& b) { return a.link == b.link || same_module(a, b); }},
      {SharedKind::kCard,
       [](const PortStep& a, const PortStep& b) { return a.link == b.link || same_card(a, b); }},
      {SharedKind::kLeaf, &same_leaf},
  };

  /// All links of this node, or more than can go down by chance, to switches that are different or
  /// unknown.
  [[nodiscard]] std::optional<SharedKind> of_node(const std::vector<std::size_t>& moment) const {
    constexpr std::size_t kNoChance = 3;
    std::set<std::string_view> leaves;
    bool all_known = true;
    for (const std::size_t i : moment) {
      leaves.insert(all_[i].leaf);
      all_known = all_known && !all_[i].leaf.empty();
    }
    const bool all_fell = std::ranges::none_of(all_, [&](const PortStep& step) {
      return step.exempt.empty() && step.port.present && step.port.carrier.up == true;
    });
    if (!all_known) return SharedKind::kUnknown;
    if (all_fell || leaves.size() >= kNoChance) return SharedKind::kNode;
    return std::nullopt;
  }

  /// Whether some of them, but not all, belong together by `has`.
  template <typename Has>
  bool split(const std::vector<std::size_t>& moment, Has has) {
    std::vector<std::vector<std::size_t>> parts;
    for (const std::size_t i : moment) {
      const auto part = std::ranges::find_if(
          parts, [&](const auto& one) { return has(all_[one.front()], all_[i]); });
      (part == parts.end() ? parts.emplace_back() : *part).push_back(i);
    }
    if (parts.size() == moment.size()) return false;
    for (const auto& part : parts) add(part);
    return true;
  }

  void found(SharedKind kind, const std::vector<std::size_t>& ports) {
    SharedCause& cause = causes_.emplace_back();
    cause = {kind, ports, FaultId::kHealthy, "this node", true};
    std::set<std::string_view> leaves;
    for (const std::size_t i : ports) {
      cause.links += all_[i].link == i || !std::ranges::count(ports, all_[i].link);
      if (!all_[i].leaf.empty()) leaves.insert(all_[i].leaf);
    }
    cause.leaves = leaves.size();
    // One end that says that it does not agree with the other end takes that one down, too, which
    // may be on this node: no sign of a card or a node that fails.
    const bool disagrees = std::ranges::any_of(ports, [&](std::size_t i) {
      return observe(SymptomId::kNegotiationFails, all_[i].features).present();
    });
    for (const std::size_t i : ports) {
      GroupStats& group = all_[i].features.group;
      const double others = static_cast<double>(cause.links) - 1;
      const auto set = [others](double& fell, double& candidates) {
        fell = others;
        candidates = std::max(candidates, others);  // after a restart it is unknown which were up
      };
      if (kind == SharedKind::kModule) set(group.module_fell, group.module_ports);
      if (kind == SharedKind::kCard && !disagrees) set(group.card_fell, group.card_ports);
      if (kind == SharedKind::kLeaf) set(group.fell_together, group.same_leaf);
      if (kind == SharedKind::kNode && !disagrees) set(group.node_fell, group.node_ports);
      if (kind == SharedKind::kUnknown && !disagrees) set(group.unknown_fell, group.node_ports);
    }
  }

  std::vector<PortStep>& all_;
  std::vector<SharedCause>& causes_;
};

/// How many other links could have gone down together with this one.
void fill_shared_parts(PortStep& step, const std::vector<PortStep>& all) {
  GroupStats& group = step.features.group;
  for (const PortStep& other : all) {
    if (!is_other_link(other, step) || !other.exempt.empty() || !other.port.present ||
        !other.port.carrier.was_up)
      continue;
    ++group.node_ports;
    if (same_module(step, other))
      ++group.module_ports;
    else if (same_card(step, other))
      ++group.card_ports;
  }
}

// --------------------------------------------------------------------------------- shared causes

/// All ports of a driver that had several and now has none.
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
  const auto within = [&](const std::optional<SteadyTime>& at, double most_s) {
    return at && in_seconds(f.now - *at) < most_s;
  };
  return (uptime_s && *uptime_s < kBootS) || within(f.port.device.driver_reload_at, kReloadS);
}

std::vector<SharedCause> Engine::State::find_shared(std::vector<PortStep>& all) const {
  const double within_s = std::max(15.0, step_s + 1);
  const double moment_s = std::max(2.0, step_s + 1);  // without an event, times are known to a step
  find_links(all);
  for (PortStep& step : all) {
    if (!step.exempt.empty()) continue;
    fill_siblings(step, all);
    fill_lanes(step, all);
    fill_shared_parts(step, all);
    fill_room(step, all);
    fill_like(step, all);
    step.state.card_stopped = stops_with_card(step.features, step.state.card_stopped);
    step.features.card_stopped = step.state.card_stopped;
    fill_leaf(step, all, within_s, is_starting(step.features, history.uptime_s()));
    Features& f = step.features;
    f.group.tells_for_cage = lanes_may_be_others(f) && tells_for_cage(step, all);
    if (f.group.tells_for_cage) keep_large_losses(f.light);
    if (lanes_may_be_others(f)) leave_single_lanes(f.light);
    find_own_dark(step, all);
  }
  std::vector<SharedCause> causes;
  add_drivers(all, within_s, causes);
  Falls falls(all, causes);
  for (const auto& moment : moments_of(all, moment_s, history.uptime_s())) falls.add(moment);
  for (const PortStep& step : all)
    for (const LedgerEntry* entry : ledger.open(step.stable))
      if (entry->kept.state != FaultState::kProving)
        falls.add(fallen_before(all, entry->kept.ports));
  constexpr double kRoomSiblings = 2;
  auto hot = members_of(all, [](const PortStep& step) {
    return step.features.group.siblings_hotter >= kRoomSiblings;
  });
  if (!hot.empty())
    causes.push_back({SharedKind::kRoom, std::move(hot), FaultId::kModuleOverheated, "this node"});
  auto low = members_of(all, [](const PortStep& step) {
    return step.features.supply_low == true && step.features.group.siblings_supply_low > 0 &&
           step.features.supply_low_s >= step.features.supply_least_s();
  });
  if (!low.empty())
    causes.push_back({SharedKind::kSupply, std::move(low), FaultId::kPcieDegraded, "this node"});
  return causes;
}

}  // namespace linkhealth
