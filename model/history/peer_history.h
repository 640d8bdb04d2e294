// What the far end's receiver counted, and when the parts of a peer sample were read.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"

namespace linkhealth {

/// IEEE 802.1AB: msgTxInterval (30 s) times msgTxHold (4). A link that has been up for this long
/// has received its neighbour's LLDP frames.
inline constexpr double kLldpHoldS = 120;

/// When a part of `peer` was read; a part may have a source of its own. `part_age_s` is its age;
/// `read_at` is the time of the reading that `peer.age_s` refers to.
inline SteadyTime part_read_at(const PeerSample& peer, const std::optional<double>& part_age_s,
                               SteadyTime read_at) {
  return part_age_s ? read_at + from_seconds(peer.age_s.value_or(0) - *part_age_s) : read_at;
}

/// Whether two samples are the same reading, judged by their times. Ages have a resolution of one
/// millisecond. Telemetry often gives whole seconds of another clock; there, equal contents mean
/// the same reading.
bool is_same_reading(const std::optional<SteadyTime>& a, SteadyTime b, bool says_the_same);

struct PeerHistory {
  struct Errors {
    SteadyTime t;
    double errors;
  };
  std::vector<Errors> errors;  ///< increases, 1 h
  /// A far error counter is saturated: errors occurred, at an unknown time.
  bool errors_saturated = false;

  /// Increases count only between two readings of one port by one source: another port's totals are
  /// not errors of this link. A repeated reading is not a new one: sources are read at different
  /// times. REQUIRES: peer.counters.
  void update(const PeerSample& peer, SteadyTime read_at, SteadyTime now);
  void forget_old(SteadyTime now);

 private:
  PeerSample last_;                    ///< the last one with counters
  std::optional<SteadyTime> read_at_;  ///< when it was read
};

}  // namespace linkhealth
