#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "cli/fleet_words.h"
#include "exporters/text_layout.h"

namespace linkhealth::cli {

std::string bandwidth_words(double bytes_per_s) {
  const double gigabits = bytes_per_s * 8 / 1e9;
  if (gigabits < 0.05) return "";
  return gigabits >= 1000 ? fmt::format("{:.1f} Tb/s", gigabits / 1000) : fmt::format("{:.0f} Gb/s", gigabits);
}

std::string to_words(const FleetFault& fault) {
  return fault.peer_system + (fault.peer_port.empty() ? "" : " " + fault.peer_port);
}

std::string since_words(const FleetFault& fault, WallTime now) {
  if (!fault.opened_at || *fault.opened_at > now) return "";
  return duration_words(now - *fault.opened_at);
}

std::string fleet_summary(const FleetView& view) {
  std::string text = fmt::format("{} nodes, {} links:", view.nodes, view.links.all());
  for (const char* health : kHealthWords)
    if (const auto count = view.links.count(health); count > 0)
      text += fmt::format(" {} {},", count, name_words(health));
  text.back() = ';';
  const std::string lost = bandwidth_words(view.lost_bytes_per_s);
  text += lost.empty() ? " no bandwidth lost" : " " + lost + " lost";
  if (view.silent_nodes > 0) text += fmt::format("; {} nodes do not answer", view.silent_nodes);
  return text;
}

std::map<std::string, std::size_t> shared_causes(const FleetView& view) {
  std::map<std::string, std::size_t> shared;
  for (const FleetFault& fault : view.faults)
    if (!fault.shared.empty()) ++shared[fault.shared];
  return shared;
}

namespace {

std::string place_words(const FleetFault& fault) {
  std::string text;
  const auto add = [&](std::string_view word, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", word, word.empty() ? "" : " ", value);
  };
  add("pod", fault.pod), add("row", fault.row), add("rack", fault.rack), add("U", fault.u);
  return text;
}

std::string verdict_words(const FleetFault& fault, bool ascii) {
  const char* sign = fault.severity == "critical"  ? (ascii ? "X " : "✖ ")
                     : fault.severity == "warning" ? (ascii ? "! " : "▲ ")
                                                   : "  ";
  return sign + name_words(fault.fault) + " (" + confidence_words(fault.confidence) + ")";
}

Health worst_of(const FleetFault& fault) {
  return fault.severity == "critical"  ? Health::kDown
         : fault.severity == "warning" ? Health::kDegraded
                                       : Health::kHealthy;
}

using Cells = std::vector<std::string>;

/// Columns as wide as their widest cell; the last but one gives way when the screen is narrow.
std::string table(const std::vector<Cells>& rows, std::size_t width_columns, bool ascii,
                  const std::function<std::string(std::size_t, std::string)>& paint) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Cells& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  std::size_t all = 2;
  for (const std::size_t width : widths) all += width + 2;
  constexpr std::size_t kNarrowest = 12;
  for (std::size_t i = widths.size(); i-- > 1 && all > width_columns;) {
    const std::size_t spare = widths[i] > kNarrowest ? widths[i] - kNarrowest : 0;
    const std::size_t less = std::min(spare, all - width_columns);
    widths[i] -= less;
    all -= less;
  }
  std::string text;
  for (std::size_t number = 0; number < rows.size(); ++number) {
    std::string line = " ";
    for (std::size_t i = 0; i < widths.size(); ++i)
      line += " " + pad_right(cut(rows[number][i], widths[i], ascii), widths[i]) + " ";
    line.resize(line.find_last_not_of(' ') + 1);
    text += paint(number, line) + "\n";
  }
  return text;
}

std::string groups_text(const FleetView& view, const FleetOptions& options, const TextStyle& style) {
  std::string heading = options.by;
  std::transform(heading.begin(), heading.end(), heading.begin(),
                 [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  std::vector<Cells> rows = {{heading, "LINKS", "HEALTHY", "AT RISK", "DEGRADED", "DOWN", "FAULTS"}};
  for (const FleetGroup& group : view.groups)
    rows.push_back({clean_text(group.name, style.ascii), std::to_string(group.all()),
                    std::to_string(group.count("healthy")), std::to_string(group.count("at_risk")),
                    std::to_string(group.count("degraded")), std::to_string(group.count("down")),
                    std::to_string(group.faults)});
  if (rows.size() == 1)
    return "No link has the label " + options.by + " (deploy/README.md says where it comes from).\n";
  std::string text = table(rows, static_cast<std::size_t>(style.width_columns), style.ascii,
                           [&](std::size_t number, const std::string& line) {
                             if (number == 0) return paint_faint(line, style);
                             const FleetGroup& group = view.groups[number - 1];
                             return paint_health(line,
                                                 group.count("down") > 0 ? Health::kDown
                                                 : group.bad() > 0       ? Health::kDegraded
                                                                         : Health::kHealthy,
                                                 style);
                           });
  if (view.groups_total > view.groups.size())
    text += fmt::format("{} more: --limit {}\n", view.groups_total - view.groups.size(), view.groups_total);
  return text;
}

}  // namespace

std::string fleet_text(const FleetView& view, const FleetOptions& options, WallTime now, const TextStyle& style) {
  std::string text = paint_bold(fleet_summary(view), style) + "\n\n";
  if (!options.by.empty()) return text + groups_text(view, options, style);
  if (view.faults.empty()) return text + "No fault wants work.\n";
  std::vector<Cells> rows = {{"LINK", "TO", "SINCE", "LOST", "FAULT", "PLACE"}};
  for (const FleetFault& fault : view.faults) {
    const auto clean = [&](const std::string& cell) { return clean_text(cell, style.ascii); };
    rows.push_back({clean(fault.instance + " " + fault.device + "/" + fault.port), clean(to_words(fault)),
                    since_words(fault, now), bandwidth_words(fault.lost_bytes_per_s),
                    clean(verdict_words(fault, style.ascii)), clean(place_words(fault))});
  }
  text += table(rows, static_cast<std::size_t>(style.width_columns), style.ascii,
                [&](std::size_t number, const std::string& line) {
                  return number == 0 ? paint_faint(line, style)
                                     : paint_health(line, worst_of(view.faults[number - 1]), style);
                });
  for (const auto& [name, count] : shared_causes(view))
    text += fmt::format("\n{}: {} of these share it; look there first, not at single cables.\n",
                        clean_text(name, style.ascii), count);
  if (view.faults_total > view.faults.size())
    text += fmt::format("\n{} more faults: --limit {}, or --by switch\n", view.faults_total - view.faults.size(),
                        view.faults_total);
  return text;
}

}  // namespace linkhealth::cli
