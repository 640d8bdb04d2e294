// What module_text() says of lanes that are not simply at work.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/text_style.h"
#include "model/snapshot.h"

namespace linkhealth {

/// The name of a flag that is set, else "".
std::string named(const std::optional<bool>& flag, std::string_view name);
/// SFF-8472 gives the loss of signal and the laser fault as they are now; the other maps latch
/// them.
bool losses_are_live(const ModuleSample& m);
std::vector<std::string> loss_words(const ModuleLane& lane);
/// A line for each run of lanes with the same words, "host lanes 2 to 4: …"; "" says nothing of a
/// lane.
std::string lane_lines(std::string_view name, const std::vector<std::string>& words);
/// Why a media lane (0 first) has no value while others have: "not in use", "data path
/// Deactivated", "not read", "not there"; "" where that is not known.
std::string why_no_value(const ModuleSample& m, std::size_t lane);
/// What is so now; "" where all is.
std::string lane_states(const ModuleSample& m, const TextStyle& style);

}  // namespace linkhealth
