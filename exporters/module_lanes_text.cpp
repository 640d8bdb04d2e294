#include "exporters/module_lanes_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "exporters/module_values_text.h"
#include "exporters/text_layout.h"

namespace linkhealth {

std::string named(const std::optional<bool>& flag, std::string_view name) {
  return flag.value_or(false) ? std::string(name) : std::string();
}

bool losses_are_live(const ModuleSample& m) { return m.management.starts_with("SFF-8472"); }

std::vector<std::string> loss_words(const ModuleLane& lane) {
  return {named(lane.rx_los, "Rx LOS"),     named(lane.rx_lol, "Rx LOL"),
          named(lane.tx_los, "Tx LOS"),     named(lane.tx_lol, "Tx LOL"),
          named(lane.tx_fault, "Tx fault"), named(lane.tx_eq_fault, "equalizer fault")};
}

std::string lane_lines(std::string_view name, const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t first = 0, end = 0; first < words.size(); first = end) {
    for (end = first + 1; end < words.size() && words[end] == words[first];) ++end;
    if (words[first].empty()) continue;
    const bool one = end == first + 1;
    out += fmt::format(
        "    {}{}: {}\n", name,
        one ? fmt::format("lane {}", end) : fmt::format("lanes {} to {}", first + 1, end),
        words[first]);
  }
  return out;
}

namespace {

std::string media_output(const ModuleLane& lane) {
  if (lane.tx_disabled.value_or(false)) return "Tx off by host";
  if (lane.tx_squelched.value_or(false)) return "Tx silenced by host";
  return lane.tx_output_valid == false ? "sends no valid signal to the fibre" : "";
}

bool data_path_works(const ModuleHostLane& lane) {
  return lane.data_path_state.empty() || lane.data_path_state == "Activated";
}

/// A data path that is not up sends nothing to the host either.
std::string host_output(const ModuleHostLane& lane) {
  if (!lane.in_use.value_or(true)) return {};
  if (!data_path_works(lane))
    return "data path " + lane.data_path_state +
           (lane.deinit_requested.value_or(false) ? ", as the host asked" : "");
  if (lane.rx_output_disabled.value_or(false)) return "its output is off by host";
  return lane.rx_output_valid == false ? "sends no valid signal to the host" : "";
}

std::string host_words(const ModuleHostLane& lane) {
  const bool refused = lane.config_status.starts_with("Rejected");
  return join(
      {host_output(lane), refused ? "refused its configuration (" + lane.config_status + ")" : ""},
      ", ");
}

/// The host lanes that feed a media lane; CMIS shares them out in order.
std::span<const ModuleHostLane> host_lanes_of(const ModuleSample& m, std::size_t lane) {
  const std::size_t share =
      std::max<std::size_t>(1, m.host_lanes.size() / std::max<std::size_t>(1, m.lanes.size()));
  const std::size_t begin = std::min(m.host_lanes.size(), lane * share);
  return std::span(m.host_lanes).subspan(begin, std::min(share, m.host_lanes.size() - begin));
}

}  // namespace

std::string why_no_value(const ModuleSample& m, std::size_t lane) {
  const auto host = host_lanes_of(m, lane);
  const auto all = [&](auto is_so) { return !host.empty() && std::ranges::all_of(host, is_so); };
  if (all([](const ModuleHostLane& h) { return h.in_use == false; })) return "not in use";
  if (all([](const ModuleHostLane& h) { return h.in_use == false || !data_path_works(h); }))
    for (const ModuleHostLane& h : host)
      if (!data_path_works(h) && h.in_use.value_or(true)) return "data path " + h.data_path_state;
  // Who imports readings may have some lanes' only.
  if (m.imported_at || m.lanes[lane] != ModuleLane{}) return {};
  return all([](const ModuleHostLane& h) { return h == ModuleHostLane{}; }) ? "not read"
                                                                            : "not there";
}

std::string lane_states(const ModuleSample& m, const TextStyle& style) {
  std::vector<std::string> media, host;
  for (const ModuleLane& lane : m.lanes)
    media.push_back(
        join({losses_are_live(m) ? join(loss_words(lane), ", ") : "", media_output(lane)}, ", "));
  for (const ModuleHostLane& lane : m.host_lanes) {
    host.push_back(host_words(lane));
  }
  const std::string out = lane_lines("media ", media) + lane_lines("host ", host);
  return out.empty() ? out : "\n" + paint_bold("  Lanes now", style) + "\n" + out;
}

}  // namespace linkhealth
