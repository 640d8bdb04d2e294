// One poll of the sampler; for its own files only.
#pragma once

#include <string_view>

#include "daemon/sampler.h"

namespace linkhealth {

/// One poll on its way to a snapshot.
struct Sampler::Cycle {
  SteadyTime now;
  Snapshot snapshot;
  bool content = false;  ///< something was read that is worth a snapshot
  FeedNews prompts;      ///< what events ask for
};

/// The word of a group in timings and gaps.
std::string_view probe_of(ReadGroup group);

}  // namespace linkhealth
