// One poll of the sampler; for its own files only.
#pragma once

#include "daemon/sampler.h"

namespace linkhealth {

/// One poll on its way to a snapshot.
struct Sampler::Cycle {
  SteadyTime now;
  Snapshot snapshot;
  bool content = false;  ///< something was read that is worth a snapshot
  FeedNews prompts;      ///< what events ask for
};

}  // namespace linkhealth
