// Which modules and cables are at which port: reported when first seen, and once an hour after
// that.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "model/port_timeline.h"

namespace linkhealth {

class IdentityWatch {
 public:
  /// The modules that are new in this snapshot, or were last returned an hour ago.
  std::vector<KeptIdentity> add(const Snapshot& snapshot);

 private:
  std::map<std::tuple<std::string, std::string, std::string, std::string>, WallTime> reported_at_;
};

}  // namespace linkhealth
