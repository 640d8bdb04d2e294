// A gap's reason as a metric's label. Reasons are for people: they may quote what a file said and
// name the files. A label must come from a small set, or each odd text becomes a time series of its
// own for ever.
#pragma once

#include <string>
#include <string_view>

namespace linkhealth {

/// The causes alone, without file names, quoted text and numbers: "symbol_error, link_downed:
/// Invalid argument" becomes "Invalid argument", "text \"N/A\"" becomes "unexpected text". At most
/// 80 bytes.
std::string gap_label(std::string_view reason);

}  // namespace linkhealth
