#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "exporters/text/text.h"
#include "exporters/text/text_layout.h"

namespace linkhealth {

namespace {

// The reading of a receiver without light (docs/faults.md, unplugged).
// Minimum width of the verdict; on a narrow terminal other columns are omitted for it.
constexpr std::size_t kVerdictColumns = 38;
constexpr std::string_view kImportMark = "*";

enum Column : std::size_t { kPort, kNetdev, kPeer, kLink, kRx, kBer, kFlaps, kColumns };
constexpr std::array<std::string_view, kColumns> kTitles = {"PORT",   "NETDEV",  "PEER",     "LINK",
                                                            "RX dBm", "PRE-FEC", "FLAPS 24h"};
/// In this order.
constexpr std::array<Column, 5> kOmittedWhenNarrow = {kNetdev, kFlaps, kPeer, kBer, kRx};

std::string link_cell(const PortReport& port, SteadyTime t) {
  const auto& link = port.latest.link;
  if (!link || !link->carrier || !is_link_read(port)) return "?";
  if (!*link->carrier) {
    if (link->admin_up == false) return "admin down";
    if (!port.figures.carrier_since || port.health == Health::kExempt) return "down";
    return "down " + format_duration(t - *port.figures.carrier_since);
  }
  std::string text = link->speed_mbps ? format_speed(*link->speed_mbps) : "up";
  if (!link->fec.empty() && link->fec != "Off") text += " " + link->fec;
  return text;
}

bool is_imported(const PortReport& port) {
  return port.latest.module && port.latest.module->imported_at;
}

/// The lane of the light that the fault is about, from 1; nullopt: of none, or of a laser.
std::optional<std::size_t> faulty_rx_lane(const PortReport& port) {
  if (port.faults.empty() || port.faults.front().lanes.empty()) return std::nullopt;
  for (const Evidence& evidence : port.faults.front().evidence)
    if (evidence.supports && evidence.symptom.starts_with("rx_") &&
        evidence.where.starts_with("lane "))
      return parse_u64(evidence.where.substr(5));
  return std::nullopt;
}

/// Of the lane that the fault is about, else of the worst one.
std::string rx_cell(const PortReport& port) {
  const PortFigures& figures = port.figures;
  std::string text;
  const auto faulty = faulty_rx_lane(port);
  const auto& lanes = port.latest.module ? port.latest.module->lanes : std::vector<ModuleLane>();
  if (figures.worst_rx_power_dbm && faulty && faulty != figures.worst_rx_lane &&
      *faulty <= lanes.size() && *faulty > 0 && lanes[*faulty - 1].rx_power_mw) {
    const auto dbm = dbm_from_mw(*lanes[*faulty - 1].rx_power_mw);
    const std::string mark = is_imported(port) ? fmt::format(" {}", kImportMark) : "";
    return dbm && *dbm > kReadsDarkDbm ? fmt::format("{:.1f} lane {}{}", *dbm, *faulty, mark)
                                       : fmt::format("no light lane {}{}", *faulty, mark);
  }
  if (!figures.worst_rx_power_dbm) {
    const auto& module = port.latest.module;
    text = module && module->present && module->kind == "dac" ? "copper" : "-";
  } else if (*figures.worst_rx_power_dbm <= kReadsDarkDbm) {
    const bool others = std::ranges::any_of(lanes, [](const ModuleLane& lane) {
      return lane.rx_power_mw &&
             dbm_from_mw(*lane.rx_power_mw).value_or(kReadsDarkDbm) > kReadsDarkDbm;
    });
    text = "no light";
    if (others && figures.worst_rx_lane) text += fmt::format(" lane {}", *figures.worst_rx_lane);
  } else {
    text = format_quantity_value(*figures.worst_rx_power_dbm, "dB");
    if (figures.worst_rx_lane && is_problem(port))
      text += fmt::format(" lane {}", *figures.worst_rx_lane);
  }
  return is_imported(port) ? fmt::format("{} {}", text, kImportMark) : text;
}

/// "maintenance until 2026-11-20 14:00Z (ann: new jumper)"
std::string maintenance_cell(const Maintenance& work) {
  const std::string until =
      work.until ? " until " + format_instant(*work.until).substr(0, 16) + "Z" : "";
  return fmt::format("maintenance{} ({}{}{})", until, work.by, work.reason.empty() ? "" : ": ",
                     work.reason);
}

/// "dirty connector (83%), clean both ends …": the fault, its confidence, the first repair step.
std::string verdict_cell(const PortReport& port) {
  if (port.health == Health::kExempt)
    return port.exempt.empty() ? "exempt" : "exempt: " + port.exempt;
  if (port.maintenance) {
    std::string text =
        format_name(to_string(port.health)) + ", " + maintenance_cell(*port.maintenance);
    if (!port.faults.empty()) text += "; " + format_name(port.faults.front().fault);
    return text;
  }
  if (port.faults.empty() && port.health == Health::kDown && !port.checks.empty())
    return "down, cause not determined yet; " + port.checks.front();
  if (port.faults.empty()) return format_health(port);
  const FaultReport& fault = port.faults.front();
  if (!is_told_on(fault, port.port))
    return fmt::format("{}, with {}", format_name(fault.fault), fault.ports.front());
  std::string text = format_headline(fault);
  if (fault.state != FaultState::kOpen) text += fmt::format(", {}", format_state(fault.state));
  if (fault.state == FaultState::kAcknowledged && fault.acknowledged)
    text += " by " + fault.acknowledged->by;
  if (!fault.repair.empty() && fault.state != FaultState::kProving)
    text += ", " + fault.repair.front();
  if (port.faults.size() > 1) text += fmt::format("; and {} more", port.faults.size() - 1);
  return text;
}

/// A name that is only in the plan is marked, because no other source confirms it.
std::string peer_cell(const PortReport& port) {
  if (port.peer.empty()) return "-";
  const auto& peer = port.latest.peer;
  const bool planned =
      !peer || peer->source == "plan" || (peer->system.empty() && peer->port.empty());
  return planned ? port.peer + " (plan)" : port.peer;
}

std::string cell(const PortReport& port, Column column, SteadyTime t) {
  switch (column) {
    case kPort:
      return port.port;
    case kNetdev:
      return port.latest.id.netdev.empty() ? "-" : port.latest.id.netdev;
    case kPeer:
      return peer_cell(port);
    case kLink:
      return link_cell(port, t);
    case kRx:
      return rx_cell(port);
    case kBer:
      return port.figures.pre_fec_ber ? format_ber(*port.figures.pre_fec_ber) : "-";
    case kFlaps:
      return port.health == Health::kExempt ? "-"
                                            : std::to_string(port.figures.involuntary_downs_24h);
    default:
      return "";
  }
}

using Ports = std::vector<const PortReport*>;
using Rows = std::vector<std::vector<std::string>>;

/// The cells of `columns`, with titles. All lines have the same width.
std::vector<std::string> lines_of(const Ports& ports, const std::vector<Column>& columns,
                                  SteadyTime t, bool ascii) {
  Rows rows(1);
  for (const Column column : columns) rows[0].emplace_back(kTitles[column]);
  for (const PortReport* port : ports) {
    auto& row = rows.emplace_back();
    for (const Column column : columns) row.push_back(cell(*port, column, t));
  }
  auto lines = align_columns(std::move(rows), 2, std::string::npos, ascii);
  std::size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, display_width(line));
  for (std::string& line : lines) line = pad_right(line, width) + "  ";
  return lines;
}

void add_table(StatusLines& out, SteadyTime t, const TextStyle& style, bool wide) {
  const Ports& ports = out.ports;
  const std::size_t width = wide ? std::string::npos : usable_width(style);
  std::vector<std::string> verdicts;
  std::size_t wanted = 0;
  std::map<std::string, PortKey> noted;
  for (const PortReport* port : ports) {
    std::string verdict = verdict_cell(*port);
    // A note about the whole node is shown once, at its first port.
    if (port->faults.empty() && !port->note.empty() && !port->maintenance)
      if (const auto [first, fresh] = noted.emplace(port->note, port->port); !fresh)
        verdict = format_name(to_string(port->health)) + ": see " + first->second;
    verdicts.push_back(clean_text(verdict, style.ascii));
    wanted = std::max(wanted, display_width(verdicts.back()) + 3);
  }
  wanted = std::min(wanted, kVerdictColumns);
  std::vector<Column> columns = {kPort, kNetdev, kPeer, kLink, kRx, kBer, kFlaps};
  auto lines = lines_of(ports, columns, t, style.ascii);
  for (const Column column : kOmittedWhenNarrow) {
    if (display_width(lines[0]) + wanted <= width) break;
    std::erase(columns, column);
    lines = lines_of(ports, columns, t, style.ascii);
  }
  out.titles = paint_faint(lines[0] + "HEALTH", style);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Health health = ports[i]->health;
    const std::string sign = health_sign(health, style.ascii) + " ";
    const std::size_t indent = display_width(lines[i + 1]) + display_width(sign);
    std::string head = lines[i + 1];
    std::string mark = sign;
    auto& row = out.rows.emplace_back();
    for (const std::string& line : wrap(verdicts[i], std::max<std::size_t>(width - indent, 12))) {
      row.push_back(head + paint_health(mark + line, health, style));
      head = std::string(indent, ' ');
      mark.clear();
    }
  }
}

