// One poll of the sampler; for its own files only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "daemon/sampler.h"

namespace linkhealth {

/// One poll on its way to a snapshot.
struct Sampler::Cycle {
  SteadyTime now;
  Snapshot snapshot;
  bool content = false;  ///< something was read that is worth a snapshot
  FeedNews prompts;      ///< what events ask for
  std::map<std::string, double, std::less<>>
      durations_s;  ///< of each probe that read, all its reads together

  void add_duration(std::string_view probe, double duration_s) {
    const auto at = durations_s.find(probe);
    (at != durations_s.end() ? at : durations_s.emplace(probe, 0).first)->second += duration_s;
  }
};

/// The word of a group in timings and gaps.
std::string_view probe_of(ReadGroup group);

}  // namespace linkhealth
