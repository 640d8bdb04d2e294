#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "cli/fleet.h"
#include "diagnosis/faults.h"
#include "exporters/text/text_layout.h"
#include "model/json/json.h"

namespace linkhealth::cli {

namespace {

constexpr std::array kHealths = {"healthy", "at_risk", "degraded", "down", "unknown", "exempt"};

/// "1.2 Tb/s", "400 Gb/s"; "" if none.
std::string format_bandwidth(double bytes_per_s) {
  const double gigabits = bytes_per_s * 8 / 1e9;
  if (gigabits < 0.05) return "";
  return gigabits >= 1000 ? fmt::format("{:.1f} Tb/s", gigabits / 1000)
                          : fmt::format("{:.0f} Gb/s", gigabits);
}

/// "rack r1 U 4", or "" if it has none of these labels.
std::string format_place(const FleetFault& fault, std::initializer_list<std::string_view> labels,
                         std::string_view separator) {
  std::vector<std::string> parts;
  for (const std::string_view label : labels)
    if (!fault.label(label).empty())
      parts.push_back(fmt::format("{} {}", label == "u" ? "U" : label, fault.label(label)));
  return join_parts(parts, separator);
}

std::string format_peer(const FleetFault& fault) {
  return join_parts(
      {std::string(fault.label("peer_system")), std::string(fault.label("peer_port"))}, " ");
}

std::string format_age(const FleetFault& fault, WallTime now) {
  if (!fault.opened_at || *fault.opened_at > now) return "";
  return format_duration(now - *fault.opened_at);
}

Health colour_of(const FleetFault& fault) {
  return fault.label("severity") == "critical"  ? Health::kDown
         : fault.label("severity") == "warning" ? Health::kDegraded
                                                : Health::kHealthy;
}

std::string summary(const FleetView& view) {
  std::vector<std::string> counts;
  for (const char* health : kHealths)
    if (const auto count = view.links.count(health); count > 0)
      counts.push_back(fmt::format("{} {}", count, format_name(health)));
  const std::string lost = format_bandwidth(view.lost_bytes_per_s);
  std::string text = fmt::format("{}, {}: {}; {}", count_of(view.nodes, "node"),
                                 count_of(view.links.all(), "link"), join_parts(counts, ", "),
                                 lost.empty() ? "no bandwidth lost" : lost + " lost");
  return view.silent_nodes == 0
             ? text
             : text + "; " + count_of(view.silent_nodes, "node") + " without an answer";
}

/// Faults per shared cause.
std::map<std::string, std::size_t> shared_causes(const FleetView& view) {
  std::map<std::string, std::size_t> causes;
  for (const FleetFault& fault : view.faults)
    if (!fault.shared_cause.empty()) ++causes[fault.shared_cause];
  return causes;
}

using Rows = std::vector<std::vector<std::string>>;

/// "2 more faults: --limit 12"; "" if all are shown.
std::string more_faults(const FleetView& view, std::string_view words, std::string_view end) {
  const std::uint64_t more = view.faults_total - view.faults.size();
  return view.faults_total <= view.faults.size()
             ? ""
             : fmt::format("\n{}{}: --limit {}{}\n", count_of(more, "more fault"), words,
                           view.faults_total, end);
}

/// `rows`, titles first; line i + 1 is in colour `colours[i]`.
std::string table(Rows rows, const std::vector<Health>& colours, const TextStyle& style) {
  const auto lines = align_columns(std::move(rows), 2, usable_width(style), style.ascii);
  std::string text = paint_faint(lines[0], style) + "\n";
  for (std::size_t i = 1; i < lines.size(); ++i)
    text += paint_health(lines[i], colours[i - 1], style) + "\n";
  return text;
}

std::string groups_text(const FleetView& view, const FleetOptions& options,
                        const TextStyle& style) {
  if (view.groups.empty())
    return fmt::format("No link has the label {} (deploy/README.md: where it comes from).\n",
                       options.by);
  std::string heading = options.by;
  std::ranges::transform(heading, heading.begin(), [](unsigned char c) { return std::toupper(c); });
  Rows rows = {{heading, "LINKS", "HEALTHY", "AT RISK", "DEGRADED", "DOWN", "FAULTS"}};
  std::vector<Health> colours;
  for (const FleetGroup& group : view.groups) {
    rows.push_back({group.name, std::to_string(group.all())});
    for (const char* health : {"healthy", "at_risk", "degraded", "down"})
      rows.back().push_back(std::to_string(group.count(health)));
    rows.back().push_back(std::to_string(group.faults));
    colours.push_back(group.count("down") > 0 ? Health::kDown
                      : group.bad() > 0       ? Health::kDegraded
                                              : Health::kHealthy);
  }
  std::string text = table(std::move(rows), colours, style);
  if (view.groups_total > view.groups.size())
    text += fmt::format("{} more: --limit {}\n", view.groups_total - view.groups.size(),
                        view.groups_total);
  return text;
}

std::string first_step(const FleetFault& fault) {
  const std::string_view peer = fault.label("peer_system");
  for (const Fault& known : fault_table())
    if (known.name == fault.label("fault") && to_string(known.end) == fault.label("end") &&
        !known.repair.empty())
      return fill_in(known.repair.front().text, "", peer.empty() ? "the far end" : peer, "");
  return fmt::format("run linkhealth explain {}/{}", fault.label("device"), fault.label("port"));
}

/// Text from the network in Markdown: without control bytes and markup.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : clean_text(text, false)) {
    if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// One entry of the work list.
std::string entry(const FleetFault& fault, WallTime now) {
  const std::string_view u = fault.label("u"), netdev = fault.label("netdev");
  std::string text = fmt::format(
      "- [ ] **{}{}, {}/{}**{}: {} ({} confidence), rank {}\n",
      u.empty() ? "" : "U " + plain(u) + ", ", plain(fault.label("instance")),
      plain(fault.label("device")), plain(fault.label("port")),
      netdev.empty() ? "" : " (" + plain(netdev) + ")", plain(format_name(fault.label("fault"))),
      format_confidence(fault.confidence), fault.rank);
  const auto with = [](std::string_view before, const std::string& words, std::string_view after) {
    return words.empty() ? "" : fmt::format("{}{}{}", before, words, after);
  };
  const std::string module = join_parts(
      {std::string(fault.label("vendor")), std::string(fault.label("part_number"))}, " ");
  const std::string facts = join_parts(
      {with("to ", plain(format_peer(fault)), ""), with("since ", format_age(fault, now), ""),
       with("", format_bandwidth(fault.lost_bytes_per_s), " lost"), plain(module),
       with("serial ", plain(fault.label("serial")), ""), plain(fault.label("connector"))},
      "; ");
  if (!facts.empty()) text += "  " + facts + "\n";
  return text + fmt::format("  First: {}\n  Then, on the node: `linkhealth explain {}/{}`\n",
                            plain(first_step(fault)), clean_text(fault.label("device"), true),
                            clean_text(fault.label("port"), true));
}

OrderedJson links_json(const FleetGroup& group) {
  OrderedJson out;
  for (const char* health : kHealths) out[health] = group.count(health);
  return out;
}

OrderedJson fault_json(const FleetFault& fault) {
  OrderedJson out;
  out["rank"] = fault.rank;
  for (const char* label :
       {"instance", "device", "port", "netdev", "fault", "end", "severity", "peer_system",
        "peer_port", "pod", "row", "rack", "u", "rail", "vendor", "part_number", "serial"})
    if (!fault.label(label).empty()) out[label] = fault.label(label);
  if (!fault.shared_cause.empty()) out["shared_cause"] = fault.shared_cause;
  out["confidence"] = fault.confidence;
  if (fault.opened_at) out["opened_at"] = format_rfc3339(*fault.opened_at);
  out["bandwidth_lost_bytes_per_second"] = fault.lost_bytes_per_s;
  return out;
}

}  // namespace

std::string fleet_text(const FleetView& view, const FleetOptions& options, WallTime now,
                       const TextStyle& style) {
  std::string text = paint_bold(summary(view), style) + "\n\n";
  if (!options.by.empty()) return text + groups_text(view, options, style);
  if (view.faults.empty()) return text + "No open faults.\n";
  Rows rows = {{"LINK", "TO", "SINCE", "LOST", "FAULT", "PLACE"}};
  std::vector<Health> colours;
  for (const FleetFault& fault : view.faults) {
    colours.push_back(colour_of(fault));
    rows.push_back(
        {fmt::format("{} {}/{}", fault.label("instance"), fault.label("device"),
                     fault.label("port")),
         format_peer(fault), format_age(fault, now), format_bandwidth(fault.lost_bytes_per_s),
         fmt::format(
             "{} {} ({})",
             colours.back() == Health::kHealthy ? " " : health_sign(colours.back(), style.ascii),
             format_name(fault.label("fault")), format_confidence(fault.confidence)),
         format_place(fault, {"pod", "row", "rack", "u"}, " ")});
  }
  text += table(std::move(rows), colours, style);
  for (const auto& [name, count] : shared_causes(view))
    text += fmt::format("\n{}: shared cause of {}; check it before single cables.\n",
                        clean_text(name, style.ascii), count_of(count, "fault"));
  return text + more_faults(view, "", ", or --by switch");
}

std::string work_list_text(const FleetView& view, WallTime now) {
  const std::vector<FleetFault> work = in_walking_order(view.faults);
  std::string text = fmt::format("# Work list, {}\n\n{}.\n\n", format_instant(now), summary(view));
  const auto causes = shared_causes(view);
  for (const auto& [name, count] : causes)
    text += fmt::format(
        "* **Shared cause:** {} of the faults are of links of {}; ask its owner "
        "before checking single cables.\n",
        count, plain(name));
  if (!causes.empty()) text += "\n";
  if (work.empty()) return text + "No faults to repair at single links.\n";
  text += fmt::format("{} in walking order; rank 1 of {} is the worst.\n",
                      count_of(work.size(), "fault"), view.faults.size());
  std::string place;
  for (const FleetFault& fault : work) {
    std::string here = plain(format_place(fault, {"pod", "row", "rack"}, ", "));
    if (here.empty()) here = "location unknown";
    if (here != place) text += fmt::format("\n## {}\n\n", place = here);
    text += entry(fault, now);
  }
  return text + more_faults(view, " not on this list", "");
}

std::string fleet_json(const FleetView& view, const FleetOptions& options, WallTime now) {
  OrderedJson json;
  json["schema"] = "linkhealth.fleet/1";
  json["at"] = format_rfc3339(now);
  json["nodes"] = view.nodes;
  json["nodes_silent"] = view.silent_nodes;
  json["links"] = links_json(view.links);
  json["bandwidth_lost_bytes_per_second"] = view.lost_bytes_per_s;
  if (!options.by.empty()) {
    json["by"] = options.by;
    json["groups_total"] = view.groups_total;
    json["groups"] = OrderedJson::array();
    for (const FleetGroup& group : view.groups)
      json["groups"].push_back(
          {{"name", group.name}, {"links", links_json(group)}, {"faults", group.faults}});
  } else {
    json["faults_total"] = view.faults_total;
    json["faults"] = OrderedJson::array();
    for (const FleetFault& fault : options.work_list ? in_walking_order(view.faults) : view.faults)
      json["faults"].push_back(fault_json(fault));
  }
  return format_json(json);
}

}  // namespace linkhealth::cli
