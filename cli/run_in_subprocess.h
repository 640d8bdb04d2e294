// Runs code that may leave threads hanging in the kernel.
#pragma once

#include <functional>

namespace linkhealth::cli {

/// Runs `command` in a child process and returns its exit code as soon as it is known: a process
/// with a thread that hangs in a device's read does not end until that device answers.
int run_in_subprocess(const std::function<int()>& command);

}  // namespace linkhealth::cli
