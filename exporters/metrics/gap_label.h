// The reason of a gap as the value of a metric's label. Reasons may quote files and name them;
// label values must be few, because each one is a time series of its own for ever.
#pragma once

#include <string>
#include <string_view>

namespace linkhealth {

/// The causes alone, without file names, quoted text and numbers: "symbol_error, link_downed:
/// Invalid argument" becomes "Invalid argument", "text \"N/A\"" becomes "unexpected text". At most
/// 80 bytes.
std::string gap_label(std::string_view reason);

}  // namespace linkhealth
