// Cards that have another PCI address. Firmware renumbers the buses when a device is added or drops
// out, so that after a reboot an address may belong to another card: the data under a stable key
// moves with its card.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/snapshot.h"

namespace linkhealth {

/// From one stable key to another, all at once: two may swap. "": another card has that key now,
/// and the owner of the data is unknown.
using PortMoves = std::map<std::string, std::string>;

/// "0290:fbe6:5496:b900/1": GUID and port number, as cards with two ports have one GUID for both.
/// "" without a GUID; virtual functions may have zeros.
std::string lasting_name(const std::string& guid, std::uint32_t port);

/// The moves between `known` ports and those of a snapshot (`here`), both by stable key, with
/// lasting names. A name at two keys (bonds, cards whose maker gave all the same GUID) moves
/// nothing. A card that lost its key to another and is absent is kept under its lasting name.
PortMoves moves_between(const std::map<std::string, std::string>& known,
                        const std::map<std::string, std::string>& here);

/// Where `stable` is after the moves.
inline const std::string& moved(const std::string& stable, const PortMoves& moves) {
  const auto at = moves.find(stable);
  return at == moves.end() ? stable : at->second;
}

/// Renames the keys of a map by stable key; entries of unknown owner are dropped.
template <typename Value>
void move_keys(std::map<std::string, Value>& map, const PortMoves& moves) {
  std::vector<typename std::map<std::string, Value>::node_type> taken;
  for (const auto& [from, to] : moves) {
    auto node = map.extract(from);
    if (node.empty() || to.empty()) continue;
    node.key() = to;
    taken.push_back(std::move(node));
  }
  for (auto& node : taken) map.insert(std::move(node));
}

}  // namespace linkhealth
