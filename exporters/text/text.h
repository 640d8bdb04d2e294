// The text of `status` (one line per port) and `explain` (verdict, reasons, repair steps, readings
// of one port). Pure functions of a Report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "exporters/text/text_style.h"
#include "model/doctor.h"
#include "model/report.h"

namespace linkhealth {

struct StatusView {
  std::optional<WallTime> now{};           ///< for "last sample 0.4 s ago"
  std::optional<Milliseconds> watching{};  ///< since the monitor started
  std::optional<SightCount> sight{};       ///< for "147 of 160 sources unreadable"
  bool problems_only = false;              ///< list only these; the counts are of all ports
  bool wide = false;                       ///< all columns, uncut, at any width
  bool worst_first = false;                ///< in the order of worst_first(), not by name
};

/// "147 of 160 sources unreadable, see linkhealth doctor"; "" if all are readable, or if unknown.
std::string format_sight(const std::optional<SightCount>& sight);

/// A port that needs attention: not healthy, not exempt, not in maintenance.
bool is_problem(const PortReport& port);
std::size_t count_problems(const Report& report);
/// "10 ports: 7 healthy, 1 degraded, 1 down, 1 exempt".
std::string format_ports(const Report& report);
/// "400 Gb/s lost: 25% of the node's bandwidth".
std::string format_impact(const Impact& impact);

/// All ports; worst health first, then highest confidence.
std::vector<const PortReport*> worst_first(const Report& report);

/// The parts of status_text, for a screen that scrolls.
struct StatusLines {
  std::string head;  ///< counts and impact
  std::vector<const PortReport*> ports;
  std::string titles;                          ///< column titles
  std::vector<std::vector<std::string>> rows;  ///< the lines of each of `ports`
  std::string foot;                            ///< imported and unreadable readings
};
StatusLines status_lines(const Report& report, const TextStyle& style, const StatusView& view);
/// The table of all ports. Ends in a newline.
std::string status_text(const Report& report, const TextStyle& style, const StatusView& view);

struct ExplainView {
  WallTime now;                       ///< for "3 h ago"
  SteadyTime t;                       ///< the report's, for the age of the carrier
  std::optional<SightCount> sight{};  ///< of the node
  bool symptoms = false;              ///< --evidence: every symptom with its verdict
  bool physics = false;               ///< --physics: the link budget both ways
};

/// The diagnosis of one port with its evidence. Ends in a newline.
std::string explain_text(const PortReport& port, const TextStyle& style, const ExplainView& view);

}  // namespace linkhealth
