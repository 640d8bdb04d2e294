#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "exporters/text.h"
#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

constexpr double kNoLightDbm =
    -30;  // the floor of a receiver without light (docs/faults.md, unplugged)
constexpr std::size_t kVerdictColumns = 38;
constexpr std::size_t kVerdictLines = 2;

enum Column : std::size_t { kPort, kNetdev, kPeer, kLink, kRx, kBer, kFlaps, kColumns };
constexpr std::array<std::string_view, kColumns> kTitles = {
    "PORT", "NETDEV", "PEER", "LINK", "RX dBm (worst lane)", "PRE-FEC BER", "FLAPS 24h"};
constexpr std::array<std::string_view, kColumns> kShortTitles = {
    "PORT", "NETDEV", "PEER", "LINK", "RX dBm", "PRE-FEC", "FLAPS 24h"};
/// What a narrow terminal gives up, first to last.
constexpr std::array<Column, 5> kGivenUp = {kNetdev, kFlaps, kPeer, kBer, kRx};

struct Row {
  std::array<std::string, kColumns> cells;
  std::string sign;
  std::string verdict;
  Health health = Health::kUnknown;
};

std::string link_cell(const PortReport& port, SteadyTime t) {
  const auto& link = port.latest.link;
  if (!link || !link->carrier) return "?";
  if (!*link->carrier) {
    if (link->admin_up == false) return "set down";
    if (!port.figures.carrier_since || port.health == Health::kExempt) return "down";
    return "down " + duration_words(t - *port.figures.carrier_since);
  }
  std::string text = link->speed_mbps ? speed_words(*link->speed_mbps) : "up";
  if (!link->fec.empty() && link->fec != "Off") text += " " + link->fec;
  return text;
}

/// Marks what the footnote of imports speaks of.
constexpr std::string_view kImportMark = "*";

bool is_imported(const PortReport& port) {
  return port.latest.module && port.latest.module->imported_at;
}

std::string rx_words(const PortReport& port) {
  const PortFigures& figures = port.figures;
  if (!figures.worst_rx_power_dbm) {
    const auto& module = port.latest.module;
    return module && module->present && module->kind == "dac" ? "copper" : "-";
  }
  if (*figures.worst_rx_power_dbm <= kNoLightDbm) return "no light";
  std::string text = fmt::format("{:.1f}", *figures.worst_rx_power_dbm);
  if (figures.worst_rx_lane && is_problem(port))
    text += fmt::format(" lane {}", *figures.worst_rx_lane);
  return text;
}

std::string rx_cell(const PortReport& port) {
  return rx_words(port) + (is_imported(port) ? " " + std::string(kImportMark) : "");
}

/// "in maintenance until 2026-11-20 14:00Z (ann: new jumper)"
std::string maintenance_words(const Maintenance& work) {
  const std::string until =
      work.until ? " until " + instant_words(*work.until).substr(0, 16) + "Z" : "";
  return fmt::format("in maintenance{} ({}{}{})", until, work.by, work.reason.empty() ? "" : ": ",
                     work.reason);
}

/// "dirty connector (83%), clean both ends …": what it is, how sure, the first thing to do.
std::string verdict_cell(const PortReport& port) {
  if (port.health == Health::kExempt)
    return port.exempt.empty() ? "exempt" : "exempt: " + port.exempt;
  if (port.maintenance) {
    std::string text =
        name_words(to_string(port.health)) + ", " + maintenance_words(*port.maintenance);
    if (!port.faults.empty()) text += "; " + name_words(port.faults.front().fault);
    return text;
  }
  if (!port.faults.empty()) {
    const FaultReport& fault = port.faults.front();
    std::string text =
        fmt::format("{} ({})", name_words(fault.fault), confidence_words(fault.confidence));
    if (fault.state != FaultState::kOpen) text += fmt::format(", {}", to_string(fault.state));
    if (fault.state == FaultState::kAcknowledged && fault.acknowledged)
      text += " by " + fault.acknowledged->by;
    if (!fault.repair.empty()) text += ", " + fault.repair.front();
    if (port.faults.size() > 1) text += fmt::format("; and {} more", port.faults.size() - 1);
    return text;
  }
  return health_words(port);
}

/// A name that only the plan gives is marked: nobody has said that the cable really ends there.
std::string peer_cell(const PortReport& port) {
  if (port.peer.empty()) return "-";
  const auto& peer = port.latest.peer;
  const bool planned =
      !peer || peer->source == "plan" || (peer->system.empty() && peer->port.empty());
  return planned ? port.peer + " (plan)" : port.peer;
}

Row row_of(const PortReport& port, SteadyTime t, bool ascii) {
  Row row;
  const auto& ber = port.figures.pre_fec_ber;
  row.cells = {
      port.port,
      port.latest.id.netdev.empty() ? "-" : port.latest.id.netdev,
      peer_cell(port),
      link_cell(port, t),
      rx_cell(port),
      ber ? ber_words(*ber) : "-",
      port.health == Health::kExempt ? "-" : fmt::format("{}", port.figures.involuntary_downs_24h)};
  for (std::string& cell : row.cells) cell = clean_text(cell, ascii);
  row.health = port.health;
  row.sign = health_sign(port.health, ascii);
  row.verdict = clean_text(verdict_cell(port), ascii);
  return row;
}

