#include "model/history/port_moves.h"

namespace linkhealth {

namespace {

using Keys = std::map<std::string, std::string>;

/// The inverse map, without names at two keys.
Keys keys_by_name(const Keys& names) {
  Keys keys;
  for (const auto& [key, name] : names) {
    const auto [at, is_new] = keys.try_emplace(name, key);
    if (!is_new) at->second.clear();
  }
  std::erase_if(keys,
                [](const auto& entry) { return entry.first.empty() || entry.second.empty(); });
  return keys;
}

/// "0000:1b:00.1/1" and "0000:1b:00.0/1": buses are renumbered, functions are not. Two functions of
/// one card are a bond or a LAG, whose single verbs device may be at either.
bool are_one_card(const std::string& a, const std::string& b) {
  const std::size_t dot = a.rfind('.');
  return dot != std::string::npos && a.compare(0, dot + 1, b, 0, dot + 1) == 0;
}

}  // namespace

std::string lasting_name(const std::string& guid, std::uint32_t port) {
  return guid.find_first_not_of("0:") == std::string::npos ? "" : guid + "/" + std::to_string(port);
}

PortMoves moves_between(const Keys& known, const Keys& here) {
  PortMoves moves;
  const Keys known_at = keys_by_name(known), here_at = keys_by_name(here);
  for (const auto& [name, from] : known_at) {
    const auto to = here_at.find(name);
    if (to != here_at.end() && to->second != from && !are_one_card(from, to->second))
      moves[from] = to->second;
  }
  const PortMoves wanted = moves;
  for (const auto& [from, to] : wanted) {
    if (moves.contains(to)) continue;
    const auto displaced = known.find(to);
    const bool is_one = displaced != known.end() && known_at.contains(displaced->second);
    moves[to] = is_one ? displaced->second : "";
  }
  return moves;
}

}  // namespace linkhealth
