// What is normal for each port over a restart, as JSON: a document in the memory
// (storage/memory.h), and the file references.json of releases before it, which is read once.
// Without it a link that is bad from the daemon's first sample on has no past to be compared with.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/reference_state.h"

namespace linkhealth {

std::string references_json(const ReferenceState& state);
/// An error says where the text is damaged.
Result<ReferenceState> parse_references(std::string_view json);

}  // namespace linkhealth
