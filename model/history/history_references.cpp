// Saving and restoring the baselines of ports over a restart.
#include <algorithm>

#include "base/text.h"
#include "model/history/history.h"

namespace linkhealth {

namespace {

/// In this time, dust, temperature and interventions change a link too much for its baselines to
/// hold.
constexpr double kForgetAfterSeconds = 30 * 86400.0;

/// Visits every baseline and drift of a port with its name.
template <typename Port, typename Visit>
void each_kept(Port& port, Visit visit) {
  const auto lanes = [&visit](auto& lanes_of, const std::string& name, auto baseline_of) {
    for (std::size_t i = 0; i < kMaxLanes; ++i)
      visit(name + "." + std::to_string(i + 1), baseline_of(lanes_of[i]));
  };
  const auto of_series = [](auto& series) -> auto& { return series.baseline; };
  lanes(port.own.rx_dbm, "rx_dbm", of_series);
  lanes(port.own.tx_dbm, "tx_dbm", of_series);
  lanes(port.own.bias_ma, "bias_ma", of_series);
  visit("temperature_c", port.own.temperature_c.baseline);
  lanes(port.far.rx_dbm, "far_rx_dbm", of_series);
  lanes(port.far.tx_dbm, "far_tx_dbm", of_series);
  visit("ber_log10", port.counters.ber_log10);
  lanes(
      port.counters.lane_ber_log10, "ber_log10", [](auto& baseline) -> auto& { return baseline; });
  visit("transmit_wait_share", port.counters.transmit_wait_share);
  visit("drift.rx_dbm", port.drifts.rx_dbm);
  visit("drift.bias_ma", port.drifts.bias_ma);
  visit("drift.temperature_c", port.drifts.temperature_c);
  visit("drift.ber_log10", port.drifts.ber_log10);
}

/// Whether its address now belongs to another card (model/history/port_moves.h).
bool is_known_by_guid(const PortReferences& kept) {
  return !kept.guid.empty() && kept.port.starts_with(kept.guid + "/");
}

}  // namespace

PortId port_id_of(const PortReferences& kept) {
  PortId id;
  id.device = kept.label.substr(0, kept.label.find('/'));
  id.verbs = kept.label.size() > id.device.size();
  id.guid = kept.guid;
  const bool is_placed = kept.port != kept.label || is_known_by_guid(kept);
  if (const auto slash = kept.port.rfind('/'); slash != std::string::npos && is_placed) {
    id.pci = kept.port.substr(0, slash);
    id.port = static_cast<std::uint32_t>(parse_u64(kept.port.substr(slash + 1)).value_or(1));
  }
  return id;
}

PortReferences PortHistory::references() const {
  PortReferences kept;
  kept.label = key;
  kept.guid = latest.id.guid;
  if (latest.id.exempt.empty()) kept.linked_at = carrier.last_up_at;
  kept.last_drop_at = carrier.last_unplanned_loss_at();
  if (!kept.guid.empty()) kept.verbs_seen_at = verbs_seen_at;
  if (latest.peer && (latest.peer->source == "mad" || latest.peer->source == "lldp")) {
    kept.peer_source = latest.peer->source;
    kept.peer_system = latest.peer->system;
    kept.peer_port = latest.peer->port;
    kept.peer_guid = latest.peer->guid;
  }
  kept.worse_training = trainings.worse;
  if (own.serial.empty()) return kept;  // the module of the baselines is unknown
  kept.serial = own.serial;
  kept.far_serial = far.serial;
  kept.best_speed_mbps = carrier.best_speed_mbps;
  kept.best_lanes = carrier.best_lanes;
  kept.baseline_fec = baseline_fec;
  each_kept(*this, [&kept](const std::string& name, const auto& values) {
    if (values.ready()) kept.references.push_back({name, values.values()});
  });
  return kept;
}

void PortHistory::adopt(const PortReferences& kept, SteadyTime now) {
  carrier.last_up_at = kept.linked_at;
  carrier.loss_before_at = kept.last_drop_at;
  verbs_seen_at = kept.verbs_seen_at;
  trainings.worse = kept.worse_training;
  if (kept.serial.empty()) return;
  own.serial = kept.serial;  // a different serial at the first reading clears the baselines
  far.serial = kept.far_serial;
  carrier.best_speed_mbps = kept.best_speed_mbps;
  carrier.best_lanes = kept.best_lanes;
  baseline_fec = kept.baseline_fec;
  each_kept(*this, [&](const std::string& name, auto& values) {
    for (const KeptReference& row : kept.references)
      if (row.name == name) values.assign(row.values, now);
  });
}

/// Restores the far end from an earlier run: while the link is down it cannot be read.
void PortHistory::recall_peer(const PortReferences& kept, const Instant& now) {
  if (latest.peer || !kept.peer_at || kept.peer_source.empty()) return;
  const Milliseconds age = now.wall - *kept.peer_at;
  latest.peer.emplace();
  latest.peer->source = kept.peer_source;
  latest.peer->system = kept.peer_system;
  latest.peer->port = kept.peer_port;
  latest.peer->guid = kept.peer_guid;
  latest.peer->age_s = std::max(0.0, in_seconds(age));
  peer_at = now.t - age;
  peer_recalled_ = true;
}

/// Discards it once the link has been up for long enough to receive the far end's LLDP frames.
void PortHistory::end_recalled_peer(const Instant& now) {
  if (!peer_recalled_ || carrier.up != true ||
      in_seconds(now.t - carrier.since.value_or(first_seen)) < kLldpHoldS)
    return;
  update_peer(PeerSample{}, now);
}

ReferenceState History::references() const {
  ReferenceState state;
  for (const auto& [stable, port] : ports_) {
    PortReferences kept = port.references();
    kept.port = stable;
    kept.seen_at = now_.wall;
    kept.place_speed_mbps = place_speed_mbps(stable);
    if (!kept.peer_source.empty() && port.peer_at) kept.peer_at = now_.wall_at(*port.peer_at);
    // A GUID alone is saved, too: an open fault follows its card.
    const bool has_name =
        port.latest.id.exempt.empty() && !lasting_name(kept.guid, port.latest.id.port).empty();
    if (!kept.references.empty() || kept.linked_at || has_name)
      state.ports.push_back(std::move(kept));
  }
  for (const auto& [stable, kept] : kept_)
    if (!ports_.contains(stable) && in_seconds(now_.wall - kept.seen_at) < kForgetAfterSeconds)
      state.ports.push_back(kept);
  return state;
}

void History::restore(const ReferenceState& state) {
  for (const PortReferences& kept : state.ports) kept_[kept.port] = kept;
}

bool History::was_used(const PortReferences& kept) const {
  return kept.linked_at && in_seconds(now_.wall - *kept.linked_at) < times_.used_s;
}

void History::adopt(const std::string& stable, PortHistory& port) {
  const auto at = kept_.find(stable);
  if (at == kept_.end()) return;
  if (!was_used(at->second)) at->second.linked_at.reset();
  if (in_seconds(now_.wall - at->second.seen_at) < kForgetAfterSeconds) {
    port.adopt(at->second, now_.t);
    port.recall_peer(at->second, now_);
    note_place(stable, std::max(at->second.place_speed_mbps, at->second.best_speed_mbps));
  }
  kept_.erase(at);
}

/// Adds a port of an earlier run that is missing in this one, as absent.
void History::recall(const PortKey& label) {
  const auto kept =
      std::ranges::find(kept_, label, [](const auto& entry) { return entry.second.label; });
  if (kept == kept_.end() || labels_.contains(label) || !was_used(kept->second)) return;
  const std::string stable = kept->first;
  PortHistory& port = add_port(stable, label, port_id_of(kept->second));
  adopt(stable, port);
}

}  // namespace linkhealth