/// "10 ports: 7 healthy, 1 degraded, 1 down, 1 exempt"
std::string counts(const Report& report) {
  std::string text =
      fmt::format("{} port{}", report.ports.size(), report.ports.size() == 1 ? "" : "s");
  std::string_view separator = ": ";
  for (const Health health : {Health::kHealthy, Health::kAtRisk, Health::kDegraded, Health::kDown,
                              Health::kUnknown, Health::kExempt}) {
    const auto number =
        std::count_if(report.ports.begin(), report.ports.end(),
                      [&](const PortReport& port) { return port.health == health; });
    if (number == 0) continue;
    text += fmt::format("{}{} {}", separator, number, name_words(to_string(health)));
    separator = ", ";
  }
  const auto worked_on =
      std::count_if(report.ports.begin(), report.ports.end(),
                    [](const PortReport& port) { return port.maintenance.has_value(); });
  if (worked_on > 0) text += fmt::format("; {} in maintenance", worked_on);
  return text;
}

std::string since(const Report& report, const StatusView& view) {
  std::string text;
  if (view.watching) text = "watching " + duration_words(*view.watching);
  if (!view.now) return text;
  if (!text.empty()) text += ", ";
  return text + "last sample " + duration_words(*view.now - report.at) + " ago";
}

std::string headline(const Report& report, const TextStyle& style, const StatusView& view,
                     std::size_t width) {
  const std::string node = clean_text(report.node, style.ascii);
  const std::string left = node + "   " + counts(report);
  const std::string right = since(report, view);
  const std::size_t used = display_width(left) + display_width(right);
  const std::string painted = paint_bold(node, style) + left.substr(node.size());
  if (display_width(left) > width) {
    std::string text = paint_bold(node, style) + "\n";
    for (const std::string& line : wrap(counts(report), width - 2)) text += "  " + line + "\n";
    return right.empty() ? text : text + "  " + paint_faint(right, style) + "\n";
  }
  if (right.empty()) return painted + "\n";
  if (used + 3 > width) return painted + "\n  " + paint_faint(right, style) + "\n";
  return painted + std::string(width - used, ' ') + paint_faint(right, style) + "\n";
}

struct Layout {
  std::array<std::size_t, kColumns> widths{};  ///< 0: left out
  std::size_t verdict = 0;
  bool short_titles = false;
  [[nodiscard]] std::string_view title(std::size_t column) const {
    return short_titles ? kShortTitles[column] : kTitles[column];
  }
  [[nodiscard]] std::size_t verdict_begins() const {
    std::size_t begins = 2;
    for (const std::size_t width : widths) begins += width == 0 ? 0 : width + 2;
    return begins;
  }
};

void measure(Layout& layout, const std::vector<Row>& rows) {
  for (std::size_t column = 0; column < kColumns; ++column) {
    layout.widths[column] = display_width(layout.title(column));
    for (const Row& row : rows)
      layout.widths[column] = std::max(layout.widths[column], display_width(row.cells[column]));
  }
}

Layout lay_out(const std::vector<Row>& rows, std::size_t width, bool wide) {
  Layout layout;
  measure(layout, rows);
  std::size_t longest = 0;
  for (const Row& row : rows) longest = std::max(longest, display_width(row.verdict) + 3);
  layout.verdict = longest;
  if (wide) return layout;
  const std::size_t wanted = std::min(longest, kVerdictColumns);
  if (layout.verdict_begins() + wanted > width) {
    layout.short_titles = true;
    measure(layout, rows);
  }
  for (const Column column : kGivenUp)
    if (layout.verdict_begins() + wanted > width) layout.widths[column] = 0;
  layout.verdict = width > layout.verdict_begins() + 12 ? width - layout.verdict_begins() : 12;
  return layout;
}

std::string title_line(const Layout& layout, const TextStyle& style) {
  std::string line = "  ";
  for (std::size_t column = 0; column < kColumns; ++column)
    if (layout.widths[column] > 0)
      line += pad_right(layout.title(column), layout.widths[column]) + "  ";
  return paint_faint(line + "HEALTH", style) + "\n";
}

std::string row_lines(const Row& row, const Layout& layout, const TextStyle& style) {
  std::string text = "  ";
  for (std::size_t column = 0; column < kColumns; ++column)
    if (layout.widths[column] > 0)
      text += pad_right(row.cells[column], layout.widths[column]) + "  ";
  const std::size_t indent = display_width(row.sign) + 1;
  std::vector<std::string> lines = wrap(row.verdict, layout.verdict - indent);
  if (lines.size() > kVerdictLines) {
    for (std::size_t i = kVerdictLines; i < lines.size(); ++i)
      lines[kVerdictLines - 1] += " " + lines[i];
    lines.resize(kVerdictLines);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line = cut(lines[i], layout.verdict - indent, style.ascii);
    if (i == 0)
      text += paint_health(row.sign + " " + line, row.health, style) + "\n";
    else
      text += std::string(layout.verdict_begins() + indent, ' ') +
              paint_health(line, row.health, style) + "\n";
  }
  return text;
}

