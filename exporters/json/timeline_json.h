// A port's timeline as JSON (docs/schema/history.json), and back.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/port_timeline.h"

namespace linkhealth {

inline constexpr std::string_view kHistorySchema = "linkhealth.history/1";

std::string timeline_json(const PortTimeline& timeline);
/// Reads what timeline_json writes, for a client of the daemon. Skips unknown signals.
Result<PortTimeline> parse_timeline(std::string_view text);
/// {"serial":"…","places":[…]}
std::string identities_json(const std::string& serial, const std::vector<KeptIdentity>& places);

}  // namespace linkhealth
