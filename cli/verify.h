// `verify` and `qualify`: read the daemon's report repeatedly, and show the progress.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "base/time.h"
#include "cli/commands.h"
#include "cli/repair_verifier.h"

namespace linkhealth::cli {

/// What a test replaces.
struct VerifyEnvironment {
  const Clock& clock;
  std::function<bool(Milliseconds)> wait;  ///< false: interrupted
  std::ostream& out;
  bool is_terminal = false;  ///< progress redraws one line; otherwise one line per minute
};

/// Tests `options.port`, or all monitored ports when it is "".
int verify(const Client& client, const VerifyOptions& options, const TextStyle& style,
           const VerifyEnvironment& environment);

}  // namespace linkhealth::cli
