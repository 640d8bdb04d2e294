// What ports of one node physically share: the link itself, the module, the card.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/history/history.h"

namespace linkhealth {

/// Two functions of one cable: they show the same link, which is judged and counted once. `far_a`,
/// `far_b`: "leaf-12 Ethernet17/1", "" if unknown.
bool same_link(const PortHistory& a, std::string_view far_a, const PortHistory& b,
               std::string_view far_b);
/// Likewise, but only by their GUIDs and because both went down at the same moment. That is no
/// proof, so both are counted.
bool seem_one_link(const PortHistory& a, const PortHistory& b);
/// One module carries several ports: a split or twin-port cage, or planes.
bool same_module(const PortHistory& a, const PortHistory& b);
/// Functions or ports of one card.
bool same_card(const PortId& a, const PortId& b);
/// "0000:1b:00.1" and "0000:1b:00.0": functions of one PCI device, with one slot.
bool same_slot(const PortId& a, const PortId& b);
/// Cards of one type: a port of one can be compared with those of the other.
bool same_card_type(const PortId& a, const PortId& b);

}  // namespace linkhealth
