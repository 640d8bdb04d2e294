// What the exit codes of `linkhealth` mean. Scripts rely on them: they are in --help and in
// linkhealth(1).
#pragma once

namespace linkhealth::cli {

inline constexpr int kOk = 0;
inline constexpr int kProblems = 1;  ///< status --problems: there is a port that wants attention
inline constexpr int kBadInput =
    2;  ///< usage, an unknown port, nothing to do there, an unusable file
inline constexpr int kNotReachable = 3;  ///< the daemon does not answer
inline constexpr int kDaemonError = 4;   ///< the daemon answered with an error of its own

}  // namespace linkhealth::cli
