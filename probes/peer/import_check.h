// Whether an imported reading is plausible: a wrong unit, a dead register or control bytes are not.
#pragma once

#include <string>

#include "probes/peer/import_file.h"

namespace linkhealth {

/// The first value that cannot be, as a clause: "temperature_c of 4800 is out of range"; "": none.
std::string find_implausible(const ImportedPort& port);

/// Drops limits that cannot be a module's, with a warning in the module: all zero, which many
/// writers use for "none", and limits out of order. The readings stay.
void drop_bad_limits(ModuleSample& module);

}  // namespace linkhealth
