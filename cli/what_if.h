// `linkhealth replay FILE --what-if KEY=VALUE`: diagnoses a recording twice, with and without
// changed settings, and lists the differences.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/replay.h"
#include "model/report.h"

namespace linkhealth::cli {

/// Changes one setting: "diagnosis.flap_losses=6". An Error names the allowed range or
/// the nearest key.
Result<void> change_setting(KnobTable& settings, std::string_view key_and_value);

/// A fault from its opening to its closing.
struct Episode {
  PortKey port;
  std::string fault;
  End end = End::kNone;
  WallTime opened_at;
  std::optional<WallTime> closed_at;
  double confidence = 0;  ///< the highest
};
/// Adds an event; in the order of time.
void add_event(std::vector<Episode>& episodes, const FaultEvent& event);
/// The episodes of `a` without an equal in `b`: the same port, fault, end and times.
std::vector<Episode> missing_in(const std::vector<Episode>& a, const std::vector<Episode>& b);

/// Prints the episodes that are gone and new, as text or as one JSON document ("json", "jsonl").
/// Exit codes as replay().
int what_if(const ReplayOptions& options, const std::vector<std::string>& changes,
            std::ostream& out, std::ostream& err);

}  // namespace linkhealth::cli