std::string headline(const Report& report, const TextStyle& style, const StatusView& view) {
  const std::string node = clean_text(report.node, style.ascii);
  std::string text = paragraph(paint_bold(node, style) + "   ", display_width(node) + 3,
                               join_parts({format_ports(report), format_sight(view.sight)}, "; "),
                               usable_width(style));
  const std::string age =
      join_parts({view.watching ? "watching for " + format_duration(*view.watching) : "",
                  view.now ? "last sample " + format_duration(*view.now - report.at) + " ago" : ""},
                 ", ");
  return age.empty() ? text : text + "  " + paint_faint(age, style) + "\n";
}

/// One line for each source and reason, so that ten ports with one cause share a line.
std::string unreadable_sources(const Report& report, const TextStyle& style) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> ports_of;
  for (const Gap& gap : report.gaps) ports_of[{gap.probe, gap.reason}];
  for (const PortReport& port : report.ports)
    if (port.health != Health::kExempt)
      for (const Gap& gap : port.gaps) ports_of[{gap.probe, gap.reason}].push_back(port.port);
  if (ports_of.empty()) return {};
  std::string text = "\n  Unreadable\n";
  for (const auto& [what, ports] : ports_of) {
    std::string line = fmt::format("{}: {}", what.first, what.second);
    if (!ports.empty()) line += " (" + ports.front();
    if (ports.size() > 1) line += " and " + count_of(ports.size() - 1, "more port");
    if (!ports.empty()) line += ")";
    text += paragraph("    ? ", 6, clean_text(line, style.ascii), usable_width(style));
  }
  return text;
}

