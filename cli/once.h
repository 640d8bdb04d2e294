// `linkhealth status --once`: looks at this node (or at a copy of a node's /sys) without a daemon.
#pragma once

#include <string>

#include "cli/commands.h"
#include "exporters/text_style.h"

namespace linkhealth {

struct OnceOptions {
  std::string sysroot;  ///< "" for the live system
  cli::StatusOptions show;
  TextStyle style;
};

/// Samples once, judges, prints as `status` does. The exit code is that of `status` (cli/exit_codes.h).
int status_once(const OnceOptions& options);

}  // namespace linkhealth
