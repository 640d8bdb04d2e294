// What a snapshot brings: which ports it has, what each says, what could not be read.
#include <algorithm>
#include <utility>

#include "model/counter_probes.h"
#include "model/history.h"
#include "model/port_lookup.h"

namespace linkhealth {

namespace {

constexpr std::string_view kFeedOfPorts =
    "verbs_events";  // its gaps are said in every snapshot while they stand
constexpr std::string_view kSensors =
    "hwmon";  // read with each reading of PCIe, and no group of its own

bool stands(const std::vector<Gap>& gaps, const PortKey& port, std::string_view probe) {
  return std::ranges::any_of(
      gaps, [&](const Gap& gap) { return gap.probe == probe && gap.port == port; });
}

}  // namespace

const PortHistory* History::find(const PortKey& key) const {
  const auto label = labels_.find(key);
  if (label == labels_.end()) return nullptr;
  const auto at = ports_.find(label->second);
  return at == ports_.end() ? nullptr : &at->second;
}

void History::excuse(const std::string& stable, SteadyTime since) {
  if (const auto at = ports_.find(stable); at != ports_.end())
    at->second.carrier.plan_losses_since(since);
}

/// A port that is not there.
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

void History::await(const PortKey& key) {
  for (const auto& [stable, port] : ports_)
    if (port.key == key || stable == key || is_named(port.latest.id, key)) return;
  add_port(key, key, PortId{}).awaited = true;
}

void History::await_no_more(const std::string& stable) {
  const auto at = ports_.find(stable);
  if (at == ports_.end() || !at->second.awaited) return;
  std::erase_if(labels_, [&](const auto& entry) { return entry.second == stable; });
  ports_.erase(at);
}

namespace {

/// More than its label: readers of recordings make the device's name from that.
bool says_who_it_is(const PortId& id) {
  return !id.pci.empty() || !id.driver.empty() || !id.netdev.empty() || !id.link_layer.empty() ||
         !id.guid.empty();
}

}  // namespace

std::string History::stable_of_label(const PortKey& key) const {
  if (const auto label = labels_.find(key); label != labels_.end()) return label->second;
  for (const auto& [stable, port] : ports_)
    if (port.key == key) return stable;
  return key;
}

/// Of ports that are not there: a name that another one has now is no longer theirs, and a card
/// that sits in another slot now has not gone.
void History::part_names(const Snapshot& snapshot) {
  for (auto& [stable, port] : ports_) {
    if (port.present) continue;
    if (const auto label = labels_.find(port.key);
        label != labels_.end() && label->second != stable)
      port.key = stable;
    const PortId& id = port.latest.id;
    const auto is_it = [&](const auto& entry) {
      const PortId& other =
          entry.second.id;  // a network interface without its RDMA device is not the whole card
      return !other.device.empty() && other.guid == id.guid && other.port == id.port;
    };
    const bool has_guid =
        id.guid.find_first_not_of("0:") != std::string::npos;  // virtual functions may have zeros
    if (has_guid && std::ranges::any_of(snapshot.ports, is_it)) port.arrived = true;
  }
}

/// A group that was not due is left out, and who the port is may be one: then the last one stands.
std::string History::stable_of(const PortKey& key, const PortSample& sample) const {
  const bool named = says_who_it_is(sample.id) && !sample.id.device.empty();
  return named ? sample.id.stable_key() : stable_of_label(key);
}

/// Who is remembered under which stable key; "" where no GUID says it.
std::map<std::string, std::string> History::known_names() const {
  std::map<std::string, std::string> names;
  for (const auto& [stable, kept] : kept_)
    names[stable] = lasting_name(kept.guid, port_id_of(kept).port);
  for (const auto& [stable, port] : ports_)
    names[stable] = lasting_name(port.latest.id.guid, port.latest.id.port);
  return names;
}

void History::follow_cards(const Snapshot& snapshot) {
  moves_.clear();
  const auto known = known_names();
  std::map<std::string, std::string> here;
  for (const auto& [key, sample] : snapshot.ports) {
    const std::string stable = stable_of(key, sample);
    const auto same = known.find(stable);
    here[stable] = says_who_it_is(sample.id) ? lasting_name(sample.id.guid, sample.id.port)
                   : same != known.end()     ? same->second
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
    // Nobody shall find another card at the address that it had.
    if (here.contains(to)) continue;
    PortId& id = at->second.latest.id;
    id.pci = id.guid;
  }
}

void History::meet_ports(const Snapshot& snapshot) {
  follow_cards(snapshot);
  for (const auto& [key, sample] : snapshot.ports) {
    const bool named = says_who_it_is(sample.id);
    const std::string stable = stable_of(key, sample);
    const auto [at, is_new] = ports_.try_emplace(stable);
    PortHistory& port = at->second;
    if (is_new) {
      port.carrier.times = times_;
      port.first_seen = now_.t;
      port.latest.id = sample.id;
      adopt(stable, port);
    }
    // Where the uptime is not known, the node may just have booted.
    const double up_s = uptime_s_.value_or(0);
    if (is_new && up_s < times_.boot_quiet_s)
      port.carrier.plan(now_.t + from_seconds(times_.boot_quiet_s - up_s - times_.after_s));
    port.key = key;
    port.present = true;
    port.arrived = false;
    port.absent_since.reset();
    // Ethernet and InfiniBand of one card run at speeds of their own.
    const std::string& was = port.latest.id.link_layer;
    if (named && !was.empty() && !sample.id.link_layer.empty() && was != sample.id.link_layer)
      port.carrier.best_speed_mbps = port.carrier.best_lanes = 0;
    if (named || is_new) port.latest.id = sample.id;
    labels_[key] = stable;
  }
  part_names(snapshot);
  const auto has_come = [&](const PortKey& name) {
    return std::ranges::any_of(snapshot.ports,
                               [&](const auto& entry) { return is_named(entry.second.id, name); });
  };
  for (auto& [stable, port] : ports_)
    if ((port.awaited || !says_who_it_is(port.latest.id)) && (port.arrived || has_come(port.key))) {
      port.arrived = true;
      port.present = true;
      port.absent_since.reset();
    }
}

namespace {

/// Read for all ports at once: its gap names none, and holds for each. Without netlink the first is
/// read of each port.
bool is_of_the_node(std::string_view probe) {
  return probe == "netdev_stats" || probe == "devlink";
}

constexpr double kTurnsSeconds =
    60;  // in which a port's classic files that can be read have had a turn, or some

/// A gap beside what the same probe gave is of a part of it: a file that this kernel or card does
/// not have.
bool is_of_a_part(const Gap& gap, const Snapshot& snapshot) {
  const auto port = snapshot.ports.find(gap.port);
  if (port == snapshot.ports.end()) return false;
  const PortSample& sample = port->second;
  if (gap.probe == "link")
    return sample.link && (sample.link->carrier || !sample.link->phys_state.empty() ||
                           !sample.link->state.empty());
  if (gap.probe == "module") return sample.module && *sample.module != ModuleSample{};
  if (gap.probe == "counters")
    return sample.counters &&
           (!sample.id.verbs || has_counter_of_probe(*sample.counters, gap.probe));
  if (gap.probe == "hw_counters" || gap.probe == "netdev_stats")
    return sample.counters && has_counter_of_probe(*sample.counters, gap.probe);
  return false;
}

}  // namespace

/// Counters of the network interface come each period, also where those of verbs can't be read: on
/// a verbs port only counters of their own kind end that blindness. Of what is read for the whole
/// node no end is said: they are it.
void PortHistory::see_counters(const Counters& now) {
  std::erase_if(blind, [&](const auto& entry) {
    const std::string& probe = entry.first;
    const bool of_verbs = probe == "counters" || probe == "hw_counters";
    if (!of_verbs && !is_of_the_node(probe)) return false;
    return (of_verbs && !latest.id.verbs) || has_counter_of_probe(now, probe);
  });
}

void History::take_samples(const Snapshot& snapshot) {
  for (const auto& [key, sample] : snapshot.ports) {
    PortHistory& port = ports_[labels_[key]];
    if (port.latest.id.verbs) port.verbs_seen_at = snapshot.wall_time;
    if (sample.link) port.update_link(*sample.link, now_);
    if (sample.counters) port.update_counters(sample, now_);
    if (sample.module) port.update_module(*sample.module, now_);
    if (sample.peer) port.update_peer(*sample.peer, now_);
    if (sample.pcie) port.update_pcie(*sample.pcie, now_.t);
    if (sample.link) port.blind.erase("link");
    if (sample.counters) port.see_counters(*sample.counters);
    if (sample.module) port.blind.erase("module");
    // The sources of the far end are one group: what none of them could read stands in the same
    // snapshot again.
    if (sample.peer)
      std::erase_if(port.blind, [](const auto& entry) {
        return entry.first.starts_with("peer") || entry.first == "import";
      });
    if (sample.pcie) port.blind.erase("pcie");
    if (sample.pcie && !stands(snapshot.gaps, key, kSensors))
      port.blind.erase(std::string(kSensors));
    if (!stands(snapshot.gaps, key, kFeedOfPorts)) port.blind.erase(std::string(kFeedOfPorts));
    port.forget_old(now_.t);
  }
}

void PortHistory::take_gap(const Gap& gap, const Snapshot& snapshot) {
  const SteadyTime now = snapshot.taken_at;
  const auto [at, is_new] = blind.try_emplace(gap.probe);
  Blindness& blindness = at->second;
  // Files take turns: where the one that fails is read alone, nothing says that the others fail
  // too.
  const bool still_part = blindness.part && in_seconds(now - blindness.since) < kTurnsSeconds;
  const bool part = still_part || is_of_a_part(gap, snapshot);
  // Busy is not unreadable, nor is a part the whole: the time of one does not count for the other.
  if (part != std::exchange(blindness.part, part) ||
      blindness.reason.starts_with("EBUSY") != gap.reason.starts_with("EBUSY"))
    blindness.attempts = 0;
  if (is_new || blindness.attempts == 0) blindness.since = now;
  blindness.last = now;
  ++blindness.attempts;
  blindness.reason = gap.reason;
  blindness.of_node = gap.port.empty();
}

/// A port that has none of what is read for the whole node is not named by a reading of it.
void History::end_node_gap(const std::string& probe) {
  for (auto& [stable, port] : ports_)
    std::erase_if(port.blind,
                  [&](const auto& entry) { return entry.first == probe && entry.second.of_node; });
}

void History::take_gaps(const Snapshot& snapshot) {
  for (const Gap& gap : snapshot.gaps_ended) {
    if (gap.port.empty()) end_node_gap(gap.probe);
    if (const auto label = labels_.find(gap.port); label != labels_.end())
      ports_[label->second].blind.erase(gap.probe);
  }
  for (const Gap& gap : snapshot.gaps) {
    if (gap.port.empty() && is_of_the_node(gap.probe))
      for (auto& [stable, port] : ports_) port.take_gap(gap, snapshot);
    if (const auto label = labels_.find(gap.port); label != labels_.end())
      ports_[label->second].take_gap(gap, snapshot);
  }
}

void History::observe(const Snapshot& snapshot) {
  now_ = {snapshot.taken_at, snapshot.wall_time};
  // The kernel's uptime drops at a reboot; a little slack for clocks that are read one after the
  // other.
  const bool rebooted = uptime_s_ && snapshot.uptime_s && *snapshot.uptime_s < *uptime_s_ - 5;
  if (snapshot.uptime_s) uptime_s_ = snapshot.uptime_s;
  if (rebooted) labels_.clear();
  for (auto& [stable, port] : ports_) {
    port.present = false;
    if (rebooted) port.update_reboot(now_.t);
  }
  meet_ports(snapshot);
  for (const PortEvent& event : snapshot.events) {
    if (event.kind == PortEventKind::kDeviceGone) recall(event.port);
    const auto label = labels_.find(event.port);
    if (label == labels_.end()) continue;
    ports_[label->second].update(event, now_);
  }
  take_samples(snapshot);
  take_gaps(snapshot);
  bool forget = false;
  for (auto& [stable, port] : ports_) {
    port.end_old_module(now_.t);
    port.end_old_counters(now_.t);
    port.end_recalled_peer(now_);
    port.carrier.unplanned_exported =
        std::max(port.carrier.unplanned_exported, port.carrier.unplanned_total);
    if (!port.present && !port.absent_since) port.absent_since = now_.t;
    forget = forget || is_forgettable(port);
  }
  if (!forget) return;
  std::erase_if(labels_, [this](const auto& entry) {
    const auto at = ports_.find(entry.second);
    return at == ports_.end() || is_forgettable(at->second);
  });
  std::erase_if(ports_, [this](const auto& entry) { return is_forgettable(entry.second); });
}

/// Subfunctions and virtual functions come and go under new names all day, and nothing is ever
/// asked of them.
bool History::is_forgettable(const PortHistory& port) const {
  constexpr double kForgetStrangersSeconds = 3600;
  return !port.present && !port.latest.id.exempt.empty() && port.absent_since &&
         in_seconds(now_.t - *port.absent_since) > kForgetStrangersSeconds;
}

}  // namespace linkhealth
