// The reason of a gap as the value of a metric's label. Reasons may contain file names and quoted
// text; but label values must be few, because each one creates a time series.
#pragma once

#include <string>
#include <string_view>

namespace linkhealth {

/// Only the causes, without file names, quoted text and numbers: "symbol_error, link_downed:
/// Invalid argument" becomes "Invalid argument", "text \"N/A\"" becomes "unexpected text". At most
/// 80 bytes.
std::string gap_label(std::string_view reason);

}  // namespace linkhealth
