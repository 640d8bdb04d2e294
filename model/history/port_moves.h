// Cards that moved to another PCI address. Firmware renumbers the buses when a device is added or
// fails, so that after a reboot an address may belong to another card. The data under a stable key
// moves with its card.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/snapshot.h"

namespace linkhealth {

/// From one stable key to another, applied all at once: two may swap. "": another card has that key
/// now, and where the owner of the data went is unknown.
using PortMoves = std::map<std::string, std::string>;

/// "0290:fbe6:5496:b900/1": GUID and port number, because dual-port cards have one GUID for both.
/// "" without a GUID; virtual functions may have zeros.
std::string lasting_name(const std::string& guid, std::uint32_t port);

/// The moves between the `known` ports and those of a snapshot (`here`); both map stable keys to
/// lasting names. A name at two keys (bonds, cards that the maker gave one GUID) moves nothing. A
/// card that lost its key to another and is absent is kept under its lasting name.
PortMoves moves_between(const std::map<std::string, std::string>& known,
                        const std::map<std::string, std::string>& here);

/// The key of `stable` after the moves.
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
