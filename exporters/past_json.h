// What is remembered of a port as JSON (docs/schema/history.json).
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "model/port_past.h"

namespace linkhealth {

inline constexpr std::string_view kHistorySchema = "linkhealth.history/1";

/// `wanted`: only these signals; empty: all.
std::string past_json(const PortPast& past, std::span<const Signal> wanted);
/// Reads what past_json() writes.
Result<PortPast> parse_past(std::string_view text);
/// {"serial":"…","places":[…]}
std::string identities_json(const std::string& serial, const std::vector<KeptIdentity>& places);

}  // namespace linkhealth
