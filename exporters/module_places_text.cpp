#include "exporters/module_places_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "exporters/module_values_text.h"

namespace linkhealth {

namespace {

using LaneNumber = std::optional<std::uint32_t> ModuleLane::*;

/// "lane 3", "lanes 1 to 4".
std::string range_words(std::string_view name, std::size_t first, std::size_t last) {
  return first == last ? fmt::format("{} {}", name, first)
                       : fmt::format("{}s {} to {}", name, first, last);
}

/// Whether lane `next` goes on as the lanes from `first` did: all on one fibre, or each on the one
/// that follows.
bool goes_on(const std::vector<ModuleLane>& lanes, LaneNumber fibre, std::size_t first,
             std::size_t next) {
  if (next >= lanes.size() || !(lanes[next].*fibre)) return false;
  const std::uint32_t before = *(lanes[next - 1].*fibre), here = *(lanes[next].*fibre);
  const bool same = here == before;
  if (!same && here != before + 1) return false;
  return next == first + 1 || same == (*(lanes[first + 1].*fibre) == *(lanes[first].*fibre));
}

std::string one_direction(const std::vector<ModuleLane>& lanes, LaneNumber fibre) {
  std::vector<std::string> parts;
  for (std::size_t first = 0, end = 0; first < lanes.size(); first = end) {
    end = first + 1;
    if (!(lanes[first].*fibre)) continue;
    while (goes_on(lanes, fibre, first, end)) ++end;
    parts.push_back(range_words("lane", first + 1, end) + " on " +
                    range_words("fibre", *(lanes[first].*fibre), *(lanes[end - 1].*fibre)));
  }
  return join(parts, ", ");
}

/// Each of its fibres sends and receives ("TR1", CMIS 5.4 table 8-107): "2x400G-SR4.2",
/// "800G-VR4.2", "1.6T-SR8.2".
bool is_bidirectional(const ModuleSample& m) {
  constexpr std::string_view kNames[] = {"R4.2", "R8.2", "BiDi"};
  return std::ranges::any_of(
      kNames, [&m](std::string_view name) { return m.type.find(name) != std::string::npos; });
}

/// "lanes 1 to 4, lane 7".
std::string lane_words(const std::vector<std::uint32_t>& lanes) {
  std::vector<std::string> parts;
  for (std::size_t first = 0, end = 0; first < lanes.size(); first = end) {
    for (end = first + 1; end < lanes.size() && lanes[end] == lanes[end - 1] + 1;) ++end;
    parts.push_back(range_words("lane", lanes[first], lanes[end - 1]));
  }
  return join(parts, ", ");
}

}  // namespace

std::string fibre_words(const ModuleSample& m) {
  if (m.kind != "optical") return {};
  const std::string tx = one_direction(m.lanes, &ModuleLane::tx_fibre);
  const std::string rx = one_direction(m.lanes, &ModuleLane::rx_fibre);
  if (tx.empty() && rx.empty()) return {};
  const auto says_nothing = [&m](LaneNumber fibre) { return (m.lanes[0].*fibre).value_or(1) == 1; };
  if (m.lanes.size() == 1 && says_nothing(&ModuleLane::tx_fibre) &&
      says_nothing(&ModuleLane::rx_fibre))
    return {};
  const bool mpo = m.connector.starts_with("MPO"), both_ways = is_bidirectional(m);
  const std::string words =
      tx == rx
          ? tx
          : join({tx.empty() ? "" : "sends: " + tx, rx.empty() ? "" : "receives: " + rx}, "; ");
  // Else its fibre 1 that receives is not its fibre 1 that sends: both rows of numbers begin anew.
  return words + (both_ways && tx == rx ? ", both ways" : "") + ", as the module counts them" +
         (mpo && !both_ways ? " each way" : "") + (mpo ? " (no position in an MPO)" : "");
}

std::string loopback_words(const ModuleSample& m) {
  std::vector<std::string> parts;
  for (const ModuleLoopback& loop : m.loopbacks) {
    // CMIS figure 8-2: what goes out to the fibre comes from the host, what goes out to the host
    // from the far end.
    const bool to_host = (loop.side == "host") == (loop.at == "input");
    parts.push_back(
        join({fmt::format("at the {} side's {}", loop.side == "host" ? "host" : "media",
                          loop.at == "input" ? "input" : "output"),
              lane_words(loop.lanes), to_host ? "back to the host" : "back to the far end"},
             ", "));
  }
  return parts.empty() ? "is switched on" : join(parts, "; ");
}

}  // namespace linkhealth
