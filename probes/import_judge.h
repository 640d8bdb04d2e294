// Whether what a file says of a port can be.
#pragma once

#include <string>

#include "probes/import_file.h"

namespace linkhealth {

/// The first thing in it that can't be, "temperature of 4800 °C", "revision that is no plain text"; "": it is believed.
/// Every text and every number of the port is looked at.
std::string objection(const ImportedPort& port);

}  // namespace linkhealth
