// The parts of module_text() that are about lanes: light and bias as bars between the module's own
// limits, states, and latched flags.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/text/text_style.h"
#include "model/snapshot.h"

namespace linkhealth {

/// The parts that are not empty.
std::string join(const std::vector<std::string>& parts, std::string_view separator);
/// `text` as it is when it fits into `width` columns, else broken between words.
std::vector<std::string> fitted(const std::string& text, std::size_t width);

/// " ▲ low warning": sign and name of the limit that a value has passed, so that nothing depends on
/// a colour; "" of one that has passed none.
std::string limit_mark(std::optional<double> value, const Limits& limits, const TextStyle& style);
/// A table for each direction of which a lane has a value.
std::string light_text(const ModuleSample& m, const TextStyle& style);
/// Lanes that do not work as they are meant to; "" of none.
std::string lane_states_text(const ModuleSample& m, const TextStyle& style);
/// Latched flags that are set, and those that changed since the daemon watches; "" of none.
std::string flags_text(const ModuleSample& m, const TextStyle& style);

}  // namespace linkhealth
