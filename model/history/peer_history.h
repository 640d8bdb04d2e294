// What the receiver at the far end of the cable counted.
#pragma once

#include <vector>

#include "base/time.h"
#include "model/snapshot.h"

namespace linkhealth {

struct PeerHistory {
  struct Errors {
    SteadyTime t;
    double errors;
  };
  std::vector<Errors> errors;  ///< increases, 1 h
  /// A far error counter stands at its end: errors came, at an unknown time.
  bool errors_saturated = false;

  /// Increases count only between two readings that one source made of one port: what another port
  /// counted in its life is no error of this link. REQUIRES: peer.counters.
  void update(const PeerSample& peer, SteadyTime now);
  void forget_old(SteadyTime now);

 private:
  PeerSample last_;  ///< the last far end with counters: who it is, and they
};

}  // namespace linkhealth
