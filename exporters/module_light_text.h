// The lanes of a module: light and laser bias as bars between the module's own limits.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "exporters/text_style.h"
#include "model/snapshot.h"

namespace linkhealth {

/// Of a bar, between its two ends.
inline constexpr std::size_t kBarColumns = 7;

/// " ▲ low warning": the sign and the word of the limit that a value has passed, so that nothing
/// depends on a colour;
/// "" of one that has passed none.
std::string limit_mark(std::optional<double> value, const Limits& limits, const TextStyle& style);
/// A table for each direction of which a lane has a value.
std::string light_text(const ModuleSample& m, const TextStyle& style);

}  // namespace linkhealth
