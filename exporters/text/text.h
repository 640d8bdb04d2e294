// What people read in a terminal: `status` (one line a port, the verdict in words) and `explain`
// (the verdict, why, what to do, the numbers). Functions of a Report; nothing here knows a clock or
// a terminal.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "exporters/text/text_style.h"
#include "model/report.h"

namespace linkhealth {

struct StatusView {
  std::optional<WallTime> now;           ///< for "last sample 0.4 s ago"; left out when not known
  std::optional<Milliseconds> watching;  ///< for how long the monitor has run
  bool problems_only =
      false;          ///< leaves healthy and exempt ports out of the table (never out of the count)
  bool wide = false;  ///< all columns, nothing cut, whatever the width
};

/// A port that wants somebody's attention: not healthy, not exempt, and nobody works on it by
/// announcement.
bool is_problem(const PortReport& port);
/// "400 Gb/s lost: 25 % of the node's bandwidth".
std::string impact_words(const Impact& impact);
std::size_t count_problems(const Report& report);

/// The table of all ports. Ends in a newline.
std::string status_text(const Report& report, const TextStyle& style, const StatusView& view);

struct ExplainView {
  WallTime now;           ///< for "3 h ago"
  SteadyTime t;           ///< the report's, for the age of the carrier
  bool symptoms = false;  ///< --evidence: every symptom with its verdict
  bool physics = false;   ///< --physics: the link budget both ways
};

/// The verdict on one port with everything that speaks for and against it. Ends in a newline.
std::string explain_text(const PortReport& port, const TextStyle& style, const ExplainView& view);

}  // namespace linkhealth
