#include "daemon/peer_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "diagnosis/peer_names.h"
#include "model/peer_times.h"

namespace linkhealth {

namespace {

/// Most trusted first: a MAD is answered by the port at the other end itself; LLDP is what that
/// system says, and a bridge may pass it on; an imported file is what somebody else thinks is
/// there.
constexpr std::array<std::string_view, 3> kTrust = {"peer_mad", "peer_lldp", "import"};

std::size_t rank_of(std::string_view probe) {
  return static_cast<std::size_t>(std::find(kTrust.begin(), kTrust.end(), probe) - kTrust.begin());
}

/// Whether a source says who or what is at the far end, not only what its module reads.
bool says_who(const PeerSample& peer) {
  return !peer.system.empty() || !peer.port.empty() || !peer.guid.empty() || peer.link ||
         peer.counters;
}

bool names_somebody(const PeerSample& peer) {
  return !peer.system.empty() || !peer.port.empty() || !peer.guid.empty();
}

/// lldpd may hear of a lost carrier before we do.
constexpr Milliseconds kLinkNews{10'000};

bool says_what(const PeerSample& peer) { return peer.link || peer.counters || peer.module; }

/// Whether the two speak of two ports. Sources write names each in its way, so only what can be
/// compared is.
bool contradicts(const PeerSample& a, const PeerSample& b) {
  const NameMatch system = compare_systems(a.system, b.system);
  const bool same_guid = !a.guid.empty() && a.guid == b.guid;
  const bool other_guid = !a.guid.empty() && !b.guid.empty() && !same_guid;
  if (system == NameMatch::kDiffers && !same_guid) return true;
  if (other_guid && system != NameMatch::kSame) return true;
  return compare_ports(a.port, a.description, b.port) == NameMatch::kDiffers &&
         compare_ports(b.port, b.description, a.port) == NameMatch::kDiffers;
}

double age_s(const PeerReading& reading, SteadyTime now) {
  return std::max(0.0, in_seconds(now - reading.read_at));
}

SteadyTime module_read_at(const PeerReading& reading) {
  return reading.module_read_at.value_or(reading.read_at);
}

bool same_reading(const PeerReading& a, const PeerReading& b) {
  return a.read_at == b.read_at && a.module_read_at == b.module_read_at && a.peer == b.peer &&
         a.module == b.module;
}

}  // namespace

void PeerMerge::set_plan(std::map<PortKey, ExpectedPort> plan) {
  for (auto& [key, port] : ports_) {
    const auto was = plan_.find(key);
    const auto is = plan.find(key);
    const bool other = was == plan_.end() || is == plan.end()
                           ? (was == plan_.end()) != (is == plan.end())
                           : !(was->second == is->second);
    port.changed = port.changed || other;
  }
  plan_ = std::move(plan);
}

void PeerMerge::set_ports(const std::set<PortKey>& ports) {
  std::erase_if(ports_, [&](const auto& entry) { return !ports.contains(entry.first); });
  for (const PortKey& key : ports) ports_.try_emplace(key);
}

void PeerMerge::set_carrier(const PortKey& key, bool carrier) {
  const auto at = ports_.find(key);
  if (at == ports_.end()) return;
  Port& port = at->second;
  port.down = !carrier;
  port.names_stand = port.names_stand || port.down;
  port.named_for = from_seconds(kLldpHoldS);
  port.named_since.reset();
  port.changed = port.changed || port.last_named.has_value();
}

/// The reading of `rank` ends. An import says itself how long it holds, also its names.
void PeerMerge::keep_names(Port& port, std::size_t rank) {
  const PeerReading& ending = *port.said[rank].reading;
  if (kTrust[rank] == "import" || !ending.peer || !names_somebody(*ending.peer)) return;
  PeerReading& kept = port.last_named.emplace();
  kept.port = ending.port;
  kept.read_at = ending.read_at;
  PeerSample& names = kept.peer.emplace();
  names.source = ending.peer->source;
  names.system = ending.peer->system;
  names.port = ending.peer->port;
  names.guid = ending.peer->guid;
  names.description = ending.peer->description;
  names.address = ending.peer->address;
  port.names_stand = port.down;
  port.named_for = kLinkNews;
  port.named_since.reset();
}

void PeerMerge::end_names(Port& port, SteadyTime now) {
  if (!port.last_named || port.down) return;
  if (!port.named_since) port.named_since = now;
  if (now - *port.named_since < port.named_for) return;
  port.last_named.reset();
  port.changed = port.changed || std::exchange(port.names_stand, false);
}

/// Whether it says something new.
bool PeerMerge::take_reading(Port& port, std::size_t rank, PeerReading reading) {
  Said& said = port.said[rank];
  const bool failed = !reading.answered && !reading.peer && !reading.module;
  const bool new_gaps = said.gaps != reading.gaps || said.failed != failed;
  said.gaps = std::move(reading.gaps);
  said.failed = failed;
  reading.gaps.clear();
  if (!reading.peer && !reading.module) {
    if (!reading.answered || !said.reading) return new_gaps;
    port.module_ended = port.module_ended || said.reading->module.has_value();
    keep_names(port, rank);
    said.reading.reset();
    return true;
  }
  if (kTrust[rank] != "import" && reading.peer && names_somebody(*reading.peer))
    port.last_named.reset();
  if (said.reading && same_reading(*said.reading, reading)) {
    said.reading->valid_until = reading.valid_until;
    return new_gaps;
  }
  const bool had_module = said.reading && said.reading->module;
  if (reading.module) {
    port.module_new = port.module_new || !had_module ||
                      module_read_at(*said.reading) != module_read_at(reading) ||
                      said.reading->module != reading.module;
    port.module_ended = false;
  } else if (had_module) {
    port.module_ended = true;
  }
  said.reading = std::move(reading);
  return true;
}

void PeerMerge::take(const std::string& probe, std::vector<PeerReading> readings) {
  const std::size_t rank = rank_of(probe);
  if (rank == kTrust.size()) return;
  std::vector<Gap> of_node;
  for (PeerReading& reading : readings) {
    std::erase_if(reading.gaps, [&](Gap& gap) {
      if (!gap.port.empty()) return false;
      of_node.push_back(std::move(gap));
      return true;
    });
    const auto at = ports_.find(reading.port);
    if (at == ports_.end()) continue;
    if (take_reading(at->second, rank, std::move(reading))) at->second.changed = true;
  }
  node_gaps_[probe] = std::move(of_node);
}

void PeerMerge::end_old(Port& port, const PortKey& key, SteadyTime now) {
  for (auto& [rank, said] : port.said) {
    if (!said.reading || now < said.reading->valid_until.value_or(said.reading->read_at + hold_))
      continue;
    const bool import = kTrust[rank] == "import";
    port.module_ended = port.module_ended || said.reading->module.has_value();
    keep_names(port, rank);
    said.reading.reset();
    port.changed = true;
    if (said.gaps.empty())
      said.gaps.push_back({key, std::string(kTrust[rank]),
                           import ? std::string("the imported reading is over its time of validity")
                                  : fmt::format("no answer for {:g} s", in_seconds(hold_))});
  }
}

/// The most trusted reading of which `fits` is true; one of before only while nobody who answered
/// has another.
template <typename Fits>
const PeerReading* PeerMerge::most_trusted(const Port& port, Fits fits) {
  const PeerReading* of_before = nullptr;
  for (const auto& [rank, said] : port.said) {
    if (!said.reading || !said.reading->peer || !fits(*said.reading->peer)) continue;
    if (!said.failed) return &*said.reading;
    if (of_before == nullptr) of_before = &*said.reading;
  }
  return of_before;
}

/// Who is named now. While nobody is asked across a link that is down, an import does not send
/// people elsewhere than to whom a MAD or LLDP named last: it may have been of another port before
/// already.
const PeerReading* PeerMerge::who_is_there(const Port& port) {
  const PeerReading* before = port.named_before();
  for (const auto& [rank, said] : port.said) {
    if (!said.reading || !said.reading->peer || !says_who(*said.reading->peer)) continue;
    const bool elsewhere = before != nullptr && contradicts(*said.reading->peer, *before->peer);
    return kTrust[rank] == "import" && elsewhere ? before : &*said.reading;
  }
  return before;
}

/// What is said of another port than the one that is there is no news of this link.
void PeerMerge::add_contradictions(const Port& port, const PortKey& key, std::vector<Gap>& gaps) {
  const PeerReading* who = who_is_there(port);
  if (who == nullptr) return;
  for (const auto& [rank, said] : port.said) {
    if (!said.reading || !said.reading->peer || said.failed || &*said.reading == who) continue;
    const PeerSample& peer = *said.reading->peer;
    if (says_what(peer) && contradicts(peer, *who->peer))
      gaps.push_back({key, std::string(kTrust[rank]),
                      "its link, counters and module are not used: " + who->peer->source +
                          " names another far end"});
  }
}

/// Also one that failed in its last round: a module's powers are judged by their age. `who`:
/// nullptr, or who is there.
const PeerReading* PeerMerge::first_with_module(const Port& port, const PeerReading* who) {
  for (const auto& [rank, said] : port.said) {
    if (!said.reading || !said.reading->peer || !said.reading->peer->module) continue;
    if (!who || &*said.reading == who || !contradicts(*said.reading->peer, *who->peer))
      return &*said.reading;
  }
  return nullptr;
}

PeerSample PeerMerge::join(const Port& port, const PortKey& key, SteadyTime now) const {
  PeerSample joined;
  const PeerReading* who = who_is_there(port);
  const PeerReading* module = first_with_module(port, who);
  if (!who) who = module;
  if (!who) {
    const auto planned = plan_.find(key);
    if (planned == plan_.end() ||
        (planned->second.peer_system.empty() && planned->second.peer_port.empty()))
      return joined;
    joined.source = "plan";
    joined.system = planned->second.peer_system;
    joined.port = planned->second.peer_port;
    return joined;
  }
  joined = *who->peer;
  joined.age_s = age_s(*who, now);
  const auto stamp = [&](const PeerReading& part, std::string& source,
                         std::optional<double>& part_age_s) {
    if (&part == who) return;
    source = part.peer->source;
    part_age_s = age_s(part, now);
  };
  const auto of_this_port = [&](const PeerSample& peer) {
    return &peer == &*who->peer || !contradicts(peer, *who->peer);
  };
  if (const auto* link =
          most_trusted(port, [&](const auto& peer) { return peer.link && of_this_port(peer); })) {
    joined.link = link->peer->link;
    stamp(*link, joined.link_source, joined.link_age_s);
  }
  if (const auto* counted = most_trusted(
          port, [&](const auto& peer) { return peer.counters && of_this_port(peer); })) {
    joined.counters = counted->peer->counters;
    stamp(*counted, joined.counters_source, joined.counters_age_s);
  }
  if (module) {
    joined.module = module->peer->module;
    stamp(*module, joined.module_source, joined.module_age_s);
  }
  return joined;
}

MergedPeer PeerMerge::merged(Port& port, const PortKey& key, SteadyTime now) const {
  MergedPeer out;
  PeerSample joined = join(port, key, now);
  const bool empty = joined == PeerSample{};
  add_contradictions(port, key, out.gaps);
  if (const PeerReading* before = port.named_before();
      before != nullptr && who_is_there(port) == before)
    out.gaps.push_back({key, before->peer->source == "mad" ? "peer_mad" : "peer_lldp",
                        "nobody names it now: its names are of before the link fell"});
  bool gaps = !out.gaps.empty();
  for (const auto& [rank, said] : port.said) {
    out.gaps.insert(out.gaps.end(), said.gaps.begin(), said.gaps.end());
    gaps = gaps || !said.gaps.empty();
    if (port.module_new && said.reading && said.reading->module && !out.module) {
      out.module = said.reading->module;
      out.module_read_at = module_read_at(*said.reading);
    }
  }
  // An empty sample is said once: it takes back what was said before, gaps as well.
  if (!empty || port.shown) out.peer = std::move(joined);
  port.shown = !empty || gaps;
  out.module_ended = std::exchange(port.module_ended, false) && !out.module;
  port.module_new = false;
  return out;
}

std::map<PortKey, MergedPeer> PeerMerge::take_changes(SteadyTime now) {
  std::map<PortKey, MergedPeer> changes;
  for (auto& [key, port] : ports_) {
    end_old(port, key, now);
    end_names(port, now);
    if (!std::exchange(port.changed, false)) continue;
    MergedPeer out = merged(port, key, now);
    if (out.peer || out.module || out.module_ended || !out.gaps.empty())
      changes.emplace(key, std::move(out));
  }
  return changes;
}

std::vector<Gap> PeerMerge::node_gaps() const {
  std::vector<Gap> all;
  for (const auto& [probe, gaps] : node_gaps_) all.insert(all.end(), gaps.begin(), gaps.end());
  return all;
}

}  // namespace linkhealth
