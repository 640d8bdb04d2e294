// The far end of InfiniBand links, asked through the management interface (MADs): who it is, its
// port's state, and its port's counters. Nothing is ever set or cleared. Ports of another link
// layer, and those that the inventory exempts, are passed over.
#pragma once

#include <memory>

#include "probes/mad_port.h"
#include "probes/mad_schedule.h"
#include "probes/peer_probe.h"

namespace linkhealth {

/// Each read() asks what is due; with a budget that is one port: at most eight MADs, each of which
/// waits `tries` timeouts at the longest. For one look at everything: first_within 0 and no budget.
/// A missing module, file or right is one gap of the node, said again by each read() while it
/// lasts. The management interface is open during a round only, so a device can go at any time.
std::unique_ptr<PeerProbe> make_mad_probe(const MadTiming& timing, MadOpener opener);

}  // namespace linkhealth
