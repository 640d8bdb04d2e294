#include "daemon/engine/shared_parts.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace linkhealth {

namespace {

bool is_mellanox(const PortId& id) { return id.driver == "mlx5_core" || id.driver == "mlx4_core"; }

std::string_view slot_of(const PortId& id) {
  return std::string_view(id.pci).substr(0, std::min(id.pci.rfind('.'), id.pci.size()));
}
std::string_view function_number(const PortId& id) {
  return std::string_view(id.pci).substr(std::min(id.pci.rfind('.'), id.pci.size()));
}

bool is_guid(std::string_view guid) {
  return guid.find_first_not_of("0:") != std::string_view::npos;
}

/// With mlx4 and mlx5 all functions of a card have one system image GUID (linux: mlx5_query_hca_
/// vport_system_image_guid()). hfi1 and qib have one for the whole node, others one per function.
bool one_system(const PortId& a, const PortId& b) {
  return is_mellanox(a) && a.driver == b.driver && is_guid(a.sys_image_guid) &&
         a.sys_image_guid == b.sys_image_guid;
}

std::optional<std::uint64_t> number_of(std::string guid) {
  std::erase(guid, ':');
  return parse_hex_or_decimal("0x" + guid);
}

/// If sys_image_guid was not recorded: each mlx5 card has consecutive GUIDs, the first ones for its
/// functions. Adjacent GUIDs are no proof: the ports must also have gone down at the same moment.
bool seem_one_card(const PortHistory& a, const PortHistory& b) {
  constexpr double kMomentS = 2;
  const PortId &one = a.latest.id, &two = b.latest.id;
  if (!one.sys_image_guid.empty() || !two.sys_image_guid.empty() || a.carrier.up != false ||
      b.carrier.up != false || !a.carrier.since || !b.carrier.since ||
      std::abs(in_seconds(*a.carrier.since - *b.carrier.since)) > kMomentS)
    return false;
  const auto first = number_of(one.guid), second = number_of(two.guid);
  return first && second && (*first == *second + 1 || *second == *first + 1);
}

/// Socket Direct: a card in two slots, one for each socket; both show the same port.
bool is_socket_direct(const PortHistory& one, const PortHistory& two, bool guess) {
  const PortId &a = one.latest.id, &b = two.latest.id;
  return a.driver == "mlx5_core" && b.driver == a.driver && a.port == b.port &&
         a.board_id == b.board_id && slot_of(a) != slot_of(b) &&
         function_number(a) == function_number(b) &&
         (guess ? seem_one_card(one, two) : one_system(a, b));
}

bool differ(std::string_view a, std::string_view b) { return !a.empty() && !b.empty() && a != b; }

}  // namespace

bool same_link(const PortHistory& a, std::string_view far_a, const PortHistory& b,
               std::string_view far_b) {
  const PortId &one = a.latest.id, &two = b.latest.id;
  // Ports of one device are planes or cages with their own links. So are ports with different
  // modules or far ports, and those of which one is up and the other down.
  if (one.device == two.device || differ(a.own.serial, b.own.serial) || differ(far_a, far_b) ||
      a.carrier.up != b.carrier.up)
    return false;
  // A soft device has its interface's address or none; two pods may each have an "eth0".
  const bool one_interface = !one.netdev.empty() && one.netdev == two.netdev &&
                             (one.pci.empty() || two.pci.empty() || one.pci == two.pci);
  return one_interface || (!far_a.empty() && far_a == far_b) || is_socket_direct(a, b, false);
}

bool seem_one_link(const PortHistory& a, const PortHistory& b) {
  return !differ(a.own.serial, b.own.serial) && is_socket_direct(a, b, true);
}

bool same_module(const PortHistory& a, const PortHistory& b) {
  return !a.own.serial.empty() && a.own.serial == b.own.serial;
}

bool same_slot(const PortId& a, const PortId& b) {
  return !a.pci.empty() && slot_of(a) == slot_of(b);
}

bool same_card(const PortId& a, const PortId& b) { return same_slot(a, b) || one_system(a, b); }

bool same_card_type(const PortId& a, const PortId& b) {
  const bool named = !a.board_id.empty() || !a.hca_type.empty();
  return named && a.driver == b.driver && a.board_id == b.board_id && a.hca_type == b.hca_type &&
         a.link_layer == b.link_layer;
}

}  // namespace linkhealth
