// Who is plugged where: the modules and cables that snapshots name, each when it comes and once an
// hour after that.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "model/port_timeline.h"

namespace linkhealth {

class IdentityWatch {
 public:
  /// What is new in this snapshot, or was last told an hour ago.
  std::vector<KeptIdentity> add(const Snapshot& snapshot);

 private:
  void note(KeptIdentity identity, std::vector<KeptIdentity>& out);

  std::map<std::tuple<std::string, std::string, std::string, std::string>, WallTime> told_at_;
};

}  // namespace linkhealth
