// Which sources of far-end knowledge this daemon has: the section "peers" of
// the configuration, and the one place where their probes are made.
#pragma once

#include <memory>
#include <span>

#include "config/config.h"
#include "daemon/sampling/far_ends.h"
#include "model/expected_ports.h"
#include "model/knobs.h"

namespace linkhealth {

/// The section "peers" of the configuration, but for its paths, which are in
/// Config.
std::span<const KnobGroup> peer_knob_groups();

/// The plan's names of far ends, where `knobs` let it name them.
ExpectedPorts planned_names(const KnobTable& knobs, const ExpectedPorts& asked);

/// How long an answer of a far end stands: `hold_s`, and never less than it
/// takes to ask twice.
Milliseconds far_end_hold(const KnobTable& knobs);

/// All sources that configuration leaves on. Null when that is none. `once`:
/// for one look, which spreads nothing over time.
std::unique_ptr<FarEnds> make_far_ends(const Config& config, const Clock& clock, bool once = false);

}  // namespace linkhealth
