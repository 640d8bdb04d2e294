// The field lists of the recording format (docs/recording.md): the keys of each struct of
// model/snapshot.h, in the order in which they are written; those of modules are in
// model/json/module_fields.h. For .cpp files that embed samples in other documents.
#pragma once

#include "model/json/json_fields.h"
#include "model/json/module_fields.h"
#include "model/snapshot.h"

namespace linkhealth {

JSON_FIELDS(PortId, device, port, netdev, pci, driver, guid, firmware, board_id, hca_type,
            sys_image_guid, link_layer, function, exempt);

JSON_FIELDS(DownReason, state, substate);

JSON_FIELDS(LinkSample, admin_up, carrier, state, phys_state, speed_mbps, lanes, mtu_bytes, fec,
            sqi, sqi_max, autoneg, carrier_up_count, carrier_down_count, down_reason);

JSON_FIELDS(FecLane, corrected_bits, corrected_blocks, uncorrectable_blocks);

JSON_FIELDS(PeerSample, source, age_s, system, port, guid, description, address, link, counters,
            module, link_source, link_age_s, counters_source, counters_age_s, module_source,
            module_age_s);

JSON_FIELDS(PcieLink, bridge, speed_gtps, max_speed_gtps, width, max_width);

JSON_FIELDS(PcieSample, speed_gtps, max_speed_gtps, width, max_width, aer_correctable, aer_nonfatal,
            aer_fatal, bridge_speed_gtps, bridge_max_speed_gtps, bridge_width, bridge_max_width,
            above, slot, numa_node, nic_temperature_c, nic_critical_temperature_c);

/// The groups of a port without its identity.
void group_fields(Is<PortSample> auto& value, auto& visit) {
  VISIT(link, counters, fec_lanes, module, peer, pcie);
}

JSON_FIELDS(SourceStatus, state, reason, since, last_ok);

inline bool parse_word(std::string_view text, SourceId& out) {
  const auto id = find_source(text);
  if (id) out = *id;
  return id.has_value();
}

void fields(Is<PortSample> auto& value, auto& visit) {
  VISIT(id);
  group_fields(value, visit);
  VISIT(sources);
}

JSON_FIELDS(Gap, port, probe, reason);

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

void fields(Is<ExpectedPort> auto& value, auto& visit) {
  VISIT(speed_mbps, lanes);
  ExpectedPeer<std::remove_reference_t<decltype(value)>> peer{value};
  visit("peer", peer);
  VISIT(rail, cable);
}

}  // namespace linkhealth
