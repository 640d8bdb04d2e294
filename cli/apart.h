// A look at the hardware in a process of its own. A read that hangs in the kernel keeps its
// process, even from SIGKILL: neither the command's answer nor its end may wait for it.
#pragma once

#include <functional>

namespace linkhealth::cli {

/// Runs `look` in a child, which prints by itself; returns its exit code as soon as it has
/// returned. What still hangs is left behind, and holds nothing of the caller's: no pipe, no lock.
/// Where no child can be had `look` runs here. REQUIRES: no other thread.
int run_apart(const std::function<int()>& look);

}  // namespace linkhealth::cli
