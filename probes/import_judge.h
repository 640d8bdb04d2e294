// Whether what a file says of a port can be.
#pragma once

#include <string>

#include "probes/import_file.h"

namespace linkhealth {

struct Judgement {
  std::string objection;  ///< the first thing in it that can't be, "temperature of 4800 °C": the
                          ///< writer is wrong, and with it the file; "": none
  std::string flaw;       ///< what nobody answered, which is of this entry alone; "": all of it was
};

/// Every text, every number and every word of the port is looked at.
Judgement judge(const ImportedPort& port);

/// Limits that can't be a module's go, with a warning of the module that says so: all zero, which
/// many write for "none", and out of order. What was measured stands.
void leave_out_bad_limits(ImportedPort& port);

}  // namespace linkhealth
