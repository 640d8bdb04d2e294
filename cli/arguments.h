// The command line of `linkhealth`: its commands, their options and their help.
#pragma once

#include "base/time.h"

namespace linkhealth::cli {

/// Parses the command line and runs one command; returns the exit code. REQUIRES: `clock` outlives
/// the process, because a read that hangs in the kernel may still use it after main().
int run(int argc, const char* const* argv, const Clock& clock);

}  // namespace linkhealth::cli
