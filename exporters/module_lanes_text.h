// What module_text() says of lanes that are not simply at work.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/text_style.h"
#include "model/snapshot.h"

namespace linkhealth {

/// The name of a flag that is set, else "".
std::string named(const std::optional<bool>& flag, std::string_view name);
/// SFF-8472 gives the loss of signal and the laser fault as they are now; the other maps latch them.
bool losses_are_live(const ModuleSample& m);
std::vector<std::string> loss_words(const ModuleLane& lane);
/// What is so now; "" where all is.
std::string lane_states(const ModuleSample& m, const TextStyle& style);

}  // namespace linkhealth
