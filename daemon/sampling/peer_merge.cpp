#include "daemon/sampling/peer_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "diagnosis/peer_names.h"
#include "model/history/peer_history.h"

namespace linkhealth {

namespace {

/// Most trusted first: the far port itself answers a MAD; the far system sends LLDP, which a bridge
/// may forward; another program writes an import.
constexpr std::array<std::string_view, 3> kTrust = {"peer_mad", "peer_lldp", "import"};
constexpr std::size_t kLldpRank = 1, kImportRank = 2;

/// lldpd may drop a neighbour before the sampler sees the carrier loss.
constexpr Milliseconds kCarrierDelay{10'000};

bool has_names(const PeerSample& peer) {
  return !peer.system.empty() || !peer.port.empty() || !peer.guid.empty();
}

bool has_state(const PeerSample& peer) { return peer.link || peer.counters || peer.module; }

/// Whether it has more than its module.
bool has_identity(const PeerSample& peer) { return has_names(peer) || peer.link || peer.counters; }

/// Whether the two readings are of different ports. Sources spell names differently: names that
/// cannot be compared do not contradict each other.
bool contradicts(const PeerSample& a, const PeerSample& b) {
  const NameMatch system = compare_systems(a.system, b.system);
  const bool same_guid = !a.guid.empty() && a.guid == b.guid;
  const bool other_guid = !a.guid.empty() && !b.guid.empty() && !same_guid;
  if (system == NameMatch::kDiffers && !same_guid) return true;
  if (other_guid && system != NameMatch::kSame) return true;
  return compare_ports(a.port, a.description, b.port) == NameMatch::kDiffers &&
         compare_ports(b.port, b.description, a.port) == NameMatch::kDiffers;
}

/// The reading reduced to its names.
PeerReading names_of(const PeerReading& reading) {
  PeerReading names;
  names.read_at = reading.read_at;
  names.peer = *reading.peer;
  names.peer->link.reset();
  names.peer->counters.reset();
  names.peer->module.reset();
  return names;
}

std::optional<double> age_s(std::optional<SteadyTime> at, SteadyTime now) {
  return at ? std::optional(std::max(0.0, in_seconds(now - *at))) : std::nullopt;
}

}  // namespace

void PeerMerge::set_ports(const std::set<PortKey>& ports) {
  std::erase_if(ports_, [&](const auto& entry) { return !ports.contains(entry.first); });
  for (const PortKey& key : ports) ports_.try_emplace(key);
}

void PeerMerge::set_carrier(const PortKey& key, bool carrier) {
  if (const auto at = ports_.find(key); at != ports_.end()) at->second.down = !carrier;
}

void PeerMerge::add(const std::string& probe, std::vector<PeerReading> readings) {
  const auto rank = static_cast<std::size_t>(std::ranges::find(kTrust, probe) - kTrust.begin());
  if (rank == kTrust.size()) return;
  std::vector<Gap>& of_node = node_gaps_[probe];
  of_node.clear();
  for (PeerReading& reading : readings) {
    std::erase_if(reading.gaps, [&](const Gap& gap) {
      if (gap.port.empty()) of_node.push_back(gap);
      return gap.port.empty();
    });
    if (const auto at = ports_.find(reading.port); at != ports_.end())
      add_reading(at->second, rank, std::move(reading));
  }
}

void PeerMerge::add_reading(Port& port, std::size_t rank, PeerReading reading) {
  Source& source = port.sources[rank];
  source.gaps = std::exchange(reading.gaps, {});
  const bool has_content = reading.peer || reading.module;
  source.failed = !reading.answered && !has_content;
  if (source.failed) return;  // the previous reading stays valid
  source.reading.reset();
  if (has_content) source.reading = std::move(reading);
}

void PeerMerge::end_readings(Port& port, const PortKey& key, SteadyTime now) const {
  for (auto& [rank, source] : port.sources) {
    if (!source.reading ||
        now < source.reading->valid_until.value_or(source.reading->read_at + hold_))
      continue;
    source.reading.reset();
    if (source.gaps.empty())
      source.gaps.push_back({key, std::string(kTrust[rank]),
                             rank == kImportRank
                                 ? std::string("the imported reading is past its time of validity")
                                 : fmt::format("no answer for {:g} s", in_seconds(hold_))});
  }
}

/// Names of MAD or LLDP are kept for a link that goes down. Once the link is up again, they are
/// dropped if neither source names the far end within the time that LLDP may take.
void PeerMerge::update_names(Port& port, SteadyTime now) {
  for (const auto& [rank, source] : port.sources) {
    if (rank > kLldpRank || !source.reading || !source.reading->peer) continue;
    if (!has_names(*source.reading->peer)) continue;
    port.names = names_of(*source.reading);
    port.was_down = false;
    port.unnamed_since.reset();
    return;
  }
  if (!port.names) return;
  port.was_down = port.was_down || port.down;
  if (port.down) {
    port.unnamed_since.reset();
    return;
  }
  if (!port.unnamed_since) port.unnamed_since = now;
  const Milliseconds limit = port.was_down ? from_seconds(kLldpHoldS) : kCarrierDelay;
  if (now - *port.unnamed_since < limit) return;
  port.names.reset();
  port.unnamed_since.reset();
  port.was_down = false;
}

/// The reading that names the far end. While the link is down, neither MADs nor LLDP pass, and an
/// import must not name a different far end than they last did: it may concern another port.
const PeerReading* PeerMerge::find_names(const Port& port) {
  const PeerReading* const former =
      port.names && (port.down || port.was_down) ? &*port.names : nullptr;
  for (const auto& [rank, source] : port.sources) {
    if (!source.reading || !source.reading->peer || !has_identity(*source.reading->peer)) continue;
    const bool other = former != nullptr && contradicts(*source.reading->peer, *former->peer);
    return rank == kImportRank && other ? former : &*source.reading;
  }
  return former;
}

void PeerMerge::merge_peer(const Port& port, const PeerReading* names, const PortKey& key,
                           Merged& merged) const {
  /// The most trusted reading of this far end that has `part`. One that failed in its last round
  /// counts only if `also_failed`, or if no other has the part.
  const auto find_part = [&](auto part, bool also_failed) {
    const PeerReading* failed = nullptr;
    for (const auto& [rank, source] : port.sources) {
      if (!source.reading || !source.reading->peer || !((*source.reading->peer).*part)) continue;
      if (names != nullptr && &*source.reading != names &&
          contradicts(*source.reading->peer, *names->peer))
        continue;
      if (!source.failed || also_failed) return &*source.reading;
      if (failed == nullptr) failed = &*source.reading;
    }
    return failed;
  };
  // The diagnosis judges a module's powers by their age, so a failed source is as good.
  const PeerReading* const module = find_part(&PeerSample::module, true);
  if (names == nullptr) names = module;
  PeerSample& peer = merged.peer;
  if (names == nullptr) {
    const auto planned = plan_.find(key);
    if (planned == plan_.end()) return;
    peer.system = planned->second.peer_system;
    peer.port = planned->second.peer_port;
    if (has_names(peer)) peer.source = "plan";
    return;
  }
  peer = names_of(*names).peer.value();
  peer.age_s.reset();
  merged.names_at = names->read_at;
  const auto put = [&](const PeerReading* from, auto member, std::string& part_source,
                       std::optional<SteadyTime>& at) {
    if (from == nullptr) return;
    peer.*member = (*from->peer).*member;
    if (from == names) return;
    part_source = from->peer->source;
    at = from->read_at;
  };
  put(find_part(&PeerSample::link, false), &PeerSample::link, peer.link_source, merged.link_at);
  put(find_part(&PeerSample::counters, false), &PeerSample::counters, peer.counters_source,
      merged.counters_at);
  put(module, &PeerSample::module, peer.module_source, merged.module_at);
}

PeerMerge::Merged PeerMerge::merge(const Port& port, const PortKey& key) const {
  Merged merged;
  const PeerReading* const names = find_names(port);
  merge_peer(port, names, key, merged);
  for (const auto& [rank, source] : port.sources) {
    if (!names || !source.reading || !source.reading->peer || source.failed) continue;
    const PeerSample& peer = *source.reading->peer;
    if (&*source.reading != names && has_state(peer) && contradicts(peer, *names->peer))
      merged.gaps.push_back({key, std::string(kTrust[rank]),
                             "its link, counters and module are not used: " + names->peer->source +
                                 " names another far end"});
  }
  if (names != nullptr && port.names && names == &*port.names)
    merged.gaps.push_back(
        {key, names->peer->source == "mad" ? "peer_mad" : "peer_lldp",
         "no source names it now: these names are from before the link went down"});
  for (const auto& [rank, source] : port.sources) {
    merged.gaps.insert(merged.gaps.end(), source.gaps.begin(), source.gaps.end());
    if (!source.reading || !source.reading->module || merged.own_module) continue;
    merged.own_module = source.reading->module;
    merged.own_module_at = source.reading->module_read_at.value_or(source.reading->read_at);
  }
  return merged;
}

std::map<PortKey, MergedPeer> PeerMerge::take_changes(SteadyTime now) {
  std::map<PortKey, MergedPeer> changes;
  for (auto& [key, port] : ports_) {
    update_names(port, now);
    end_readings(port, key, now);
    Merged merged = merge(port, key);
    if (merged == port.published) continue;
    const Merged before = std::exchange(port.published, merged);
    MergedPeer& out = changes[key];
    if (merged.peer != PeerSample{} || before.peer != PeerSample{} || !before.gaps.empty()) {
      out.peer = std::move(merged.peer);
      out.peer->age_s = age_s(merged.names_at, now);
      out.peer->link_age_s = age_s(merged.link_at, now);
      out.peer->counters_age_s = age_s(merged.counters_at, now);
      out.peer->module_age_s = age_s(merged.module_at, now);
    }
    if (merged.own_module != before.own_module || merged.own_module_at != before.own_module_at) {
      out.module = std::move(merged.own_module);
      out.module_read_at = merged.own_module_at;
    }
    out.module_ended = before.own_module && !port.published.own_module;
    out.gaps = std::move(merged.gaps);
  }
  return changes;
}

std::vector<Gap> PeerMerge::node_gaps() const {
  std::vector<Gap> all;
  for (const auto& [probe, gaps] : node_gaps_) all.insert(all.end(), gaps.begin(), gaps.end());
  return all;
}

}  // namespace linkhealth
