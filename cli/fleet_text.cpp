#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "cli/fleet.h"
#include "diagnosis/faults.h"
#include "exporters/text_layout.h"
#include "model/json.h"

namespace linkhealth::cli {

namespace {

constexpr std::array kHealths = {"healthy", "at_risk", "degraded", "down", "unknown", "exempt"};

/// "1.2 Tb/s", "400 Gb/s"; "" for none.
std::string bandwidth_words(double bytes_per_s) {
  const double gigabits = bytes_per_s * 8 / 1e9;
  if (gigabits < 0.05) return "";
  return gigabits >= 1000 ? fmt::format("{:.1f} Tb/s", gigabits / 1000)
                          : fmt::format("{:.0f} Gb/s", gigabits);
}

std::string place_words(const FleetFault& fault) {
  std::string text;
  const auto add = [&](std::string_view word, const std::string& value) {
    if (!value.empty())
      text +=
          fmt::format("{}{}{}{}", text.empty() ? "" : " ", word, word.empty() ? "" : " ", value);
  };
  add("pod", fault.pod), add("row", fault.row), add("rack", fault.rack), add("U", fault.u);
  return text;
}

std::string to_words(const FleetFault& fault) {
  return fault.peer_system + (fault.peer_port.empty() ? "" : " " + fault.peer_port);
}

std::string since_words(const FleetFault& fault, WallTime now) {
  if (!fault.opened_at || *fault.opened_at > now) return "";
  return duration_words(now - *fault.opened_at);
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

std::string summary(const FleetView& view) {
  std::string text = fmt::format("{} nodes, {} links:", view.nodes, view.links.all());
  for (const char* health : kHealths)
    if (const auto count = view.links.count(health); count > 0)
      text += fmt::format(" {} {},", count, name_words(health));
  text.back() = ';';
  const std::string lost = bandwidth_words(view.lost_bytes_per_s);
  text += lost.empty() ? " no bandwidth lost" : " " + lost + " lost";
  if (view.silent_nodes > 0) text += fmt::format("; {} nodes do not answer", view.silent_nodes);
  return text;
}

using Cells = std::vector<std::string>;

/// Columns as wide as their widest cell; the last but one gives way when the screen is narrow.
std::string table(const std::vector<Cells>& rows, std::size_t width_columns, bool ascii,
                  const std::function<std::string(std::size_t, std::string)>& paint) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Cells& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
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

std::string groups_text(const FleetView& view, const FleetOptions& options,
                        const TextStyle& style) {
  std::string heading = options.by;
  std::transform(heading.begin(), heading.end(), heading.begin(),
                 [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  std::vector<Cells> rows = {
      {heading, "LINKS", "HEALTHY", "AT RISK", "DEGRADED", "DOWN", "FAULTS"}};
  for (const FleetGroup& group : view.groups)
    rows.push_back({clean_text(group.name, style.ascii), std::to_string(group.all()),
                    std::to_string(group.count("healthy")), std::to_string(group.count("at_risk")),
                    std::to_string(group.count("degraded")), std::to_string(group.count("down")),
                    std::to_string(group.faults)});
  if (rows.size() == 1)
    return "No link has the label " + options.by +
           " (deploy/README.md says where it comes from).\n";
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
    text += fmt::format("{} more: --limit {}\n", view.groups_total - view.groups.size(),
                        view.groups_total);
  return text;
}

std::string first_step(const FleetFault& fault) {
  for (const Fault& known : fault_table())
    if (known.name == fault.fault && to_string(known.end) == fault.end && !known.repair.empty()) {
      std::string step(known.repair.front().text);
      const auto replace = [&step](std::string_view what, std::string_view by) {
        for (auto at = step.find(what); at != std::string::npos; at = step.find(what))
          step.replace(at, what.size(), by);
      };
      replace("{lane}", ""), replace(" ({serial})", ""), replace("{serial}", "");
      replace("{peer}", fault.peer_system.empty() ? "the far end" : fault.peer_system),
          replace("{far}", "");
      return step;
    }
  return "run linkhealth explain " + fault.device + "/" + fault.port;
}

/// Text from the network in Markdown: no control bytes, nothing that Markdown would take as its
/// own.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : clean_text(text, false)) {
    if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string fleet_text(const FleetView& view, const FleetOptions& options, WallTime now,
                       const TextStyle& style) {
  std::string text = paint_bold(summary(view), style) + "\n\n";
  if (!options.by.empty()) return text + groups_text(view, options, style);
  if (view.faults.empty()) return text + "No fault wants work.\n";
  std::vector<Cells> rows = {{"LINK", "TO", "SINCE", "LOST", "FAULT", "PLACE"}};
  for (const FleetFault& fault : view.faults) {
    const auto clean = [&](const std::string& cell) { return clean_text(cell, style.ascii); };
    rows.push_back({clean(fault.instance + " " + fault.device + "/" + fault.port),
                    clean(to_words(fault)), since_words(fault, now),
                    bandwidth_words(fault.lost_bytes_per_s),
                    clean(verdict_words(fault, style.ascii)), clean(place_words(fault))});
  }
  text += table(rows, static_cast<std::size_t>(style.width_columns), style.ascii,
                [&](std::size_t number, const std::string& line) {
                  return number == 0 ? paint_faint(line, style)
                                     : paint_health(line, worst_of(view.faults[number - 1]), style);
                });
  std::map<std::string, std::size_t> shared;
  for (const FleetFault& fault : view.faults)
    if (!fault.shared.empty()) ++shared[fault.shared];
  for (const auto& [name, count] : shared)
    text += fmt::format("\n{}: {} of these share it; look there first, not at single cables.\n",
                        clean_text(name, style.ascii), count);
  if (view.faults_total > view.faults.size())
    text += fmt::format("\n{} more faults: --limit {}, or --by switch\n",
                        view.faults_total - view.faults.size(), view.faults_total);
  return text;
}

std::string work_list_text(const FleetView& view, const FleetOptions& options, WallTime now) {
  const std::vector<FleetFault> work = in_walking_order(view.faults);
  std::string text = fmt::format("# Work list, {}\n\n{}.\n\n", instant_words(now), summary(view));
  std::map<std::string, std::size_t> shared;
  for (const FleetFault& fault : view.faults)
    if (!fault.shared.empty()) ++shared[fault.shared];
  for (const auto& [name, count] : shared)
    text += fmt::format(
        "* **Not single cables:** {} of the links with faults share {}; ask who looks after it "
        "first.\n",
        count, plain(name));
  if (!shared.empty()) text += "\n";
  if (work.empty()) return text + "No link wants work at its place.\n";
  text += fmt::format("{} to do, in the order of one round; number 1 of {} costs most.\n",
                      work.size(), view.faults.size());
  std::string place;
  for (const FleetFault& fault : work) {
    std::string here;
    for (const auto& [word, value] :
         {std::pair("pod", &fault.pod), {"row", &fault.row}, {"rack", &fault.rack}})
      if (!value->empty())
        here += fmt::format("{}{} {}", here.empty() ? "" : ", ", word, plain(*value));
    if (here.empty()) here = "place not known";
    if (here != place) text += fmt::format("\n## {}\n\n", place = here);
    text +=
        fmt::format("- [ ] **{}{}, {}/{}**{}: {} ({} sure), cost number {}\n",
                    fault.u.empty() ? "" : "U " + plain(fault.u) + ", ", plain(fault.instance),
                    plain(fault.device), plain(fault.port),
                    fault.netdev.empty() ? "" : " (" + plain(fault.netdev) + ")",
                    plain(name_words(fault.fault)), confidence_words(fault.confidence), fault.rank);
    std::string facts;
    const auto add = [&facts](const std::string& words) {
      if (!words.empty()) facts += (facts.empty() ? "" : "; ") + words;
    };
    add(to_words(fault).empty() ? "" : "to " + plain(to_words(fault)));
    add(since_words(fault, now).empty() ? "" : "since " + since_words(fault, now));
    add(bandwidth_words(fault.lost_bytes_per_s).empty()
            ? ""
            : bandwidth_words(fault.lost_bytes_per_s) + " lost");
    add(fault.part_number.empty()
            ? ""
            : plain(fault.vendor + " " + fault.part_number +
                    (fault.serial.empty() ? "" : ", serial " + fault.serial)));
    add(plain(fault.connector));
    if (!facts.empty()) text += "  " + facts + "\n";
    text += "  First: " + plain(first_step(fault)) + "\n";
    text += fmt::format("  Then, on the node: `linkhealth explain {}/{}`\n",
                        clean_text(fault.device, true), clean_text(fault.port, true));
  }
  if (view.faults_total > view.faults.size())
    text += fmt::format("\n{} more are not on this list: --limit {}\n",
                        view.faults_total - view.faults.size(), view.faults_total);
  (void)options;
  return text;
}

namespace {

OrderedJson links_json(const FleetGroup& group) {
  OrderedJson out;
  for (const char* health : kHealths) out[health] = group.count(health);
  return out;
}

OrderedJson fault_json(const FleetFault& fault) {
  OrderedJson out;
  out["rank"] = fault.rank;
  for (const auto& [key, value] : {std::pair("instance", &fault.instance),
                                   {"device", &fault.device},
                                   {"port", &fault.port},
                                   {"netdev", &fault.netdev},
                                   {"fault", &fault.fault},
                                   {"end", &fault.end},
                                   {"severity", &fault.severity},
                                   {"peer_system", &fault.peer_system},
                                   {"peer_port", &fault.peer_port},
                                   {"pod", &fault.pod},
                                   {"row", &fault.row},
                                   {"rack", &fault.rack},
                                   {"u", &fault.u},
                                   {"rail", &fault.rail},
                                   {"vendor", &fault.vendor},
                                   {"part_number", &fault.part_number},
                                   {"serial", &fault.serial},
                                   {"shared_cause", &fault.shared}})
    if (!value->empty()) out[key] = *value;
  out["confidence"] = fault.confidence;
  if (fault.opened_at) out["opened_at"] = format_rfc3339(*fault.opened_at);
  out["bandwidth_lost_bytes_per_second"] = fault.lost_bytes_per_s;
  return out;
}

}  // namespace

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
  return format_json(json) + "\n";
}

}  // namespace linkhealth::cli