/// What can't be seen, one line for each probe and reason, so that ten ports with one cause are one
/// line.
std::string gap_lines(const Report& report, const TextStyle& style, std::size_t width) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> ports_of;
  for (const Gap& gap : report.gaps) ports_of[{gap.probe, gap.reason}];
  for (const PortReport& port : report.ports)
    if (port.health != Health::kExempt)
      for (const Gap& gap : port.gaps) ports_of[{gap.probe, gap.reason}].push_back(port.port);
  if (ports_of.empty()) return {};
  std::string text = "\n  Can't be seen\n";
  for (const auto& [what, ports] : ports_of) {
    std::string line = fmt::format("? {}: {}", what.first, what.second);
    if (ports.size() == 1) line += fmt::format(" ({})", ports.front());
    if (ports.size() > 1)
      line += fmt::format(" ({}, and {} more ports)", ports.front(), ports.size() - 1);
    text += "    " +
            cut(clean_text(line, style.ascii), std::max<std::size_t>(width, 20) - 4, style.ascii) +
            "\n";
  }
  return text;
}

/// Of whose modules the daemon has what somebody else read, and how old the oldest of these
/// readings is.
std::string import_line(const std::vector<const PortReport*>& shown, WallTime now,
                        const TextStyle& style, std::size_t width) {
  std::optional<WallTime> oldest;
  const PortReport* first = nullptr;
  std::size_t count = 0;
  for (const PortReport* port : shown) {
    if (!is_imported(*port)) continue;
    if (first == nullptr) first = port;
    ++count;
    oldest = std::min(oldest.value_or(WallTime::max()), *port->latest.module->imported_at);
  }
  if (first == nullptr) return {};
  std::string line = fmt::format("{} module read by somebody else (imported)", kImportMark);
  if (now >= *oldest)
    line += fmt::format(", {}{} ago", count > 1 ? "up to " : "", duration_words(now - *oldest));
  line += ": " + first->port;
  if (count > 1) line += fmt::format(", and {} more port{}", count - 1, count == 2 ? "" : "s");
  return "\n  " +
         cut(clean_text(line, style.ascii), std::max<std::size_t>(width, 20) - 2, style.ascii) +
         "\n";
}

}  // namespace

std::string impact_words(const Impact& impact) {
  std::string text;
  if (impact.bandwidth_lost_mbps > 0)
    text += fmt::format("{:g} Gb/s lost", impact.bandwidth_lost_mbps / 1000);
  if (impact.bandwidth_at_risk_mbps > 0)
    text += fmt::format("{}{:g} Gb/s at risk", text.empty() ? "" : ", ",
                        impact.bandwidth_at_risk_mbps / 1000);
  text += fmt::format(": {:.0f} % of the node's bandwidth", 100 * impact.share);
  if (impact.rail_share)
    text += fmt::format(", {:.0f} % of it on rail {}", 100 * *impact.rail_share, impact.rail);
  return text;
}

bool is_problem(const PortReport& port) {
  return port.health != Health::kHealthy && port.health != Health::kExempt && !port.maintenance;
}

std::size_t count_problems(const Report& report) {
  return static_cast<std::size_t>(
      std::count_if(report.ports.begin(), report.ports.end(), is_problem));
}

std::string status_text(const Report& report, const TextStyle& style, const StatusView& view) {
  std::vector<const PortReport*> shown;
  for (const PortReport& port : report.ports)
    if (!view.problems_only || is_problem(port)) shown.push_back(&port);
  std::vector<Row> rows;
  rows.reserve(shown.size());
  for (const PortReport* port : shown) rows.push_back(row_of(*port, report.t, style.ascii));
  const auto width = static_cast<std::size_t>(std::clamp(style.width_columns, 40, 1000));
  const Layout layout = lay_out(rows, width, view.wide);
  const std::size_t total = view.wide ? layout.verdict_begins() + layout.verdict : width;
  std::string text = headline(report, style, view, total);
  if (report.impact)
    text += "  " + cut("Impact: " + impact_words(*report.impact), total - 2, style.ascii) + "\n";
  if (report.dry_run == true)
    text += "  dry run: everything is judged and shown, nothing is sent\n";
  if (!rows.empty()) text += "\n" + title_line(layout, style);
  for (const Row& row : rows) text += row_lines(row, layout, style);
  if (report.ports.empty())
    text += "\n  No port is watched.\n";
  else if (rows.empty())
    text += "\n  No port wants attention.\n";
  const std::size_t lines_width = view.wide ? 1000 : width;
  text += import_line(shown, view.now.value_or(report.at), style, lines_width);
  return text + gap_lines(report, style, lines_width);
}

}  // namespace linkhealth
