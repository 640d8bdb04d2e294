// Which probe reads a counter: by what name the gap goes that says that it can't be read.
#pragma once

#include <string_view>

#include "model/counters.h"

namespace linkhealth {

/// Of a counter of the table.
std::string_view probe_of(CounterId id);
/// Of a counter that the table does not know, by the prefix of its name (recording.md); without one it is a driver's,
/// of hw_counters.
std::string_view probe_of_other(std::string_view name);
/// Whether this probe gave any of them.
bool has_counter_of_probe(const Counters& counters, std::string_view probe);

}  // namespace linkhealth
