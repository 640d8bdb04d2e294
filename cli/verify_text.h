// The output of `verify` and `qualify`.
#pragma once

#include <string>

#include "cli/repair_verifier.h"
#include "exporters/text/text_style.h"

namespace linkhealth::cli {

/// "2 h 5 min", "47 min", "40 s"
std::string long_duration(double seconds);
std::string verify_header(const PortReport& port, const VerifyLimits& limits,
                          const TextStyle& style);
std::string qualify_header(const Report& report, std::size_t ports, const VerifyLimits& limits,
                           const TextStyle& style);
/// One line without a line end, at most as wide as the terminal.
std::string verify_progress(const PortReport& port, const VerifyState& state,
                            const TextStyle& style);
/// "PASS  mlx5_3/1 …\n"
std::string verify_verdict(const PortReport& port, const VerifyState& state,
                           const TextStyle& style);
/// docs/schema/verify.json
std::string verify_json(const PortReport& port, const VerifyState& state, WallTime now);

}  // namespace linkhealth::cli