/// The footnote of kImportMark, with the age of the oldest reading.
std::string import_note(const Ports& shown, WallTime now, const TextStyle& style) {
  std::optional<WallTime> oldest;
  Ports imported;
  for (const PortReport* port : shown) {
    if (!is_imported(*port)) continue;
    imported.push_back(port);
    oldest = std::min(oldest.value_or(WallTime::max()), *port->latest.module->imported_at);
  }
  if (imported.empty()) return {};
  std::string line = "imported module reading";
  if (now >= *oldest)
    line += fmt::format(", {}{} old", imported.size() > 1 ? "up to " : "",
                        format_duration(now - *oldest));
  line += ": " + imported.front()->port;
  if (imported.size() > 1) line += " and " + count_of(imported.size() - 1, "more port");
  return "\n" + paragraph(fmt::format("  {} ", kImportMark), 4, clean_text(line, style.ascii),
                          usable_width(style));
}

}  // namespace

std::string format_ports(const Report& report) {
  std::vector<std::string> parts;
  std::size_t partial = 0, noticed = 0;
  for (const PortReport& port : report.ports) {
    if (port.health != Health::kHealthy) continue;
    if (!port.partial.empty()) ++partial;
    if (!port.faults.empty()) ++noticed;
  }
  const std::string limits =
      join_parts({partial > 0 ? fmt::format("{} partial", partial) : "",
                  noticed > 0 ? fmt::format("{} with a notice", noticed) : ""},
                 ", ");
  for (const Health health : {Health::kHealthy, Health::kAtRisk, Health::kDegraded, Health::kDown,
                              Health::kUnknown, Health::kExempt})
    if (const auto number = std::ranges::count(report.ports, health, &PortReport::health))
      parts.push_back(
          fmt::format("{} {}{}", number, format_name(to_string(health)),
                      health == Health::kHealthy && !limits.empty() ? " (" + limits + ")" : ""));
  std::string text = count_of(report.ports.size(), "port");
  if (!parts.empty()) text += ": " + join_parts(parts, ", ");
  const auto worked_on = std::ranges::count_if(
      report.ports, [](const PortReport& port) { return port.maintenance.has_value(); });
  return worked_on > 0 ? fmt::format("{}; {} in maintenance", text, worked_on) : text;
}

