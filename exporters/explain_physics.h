// The link budget of both directions as a small picture: where on the scale of power each end sends
// and receives, what is lost in between, how far above the limit it is, and what the errors say.
#pragma once

#include <string>
#include <vector>

#include "exporters/text_style.h"
#include "model/report.h"

namespace linkhealth {

/// The lines of `explain --physics`. What cannot be read is said in its place; copper has no light
/// to draw.
std::vector<std::string> physics_lines(const PortReport& port, const TextStyle& style);

}  // namespace linkhealth
