// The field lists of the recording format (docs/recording.md): for each struct of model/snapshot.h
// its keys, in the order in which they are written; those of modules are in
// model/json/module_fields.h. For .cpp files that write or read samples inside documents of their
// own.
#pragma once

#include "model/json/json_fields.h"
#include "model/json/module_fields.h"
#include "model/snapshot.h"

namespace linkhealth {

void fields(Is<PortId> auto& id, auto& visit) {
  visit("device", id.device);
  visit("port", id.port);
  visit("netdev", id.netdev);
  visit("pci", id.pci);
  visit("driver", id.driver);
  visit("guid", id.guid);
  visit("firmware", id.firmware);
  visit("board_id", id.board_id);
  visit("hca_type", id.hca_type);
  visit("link_layer", id.link_layer);
  visit("function", id.function);
  visit("exempt", id.exempt);
}

void fields(Is<DownReason> auto& reason, auto& visit) {
  visit("state", reason.state);
  visit("substate", reason.substate);
}

void fields(Is<LinkSample> auto& link, auto& visit) {
  visit("admin_up", link.admin_up);
  visit("carrier", link.carrier);
  visit("state", link.state);
  visit("phys_state", link.phys_state);
  visit("speed_mbps", link.speed_mbps);
  visit("lanes", link.lanes);
  visit("mtu_bytes", link.mtu_bytes);
  visit("fec", link.fec);
  visit("sqi", link.sqi);
  visit("sqi_max", link.sqi_max);
  visit("autoneg", link.autoneg);
  visit("carrier_up_count", link.carrier_up_count);
  visit("carrier_down_count", link.carrier_down_count);
  visit("down_reason", link.down_reason);
}

void fields(Is<FecLane> auto& lane, auto& visit) {
  visit("corrected_bits", lane.corrected_bits);
  visit("corrected_blocks", lane.corrected_blocks);
  visit("uncorrectable_blocks", lane.uncorrectable_blocks);
}

void fields(Is<PeerSample> auto& peer, auto& visit) {
  visit("source", peer.source);
  visit("age_s", peer.age_s);
  visit("system", peer.system);
  visit("port", peer.port);
  visit("guid", peer.guid);
  visit("description", peer.description);
  visit("address", peer.address);
  visit("link", peer.link);
  visit("counters", peer.counters);
  visit("module", peer.module);
  visit("link_source", peer.link_source);
  visit("link_age_s", peer.link_age_s);
  visit("counters_source", peer.counters_source);
  visit("counters_age_s", peer.counters_age_s);
  visit("module_source", peer.module_source);
  visit("module_age_s", peer.module_age_s);
}

void fields(Is<PcieSample> auto& pcie, auto& visit) {
  visit("speed_gtps", pcie.speed_gtps);
  visit("max_speed_gtps", pcie.max_speed_gtps);
  visit("width", pcie.width);
  visit("max_width", pcie.max_width);
  visit("aer_correctable", pcie.aer_correctable);
  visit("aer_nonfatal", pcie.aer_nonfatal);
  visit("aer_fatal", pcie.aer_fatal);
  visit("bridge_speed_gtps", pcie.bridge_speed_gtps);
  visit("bridge_max_speed_gtps", pcie.bridge_max_speed_gtps);
  visit("bridge_width", pcie.bridge_width);
  visit("bridge_max_width", pcie.bridge_max_width);
  visit("slot", pcie.slot);
  visit("numa_node", pcie.numa_node);
  visit("nic_temperature_c", pcie.nic_temperature_c);
  visit("nic_critical_temperature_c", pcie.nic_critical_temperature_c);
}

/// The groups of a port without who it is.
void group_fields(Is<PortSample> auto& port, auto& visit) {
  visit("link", port.link);
  visit("counters", port.counters);
  visit("fec_lanes", port.fec_lanes);
  visit("module", port.module);
  visit("peer", port.peer);
  visit("pcie", port.pcie);
}

void fields(Is<SourceStatus> auto& status, auto& visit) {
  visit("state", status.state);
  visit("reason", status.reason);
  visit("since", status.since);
  visit("last_ok", status.last_ok);
}

inline bool parse_word(std::string_view text, SourceId& out) {
  const auto id = find_source(text);
  if (id) out = *id;
  return id.has_value();
}
inline bool parse_word(std::string_view text, SourceState& out) {
  for (const auto state :
       {SourceState::kOk, SourceState::kFailing, SourceState::kHung, SourceState::kNotOffered})
    if (to_string(state) == text) return out = state, true;
  return false;
}

void fields(Is<PortSample> auto& port, auto& visit) {
  visit("id", port.id);
  group_fields(port, visit);
  visit("sources", port.sources);
}

void fields(Is<Gap> auto& gap, auto& visit) {
  visit("port", gap.port);
  visit("probe", gap.probe);
  visit("reason", gap.reason);
}

/// The peer of an ExpectedPort: an object of its own in JSON.
template <typename Port>
struct ExpectedPeer {
  Port& of;
  [[nodiscard]] bool empty() const {
    return of.peer_system.empty() && of.peer_port.empty() && of.peer_rack.empty() &&
           of.peer_u.empty();
  }
};

template <typename Port>
void fields(const ExpectedPeer<Port>& peer, auto& visit) {
  visit("system", peer.of.peer_system);
  visit("port", peer.of.peer_port);
  visit("rack", peer.of.peer_rack);
  visit("u", peer.of.peer_u);
}

void fields(Is<ExpectedPort> auto& expected, auto& visit) {
  visit("speed_mbps", expected.speed_mbps);
  visit("lanes", expected.lanes);
  ExpectedPeer<std::remove_reference_t<decltype(expected)>> peer{expected};
  visit("peer", peer);
  visit("rail", expected.rail);
  visit("cable", expected.cable);
}

}  // namespace linkhealth
