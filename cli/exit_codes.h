// The exit codes of `linkhealth` (scripts rely on them: --help and linkhealth(1) list them), and
// the error that ends a command.
#pragma once

#include <stdexcept>
#include <string>

namespace linkhealth::cli {

inline constexpr int kOk = 0;
inline constexpr int kProblems = 1;      ///< a port needs attention, or a test failed
inline constexpr int kBadInput = 2;      ///< usage, unknown port, nothing to do, unusable file
inline constexpr int kNotReachable = 3;  ///< the daemon does not answer
inline constexpr int kDaemonError = 4;   ///< the daemon reports an error

/// Thrown by commands; run_command() prints its message.
struct CommandError : std::runtime_error {
  CommandError(int code, const std::string& message)
      : std::runtime_error(message), exit_code(code) {}
  int exit_code;
};

}  // namespace linkhealth::cli
