#include "probes/peer/peer_mad.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <utility>

namespace linkhealth {
namespace {

constexpr const char* kName = "peer_mad";
constexpr Milliseconds kShortestPeriod{1000};

std::string identity(const PortId& id) {
  return (id.guid.empty() ? id.stable_key() : id.guid) + "/" + std::to_string(id.port);
}

/// The next slot of `identity` that is not before `earliest`.
SteadyTime slot_after(std::string_view of, Milliseconds period, SteadyTime earliest) {
  const Milliseconds into = (earliest.time_since_epoch() - mad_phase(of, period)) % period;
  return earliest + (into.count() > 0 ? period - into : -into);
}

/// Kept between rounds while the far end is the same.
struct KnownPeer {
  std::uint64_t node_guid = 0;
  std::uint8_t port = 0;
  std::string system;
  std::optional<PerfCapabilities> offered;
};

/// A LID that unicast can reach (IBA 4.1.3).
bool is_unicast_lid(std::uint16_t lid) { return lid > 0 && lid < 0xc000; }

/// One round on a port: this port's state; the node at the other end and its name; its port's
/// state; its counters. If one is not answered, those that depend on it are not requested.
class Round {
 public:
  /// `transaction` is continued over all rounds, so that a late answer never matches a later
  /// request.
  Round(MadPort& mads, const MadTiming& timing, std::uint32_t& transaction, std::uint8_t local_port,
        KnownPeer& known, PeerReading& reading)
      : mads_(mads),
        timing_(timing),
        transaction_(transaction),
        local_port_(local_port),
        known_(known),
        reading_(reading) {}

  void run() {
    const auto own = get_directed(MadAttribute::kPortInfo, 0, local_port_);
    if (!own) return gap("this node's own port: " + own.error().message);
    if (!decode_port_info(*own).link_up) {
      known_ = {};  // the next far end may be another one, or have another name
      return gap("the link is down: the far end cannot be reached");
    }
    const auto answer = get_directed(MadAttribute::kNodeInfo, local_port_);
    const auto node = answer ? decode_node_info(*answer) : Result<IbNodeInfo>(answer.error());
    if (!node) return gap("the far end: " + node.error().message);
    node_ = *node;
    update_identity();
    PeerSample& peer = reading_.peer.emplace();
    peer.source = "mad";
    peer.system = known_.system;
    peer.port = std::to_string(node_.local_port);
    peer.guid = format_guid(node_.node_guid);
    const auto port = get_directed(MadAttribute::kPortInfo, local_port_, node_.local_port);
    if (!port) return gap("state of the far port: " + port.error().message);
    const IbPortInfo info = decode_port_info(*port);
    peer.link = info.link;
    read_counters(info);
  }

 private:
  void gap(std::string reason) {
    reading_.gaps.push_back({reading_.port, kName, std::move(reason)});
  }

  Result<Mad> get(MadRequest request, std::uint16_t lid) {
    request.transaction = ++transaction_;
    const Mad bytes = encode_request(request);
    const auto answer = mads_.exchange(lid, bytes, timing_.timeout, timing_.tries);
    if (!answer) return answer.error();
    return check_answer(bytes, *answer);
  }
  /// From this node's own port or, with `egress_port`, from the node at its other end.
  Result<Mad> get_directed(MadAttribute attribute, std::uint8_t egress_port,
                           std::uint8_t port = 0) {
    return get({attribute, port, 0, egress_port}, 0);
  }
  /// From the performance agent at `lid`.
  Result<Mad> get_perf(MadAttribute attribute, std::uint16_t lid, std::uint8_t port = 0) {
    return get({attribute, port, 0, 0}, lid);
  }

  /// Without an answer the old name is kept. Read in each round: a switch that has just started has
  /// its maker's name for some minutes, or none.
  void update_identity() {
    if (known_.node_guid != node_.node_guid || known_.port != node_.local_port)
      known_ = {node_.node_guid, node_.local_port, "", std::nullopt};
    const auto description = get_directed(MadAttribute::kNodeDescription, local_port_);
    if (description) known_.system = system_name(decode_node_description(*description));
  }

  /// The LID of the far end's agent. A switch has one for all its ports, in its port 0.
  Result<std::uint16_t> agent_lid(const IbPortInfo& far_port) {
    if (node_.type != IbNodeType::kSwitch) return far_port.lid;
    const auto answer = get_directed(MadAttribute::kPortInfo, local_port_, 0);
    if (!answer) return answer.error();
    return decode_port_info(*answer).lid;
  }

  void read_counters(const IbPortInfo& far_port) {
    if (!far_port.forwards)
      return gap("counters: the link is " + far_port.link.state +
                 ", no subnet manager has made it active");
    const auto lid = agent_lid(far_port);
    if (!lid) return gap("counters: its LID: " + lid.error().message);
    if (!is_unicast_lid(*lid))
      return gap("counters: the far end has no LID, no subnet manager has assigned one");
    if (!known_.offered) {
      const auto answer = get_perf(MadAttribute::kPerfClassPortInfo, *lid);
      if (!answer) return gap("counters: " + answer.error().message);
      known_.offered = decode_perf_capabilities(*answer);
    }
    const PerfCapabilities& offered = *known_.offered;
    const auto plain = get_perf(MadAttribute::kPortCounters, *lid, node_.local_port);
    auto counters = plain ? decode_port_counters(*plain, node_.local_port, offered)
                          : Result<Counters>(plain.error());
    if (!counters) return gap("counters: " + counters.error().message);
    if (offered.has_extended()) {
      const auto answer = get_perf(MadAttribute::kPortCountersExtended, *lid, node_.local_port);
      const auto wide = answer ? decode_port_counters_extended(*answer, node_.local_port, offered)
                               : Result<Counters>(answer.error());
      if (wide) counters->merge(*wide);
      if (!wide) gap("counters: 64-bit ones: " + wide.error().message);
      // If the 64-bit query has the error counters too, the short ones (8 and 16 bits) must not
      // replace them: under one name one reading would be 65535 and the next 100000.
      if (!wide && offered.extended_errors) return;
    } else {
      gap("counters: no 64-bit traffic counters there");
    }
    reading_.peer->counters = *std::move(counters);
  }

