// Which modules and cables snapshots name at which port: each when it comes, and once an hour after
// that.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "model/port_timeline.h"

namespace linkhealth {

class IdentityWatch {
 public:
  /// Those that are new in this snapshot, or were last returned an hour ago.
  std::vector<KeptIdentity> add(const Snapshot& snapshot);

 private:
  void note(KeptIdentity identity, std::vector<KeptIdentity>& out);

  std::map<std::tuple<std::string, std::string, std::string, std::string>, WallTime> noted_at_;
};

}  // namespace linkhealth
