// The far end of InfiniBand links by MADs: its identity, its port's state and its port's counters.
// Nothing is ever set or cleared. Skips ports of another link layer, and those that the inventory
// exempts.
#pragma once

#include <memory>
#include <string_view>

#include "probes/peer/mad_port.h"
#include "probes/peer/peer_probe.h"

namespace linkhealth {

struct MadTiming {
  Milliseconds period{60'000};  ///< between two rounds on a port
  /// Each port has its first round within this time from the start; 0: a single reading, with all
  /// ports in one read().
  Milliseconds first_within{10'000};
  Milliseconds timeout{200};  ///< of one try
  int tries = 2;
};

/// The offset of `identity` (a GUID and port) in a period, the same at every start. It spreads the
/// requests: a leaf switch answers every node below it, and all nodes start together after a power
/// cut. 0 <= phase < period.
Milliseconds mad_phase(std::string_view identity, Milliseconds period);

/// Each read() makes one round on the most overdue port: at most eight MADs, each of which waits at
/// most `tries` timeouts. A missing module, file or permission is one gap of the node, repeated by
/// each read() while it lasts. The management interface is open only during a round, so that a
/// device can be removed at any time.
std::unique_ptr<PeerProbe> make_mad_probe(const MadTiming& timing, MadOpener opener);

}  // namespace linkhealth
