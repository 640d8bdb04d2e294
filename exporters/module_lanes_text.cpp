#include "exporters/module_lanes_text.h"

#include <fmt/format.h>

#include "exporters/module_values_text.h"
#include "exporters/text_layout.h"

namespace linkhealth {

std::string named(const std::optional<bool>& flag, std::string_view name) {
  return flag.value_or(false) ? std::string(name) : std::string();
}

bool losses_are_live(const ModuleSample& m) { return m.management.starts_with("SFF-8472"); }

std::vector<std::string> loss_words(const ModuleLane& lane) {
  return {named(lane.rx_los, "Rx LOS"), named(lane.rx_lol, "Rx LOL"),     named(lane.tx_los, "Tx LOS"),
          named(lane.tx_lol, "Tx LOL"), named(lane.tx_fault, "Tx fault"), named(lane.tx_eq_fault, "equalizer fault")};
}

namespace {

/// A line for each run of lanes with the same words; "" says nothing of a lane.
std::string lane_lines(std::string_view name, const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t first = 0, end = 0; first < words.size(); first = end) {
    for (end = first + 1; end < words.size() && words[end] == words[first];) ++end;
    if (words[first].empty()) continue;
    const bool one = end == first + 1;
    out += fmt::format("    {} {}: {}\n", name,
                       one ? fmt::format("lane {}", end) : fmt::format("lanes {} to {}", first + 1, end), words[first]);
  }
  return out;
}

std::string media_output(const ModuleLane& lane) {
  if (lane.tx_disabled.value_or(false)) return "Tx off by host";
  return lane.tx_output_valid == false ? "sends no valid signal to the fibre" : "";
}

/// A data path that is not up sends nothing to the host either.
std::string host_output(const ModuleHostLane& lane) {
  const bool works = lane.data_path_state.empty() || lane.data_path_state == "Activated";
  if (!lane.in_use.value_or(true)) return {};
  if (!works)
    return "data path " + lane.data_path_state + (lane.deinit_requested.value_or(false) ? ", as the host asked" : "");
  if (lane.rx_output_disabled.value_or(false)) return "its output is off by host";
  return lane.rx_output_valid == false ? "sends no valid signal to the host" : "";
}

std::string host_words(const ModuleHostLane& lane) {
  const bool refused = lane.config_status.starts_with("Rejected");
  return join({host_output(lane), refused ? "refused its configuration (" + lane.config_status + ")" : ""}, ", ");
}

}  // namespace

std::string lane_states(const ModuleSample& m, const TextStyle& style) {
  std::vector<std::string> media, host;
  for (const ModuleLane& lane : m.lanes)
    media.push_back(join({losses_are_live(m) ? join(loss_words(lane), ", ") : "", media_output(lane)}, ", "));
  for (const ModuleHostLane& lane : m.host_lanes) {
    host.push_back(host_words(lane));
  }
  const std::string out = lane_lines("media", media) + lane_lines("host", host);
  return out.empty() ? out : "\n" + paint_bold("  Lanes now", style) + "\n" + out;
}

}  // namespace linkhealth
