// `linkhealth replay FILE --what-if KEY=VALUE`: diagnoses a recording twice, with and without
// changed settings, and lists the differences.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/replay.h"
#include "model/report.h"

namespace linkhealth::cli {

/// Changes one setting: "symptoms.carrier_flaps.min_losses=6". An Error names the allowed range or
/// the nearest key.
Result<void> change_setting(KnobTable& settings, std::string_view key_and_value);

/// A fault from its opening to its closing.
struct Episode {
  PortKey port;
  std::string fault;
  End end = End::kNone;
  SteadyTime opened;
  WallTime opened_at;
  std::optional<SteadyTime> closed;
  double confidence = 0;  ///< the highest
};
/// Adds an event; in the order of time.
void add_event(std::vector<Episode>& episodes, const FaultEvent& event);

struct EpisodeChange {
  std::optional<Episode> now, then;  ///< both: the same fault at another time
};
/// The differences, by port and time. Episodes of the same port, fault and end are paired in their
/// order.
std::vector<EpisodeChange> compare_episodes(const std::vector<Episode>& now,
                                            const std::vector<Episode>& then);

/// Prints the changes as text, or as one JSON document ("json", "jsonl"). Exit codes as replay().
int what_if(const ReplayOptions& options, const std::vector<std::string>& changes,
            std::ostream& out, std::ostream& err);

}  // namespace linkhealth::cli
