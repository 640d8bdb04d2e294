// The recording of `linkhealth demo`, which is part of the program.
#pragma once

#include <string_view>

namespace linkhealth::cli {

/// demo/demo.jsonl.gz: a simulated node with a connector that gets dirty and is cleaned.
std::string_view demo_recording();

}  // namespace linkhealth::cli
