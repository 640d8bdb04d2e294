// Which probe reads a counter: by what name the gap goes that says that it can't be read.
#pragma once

#include <string_view>

#include "model/counters.h"

namespace linkhealth {

/// Of a counter of the table.
std::string_view probe_of(CounterId id);
/// Of a counter that the table does not know, by the prefix of its name (recording.md); without one
/// it is a driver's, of hw_counters.
std::string_view probe_of_other(std::string_view name);
/// Whether a gap of one probe, for this reason, says that another gives nothing either: what is
/// asked of the kernel through ethtool, and, of a port of which a read hangs, what its one reader
/// reads.
bool hides(std::string_view gap_of, std::string_view reason, std::string_view probe);
/// Whether the reason is that a read does not come back.
bool is_hung(std::string_view reason);
/// Whether this probe gave any of them.
bool has_counter_of_probe(const Counters& counters, std::string_view probe);

}  // namespace linkhealth