std::string format_impact(const Impact& impact) {
  const auto part = [](double mbps, std::string_view word) {
    return mbps > 0 ? fmt::format("{:g} Gb/s {}", mbps / 1000, word) : std::string();
  };
  std::string text = join_parts(
      {part(impact.bandwidth_lost_mbps, "lost"), part(impact.bandwidth_at_risk_mbps, "at risk")},
      ", ");
  text += fmt::format(": {:.0f}% of the node's bandwidth", 100 * impact.share);
  if (impact.rail_share)
    text += fmt::format(", {:.0f}% of it on rail {}", 100 * *impact.rail_share, impact.rail);
  return text;
}

std::string format_sight(const std::optional<SightCount>& sight) {
  if (!sight || sight->unreadable == 0) return "";
  return fmt::format("{} of {} sources unreadable, see linkhealth doctor", sight->unreadable,
                     sight->sources);
}

bool is_problem(const PortReport& port) {
  return port.health != Health::kHealthy && port.health != Health::kExempt && !port.maintenance;
}

std::size_t count_problems(const Report& report) {
  return static_cast<std::size_t>(std::ranges::count_if(report.ports, is_problem));
}

std::vector<const PortReport*> worst_first(const Report& report) {
  constexpr std::array kWorstFirst{Health::kDown,    Health::kDegraded, Health::kAtRisk,
                                   Health::kUnknown, Health::kHealthy,  Health::kExempt};
  Ports ports;
  for (const PortReport& port : report.ports) ports.push_back(&port);
  // Acknowledged faults, and those that another port reports, come last.
  const auto rank = [&](const PortReport* port) {
    const bool handled =
        port->maintenance ||
        (!port->faults.empty() && (port->faults.front().state == FaultState::kAcknowledged ||
                                   !is_told_on(port->faults.front(), port->port)));
    return std::tuple(std::ranges::find(kWorstFirst, port->health) - kWorstFirst.begin(), handled,
                      port->faults.empty() ? 0.0 : -port->faults.front().confidence);
  };
  std::ranges::stable_sort(ports, {}, rank);
  return ports;
}

StatusLines status_lines(const Report& report, const TextStyle& style, const StatusView& view) {
  StatusLines out;
  out.ports = worst_first(report);
  if (!view.worst_first) std::ranges::sort(out.ports);  // the report's own order
  if (view.problems_only)
    std::erase_if(out.ports, [](const PortReport* port) { return !is_problem(*port); });
  std::string& text = out.head;
  text = headline(report, style, view);
  if (report.impact)
    text += paragraph("  Impact: ", 10, format_impact(*report.impact), usable_width(style));
  if (report.dry_run == true) text += "  dry run: diagnoses are shown, nothing is announced\n";
  if (!out.ports.empty())
    add_table(out, report.t, style, view.wide);
  else
    text += report.ports.empty() ? "\n  No port found.\n" : "\n  No port needs attention.\n";
  out.foot = import_note(out.ports, view.now.value_or(report.at), style) +
             unreadable_sources(report, style);
  return out;
}

std::string status_text(const Report& report, const TextStyle& style, const StatusView& view) {
  const StatusLines lines = status_lines(report, style, view);
  std::string text = lines.head;
  if (!lines.ports.empty()) text += "\n" + lines.titles + "\n";
  for (const auto& row : lines.rows)
    for (const std::string& line : row) text += line + "\n";
  return text + lines.foot;
}

}  // namespace linkhealth
