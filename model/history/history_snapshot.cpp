// Adding a snapshot: its ports are matched with the known ones, then events and samples are added.
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/history/history.h"

namespace linkhealth {

const PortHistory* History::find(const PortKey& key) const {
  const auto label = labels_.find(key);
  if (label == labels_.end()) return nullptr;
  const auto at = ports_.find(label->second);
  return at == ports_.end() ? nullptr : &at->second;
}

std::uint32_t History::place_speed_mbps(const std::string& stable) const {
  const auto at = place_speeds_mbps_.find(stable);
  return at == place_speeds_mbps_.end() ? 0 : at->second;
}

void History::note_place(const std::string& stable, std::uint32_t speed_mbps) {
  if (speed_mbps == 0) return;
  std::uint32_t& best = place_speeds_mbps_[stable];
  best = std::max(best, speed_mbps);
}

void History::plan_losses_since(const std::string& stable, SteadyTime since) {
  if (const auto at = ports_.find(stable); at != ports_.end())
    at->second.carrier.plan_losses_since(since);
}

/// Adds an absent port.
PortHistory& History::add_port(const std::string& stable, const PortKey& label, const PortId& id) {
  PortHistory& port = ports_[stable];
  labels_[label] = stable;
  port.carrier.times = times_;
  port.key = label;
  port.latest.id = id;
  port.present = false;
  port.first_seen = now_.t;
  port.absent_since = now_.t;
  return port;
}

void History::expect(const PortKey& key) {
  for (const auto& [stable, port] : ports_)
    if (port.key == key || stable == key || is_named(port.latest.id, key)) return;
  add_port(key, key, PortId{}).never_seen = true;
}

void History::expect_no_more(const std::string& stable) {
  const auto at = ports_.find(stable);
  if (at == ports_.end() || !at->second.never_seen) return;
  std::erase_if(labels_, [&](const auto& entry) { return entry.second == stable; });
  ports_.erase(at);
}

namespace {

/// Whether there is more than the device name, which readers of recordings derive from the label.
bool has_identity(const PortId& id) {
  return !id.pci.empty() || !id.driver.empty() || !id.netdev.empty() || !id.link_layer.empty() ||
         !id.guid.empty();
}

}  // namespace

/// A recording leaves out groups that were not due, possibly the identity: then the last identity
/// of this label applies.
std::string History::stable_of(const PortKey& key, const PortSample& sample) const {
  if (has_identity(sample.id) && !sample.id.device.empty()) return sample.id.stable_key();
  if (const auto label = labels_.find(key); label != labels_.end()) return label->second;
  for (const auto& [stable, port] : ports_)
    if (port.key == key) return stable;
  return key;
}

/// An absent port loses its label if another port has it now; a card in another slot is not absent.
void History::release_names(const Snapshot& snapshot) {
  for (auto& [stable, port] : ports_) {
    if (port.present) continue;
    if (const auto label = labels_.find(port.key);
        label != labels_.end() && label->second != stable)
      port.key = stable;
    const std::string name = lasting_name(port.latest.id.guid, port.latest.id.port);
    const auto is_it = [&](const auto& entry) {
      const PortId& id = entry.second.id;
      // A network interface without its RDMA device is not the whole card.
      return !id.device.empty() && lasting_name(id.guid, id.port) == name;
    };
    if (!name.empty() && std::ranges::any_of(snapshot.ports, is_it)) port.seen_elsewhere = true;
  }
}

/// The lasting names of all known ports, by stable key; "" without a GUID.
std::map<std::string, std::string> History::known_names() const {
  std::map<std::string, std::string> names;
  for (const auto& [stable, kept] : kept_)
    names[stable] = lasting_name(kept.guid, port_id_of(kept).port);
  for (const auto& [stable, port] : ports_)
    names[stable] = lasting_name(port.latest.id.guid, port.latest.id.port);
  return names;
}

void History::move_cards(const Snapshot& snapshot) {
  moves_.clear();
  const auto known = known_names();
  std::map<std::string, std::string> here;
  for (const auto& [key, sample] : snapshot.ports) {
    const std::string stable = stable_of(key, sample);
    const auto same = known.find(stable);
    here[stable] = has_identity(sample.id) ? lasting_name(sample.id.guid, sample.id.port)
                   : same != known.end()   ? same->second
                                           : "";
  }
  moves_ = moves_between(known, here);
  if (moves_.empty()) return;
  move_keys(ports_, moves_);
  move_keys(kept_, moves_);
  for (auto& [label, stable] : labels_) stable = moved(stable, moves_);
  std::erase_if(labels_, [](const auto& entry) { return entry.second.empty(); });
  for (auto& [stable, kept] : kept_) kept.port = stable;
  for (const auto& [from, to] : moves_) {
    const auto at = ports_.find(to);
    if (at == ports_.end()) continue;
    at->second.forget_counts();
    // Its address now belongs to another card.
    if (here.contains(to)) continue;
    PortId& id = at->second.latest.id;
    id.pci = id.guid;
  }
}

void History::match_ports(const Snapshot& snapshot) {
  move_cards(snapshot);
  for (const auto& [key, sample] : snapshot.ports) {
    const bool named = has_identity(sample.id);
    const std::string stable = stable_of(key, sample);
    const bool is_new = !ports_.contains(stable);
    PortHistory& port = is_new ? add_port(stable, key, sample.id) : ports_[stable];
    if (is_new) adopt(stable, port);
    // If the uptime is unknown, the node may just have booted.
    const double up_s = uptime_s_.value_or(0);
    if (is_new && up_s < times_.boot_quiet_s)
      port.carrier.plan(now_.t + from_seconds(times_.boot_quiet_s - up_s - times_.after_s));
    port.key = key;
    port.present = true;
    port.seen_elsewhere = false;
    port.absent_since.reset();
    // Ethernet and InfiniBand ports of one card have different speeds.
    const std::string& was = port.latest.id.link_layer;
    if (named && !was.empty() && !sample.id.link_layer.empty() && was != sample.id.link_layer)
      port.carrier.best_speed_mbps = port.carrier.best_lanes = 0;
    if (named) port.latest.id = sample.id;
    labels_[key] = stable;
  }
  release_names(snapshot);
  const auto has_come = [&](const PortKey& name) {
    return std::ranges::any_of(snapshot.ports,
                               [&](const auto& entry) { return is_named(entry.second.id, name); });
  };
  for (auto& [stable, port] : ports_)
    if ((port.never_seen || !has_identity(port.latest.id)) &&
        (port.seen_elsewhere || has_come(port.key))) {
      port.seen_elsewhere = port.present = true;
      port.absent_since.reset();
    }
}

namespace {

/// How many electrical lanes a module has; 0: not known.
std::size_t lanes_of(const ModuleSample& module) {
  if (module.form_factor.starts_with("SFP") && !module.form_factor.starts_with("SFP-DD")) return 1;
  if (module.form_factor.starts_with("QSFP") && module.host_lanes.empty()) return 4;
  return module.host_lanes.size();
}

/// Two functions or two ports of one card.
bool on_one_card(const PortId& a, const PortId& b) {
  const auto slot = [](const std::string& pci) { return pci.substr(0, pci.rfind('.')); };
  return !a.pci.empty() && slot(a.pci) == slot(b.pci);
}

/// Two modules with the same serial (makers repeat them) have different readings.
bool reads_alike(const ModuleSample& a, const ModuleSample& b) {
  const auto near = [](const std::optional<double>& x, const std::optional<double>& y,
                       double tolerance) { return !x || !y || std::abs(*x - *y) <= tolerance; };
  // Largest change of a module's own readings within a minute (docs/physics.md 3e).
  constexpr double kTemperatureC = 1, kSupplyV = 0.02, kPowerShare = 0.1;
  bool alike = near(a.temperature_c, b.temperature_c, kTemperatureC) &&
               near(a.supply_v, b.supply_v, kSupplyV) && a.lanes.size() == b.lanes.size();
  for (std::size_t i = 0; alike && i < a.lanes.size(); ++i)
    for (const auto value : {&ModuleLane::rx_power_mw, &ModuleLane::tx_power_mw})
      alike = alike && near(a.lanes[i].*value, b.lanes[i].*value,
                            kPowerShare * (a.lanes[i].*value).value_or(0));
  return alike;
}

}  // namespace

/// A driver may return the module of the card's other cage (mlx4 with ConnectX-2). The port whose
/// link that module carries is its owner. A module with lanes for both ports is shared, and both
/// ends of a cable may be in one card.
std::string History::owner_of_module(const PortHistory& port, const ModuleSample& module) const {
  const bool is_cable = module.kind == "dac" || module.kind == "acc" || module.kind == "aoc";
  if (!module.present || module.serial.empty() || is_cable || port.carrier.up == true) return "";
  const auto link_lanes = [](const PortHistory& of) -> std::size_t {
    return std::max<std::size_t>(
        1, of.latest.link ? of.latest.link->lanes.value_or(of.carrier.best_lanes) : 0);
  };
  for (const auto& [stable, other] : ports_) {
    const auto& theirs = other.latest.module;
    if (&other == &port || !other.present || !theirs || other.carrier.up != true) continue;
    const std::size_t lanes = lanes_of(module);
    if (theirs->serial == module.serial && theirs->part_number == module.part_number &&
        on_one_card(port.latest.id, other.latest.id) && lanes > 0 &&
        link_lanes(port) + link_lanes(other) > lanes && reads_alike(*theirs, module))
      return other.key;
  }
  return "";
}

/// Readings of another cage's module are not about this port.
void History::doubt_module(PortHistory& port, const PortSample& sample) {
  if (sample.module) {
    const std::string owner = owner_of_module(port, *sample.module);
    if (owner.empty()) {
      port.module_doubt.reset();
    } else if (!port.module_doubt) {
      port.module_doubt = SourceStatus{
          SourceState::kFailing,
          "the driver returns the module of " + owner + " (SN " + sample.module->serial + ")",
          now_.t,
          {}};
    }
  }
  if (!port.module_doubt) return;
  port.end_module();
  if (!port.latest.sources) port.latest.sources.emplace();
  (*port.latest.sources)[SourceId::kModule] = *port.module_doubt;
}

void History::add_samples(const Snapshot& snapshot) {
  for (const auto& [key, sample] : snapshot.ports) {
    PortHistory& port = ports_[labels_[key]];
    if (port.latest.id.verbs) port.verbs_seen_at = snapshot.wall_time;
    if (sample.link) port.update_link(*sample.link, now_);
    if (sample.counters) port.update_counters(sample, now_);
    if (sample.sources) port.latest.sources = sample.sources;
    doubt_module(port, sample);
    if (sample.module && !port.module_doubt) port.update_module(*sample.module, now_);
    if (sample.peer) port.update_peer(*sample.peer, now_);
    if (sample.pcie) port.update_pcie(*sample.pcie, now_.t);
    port.forget_old(now_.t);
  }
}

void History::observe(const Snapshot& snapshot) {
  now_ = {snapshot.taken_at, snapshot.wall_time};
  // The kernel's uptime decreases at a reboot; a little slack, because the clocks are read one
  // after the other.
  const bool rebooted = uptime_s_ && snapshot.uptime_s && *snapshot.uptime_s < *uptime_s_ - 5;
  if (snapshot.uptime_s) uptime_s_ = snapshot.uptime_s;
  if (rebooted) labels_.clear();
  for (auto& [stable, port] : ports_) {
    port.present = false;
    if (rebooted) port.update_reboot(now_.t);
  }
  match_ports(snapshot);
  for (const PortEvent& event : snapshot.events) {
    if (event.kind == PortEventKind::kDeviceGone) recall(event.port);
    const auto label = labels_.find(event.port);
    if (label == labels_.end()) continue;
    ports_[label->second].update(event, now_);
  }
  add_samples(snapshot);
  if (snapshot.sources) sources_ = *snapshot.sources;
  bool forget = false;
  for (auto& [stable, port] : ports_) {
    port.forget_stale(now_.t);
    port.end_recalled_peer(now_);
    port.carrier.unplanned_exported =
        std::max(port.carrier.unplanned_exported, port.carrier.unplanned_total);
    if (!port.present && !port.absent_since) port.absent_since = now_.t;
    // Record the best speed before the module or the card is replaced.
    if (port.latest.id.exempt.empty()) note_place(stable, port.carrier.best_speed_mbps);
    forget = forget || is_forgettable(port);
  }
  if (!forget) return;
  std::erase_if(labels_, [this](const auto& entry) {
    const auto at = ports_.find(entry.second);
    return at == ports_.end() || is_forgettable(at->second);
  });
  std::erase_if(ports_, [this](const auto& entry) { return is_forgettable(entry.second); });
}

/// Subfunctions and virtual functions come and go under new names all the time; none are expected.
bool History::is_forgettable(const PortHistory& port) const {
  constexpr double kForgetExemptSeconds = 3600;
  return !port.present && !port.latest.id.exempt.empty() && port.absent_since &&
         in_seconds(now_.t - *port.absent_since) > kForgetExemptSeconds;
}

}  // namespace linkhealth
