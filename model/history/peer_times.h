// When the parts of a peer sample were read: each may come from a source of its own.
#pragma once

#include <optional>

#include "base/time.h"
#include "model/snapshot.h"

namespace linkhealth {

/// With a link, the neighbour at the far end was heard by then: IEEE 802.1AB, msgTxInterval (30 s)
/// times msgTxHold (4).
inline constexpr double kLldpHoldS = 120;

/// `part_age_s` is one of `peer`'s ages; `read_at` when the reading was made that `peer.age_s`
/// speaks of.
inline SteadyTime part_read_at(const PeerSample& peer, const std::optional<double>& part_age_s,
                               SteadyTime read_at) {
  return part_age_s ? read_at + from_seconds(peer.age_s.value_or(0) - *part_age_s) : read_at;
}

}  // namespace linkhealth