  MadPort& mads_;
  const MadTiming& timing_;
  std::uint32_t& transaction_;
  std::uint8_t local_port_;
  KnownPeer& known_;
  PeerReading& reading_;
  IbNodeInfo node_;
};

class MadProbe final : public PeerProbe {
 public:
  MadProbe(const MadTiming& timing, MadOpener opener)
      : timing_(timing), opener_(std::move(opener)) {
    timing_.period = std::max(timing_.period, kShortestPeriod);
  }

  [[nodiscard]] std::string_view name() const override { return kName; }

  std::vector<PeerReading> read(std::span<const InventoryPort> ports, SteadyTime now) override {
    update_ports(ports, now);
    std::vector<PeerReading> readings;
    while (Port* port = longest_due(now)) {
      port->due = slot_after(port->identity, timing_.period, now + timing_.period / 2);
      if (auto reading = read_port(*port, now)) readings.push_back(*std::move(reading));
      if (timing_.first_within != Milliseconds(0)) break;
    }
    report_closed(readings, now);
    return readings;
  }

  [[nodiscard]] SteadyTime next_due(SteadyTime now) const override {
    if (!started_) return now;
    const auto first =
        std::ranges::min_element(ports_, {}, [](const auto& entry) { return entry.second.due; });
    return first == ports_.end() ? now + timing_.period : first->second.due;
  }

 private:
  struct Port {
    PortId id;
    std::string identity;
    SteadyTime due;
    KnownPeer known;
    std::string closed;   ///< why its interface cannot be used; "": it can
    bool opened = false;  ///< at the last try
  };

  /// Ports that stay keep their schedule.
  void update_ports(std::span<const InventoryPort> ports, SteadyTime now) {
    started_ = true;
    std::map<PortKey, Port> former = std::exchange(ports_, {});
    for (const InventoryPort& port : ports) {
      if (!has_mads(port.id) || !port.exempt_reason.empty()) continue;
      const std::string its_identity = identity(port.id);
      const auto known = former.find(port.id.key());
      Port& kept = ports_[port.id.key()];
      if (known != former.end() && known->second.identity == its_identity) {
        kept = std::move(known->second);
      } else {
        kept.due = now + mad_phase(its_identity, timing_.first_within);
      }
      kept.id = port.id;
      kept.identity = its_identity;
    }
  }

  /// The most overdue port; nullptr: none is due.
  Port* longest_due(SteadyTime now) {
    Port* next = nullptr;
    for (auto& [key, port] : ports_)
      if (port.due <= now && (next == nullptr || port.due < next->due)) next = &port;
    return next;
  }

  std::optional<PeerReading> read_port(Port& port, SteadyTime now) {
    PeerReading reading;
    reading.port = port.id.key();
    reading.read_at = now;
    const auto opened = opener_(port.id.device, port.id.port);
    port.opened = opened.ok();
    port.closed.clear();
    if (opened) {
      const auto local_port = static_cast<std::uint8_t>(port.id.port);
      Round(**opened, timing_, transaction_, local_port, port.known, reading).run();
      return reading;
    }
    const Error& error = opened.error();
    if (error.errnum == EACCES || error.errnum == EPERM || error.errnum == ENODEV) {
      port.closed = error.message;
      return std::nullopt;
    }
    reading.gaps.push_back({reading.port, kName, error.message});
    return reading;
  }

  /// Missing permissions or a missing interface concern every port: one gap, unless one of the
  /// ports could be opened.
  void report_closed(std::vector<PeerReading>& readings, SteadyTime now) const {
    const auto report = [&](const PortKey& key, std::string reason) {
      PeerReading& reading = readings.emplace_back();
      reading.port = key;
      reading.read_at = now;
      reading.gaps.push_back({key, kName, std::move(reason)});
    };
    const bool any_opened =
        std::ranges::any_of(ports_, [](const auto& entry) { return entry.second.opened; });
    std::map<PortKey, std::string> closed;
    for (const auto& [key, port] : ports_)
      if (!port.closed.empty()) closed.emplace(key, port.closed);
    if (!any_opened && !closed.empty())
      return report(
          "", closed.begin()->second + (closed.size() > 1 ? " (the other ports likewise)" : ""));
    for (const auto& [key, reason] : closed) report(key, reason);
  }

  MadTiming timing_;
  MadOpener opener_;
  bool started_ = false;
  std::uint32_t transaction_ = 0;
  std::map<PortKey, Port> ports_;
};

}  // namespace

/// FNV-1a, then the finaliser of SplitMix64: GUIDs that differ only in their last digits must not
/// be adjacent.
Milliseconds mad_phase(std::string_view identity, Milliseconds period) {
  if (period.count() <= 0) return Milliseconds{0};
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : identity) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
  hash ^= hash >> 31U;
  return Milliseconds(static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(period.count())));
}

std::unique_ptr<PeerProbe> make_mad_probe(const MadTiming& timing, MadOpener opener) {
  return std::make_unique<MadProbe>(timing, std::move(opener));
}

}  // namespace linkhealth
