// The rules over the API: what the tables say, and what they did on this node.
#pragma once

#include <string_view>

#include "daemon/api.h"
#include "exporters/text_style.h"

namespace linkhealth {

inline constexpr std::string_view kRulesPath = "/api/v1/rules";
inline constexpr std::string_view kRulesTextPath = "/api/v1/text/rules";

/// /api/v1/rules (JSON) and /api/v1/text/rules[/NAME][?unused=1]; 404 where the daemon was given no
/// catalogue.
ApiReply rules(const ApiRequest& request, const ApiView& view, const Report& report,
               const TextStyle& style);

}  // namespace linkhealth
