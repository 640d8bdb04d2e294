// The state of all ports for monitoring systems and schedulers: an exit code and a line (Nagios
// plugin guidelines: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN), and a reason that fits a scheduler's
// table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/doctor.h"
#include "model/report.h"

namespace linkhealth {

enum class CheckLevel : std::uint8_t { kOk, kWarning, kCritical, kUnknown };
/// "OK", "WARNING", "CRITICAL", "UNKNOWN"; the number is the exit code.
std::string_view to_string(CheckLevel level);

/// Maximum length of a drain reason: what `sinfo -R` and `squeue` show mostly uncut.
inline constexpr std::size_t kDrainReasonColumns = 60;

struct CheckedPort {
  PortKey port;
  CheckLevel level = CheckLevel::kOk;
  std::string text;  ///< "far port down (91%)"
};

struct Check {
  CheckLevel level = CheckLevel::kOk;
  std::string text;          ///< without level and performance data
  std::string drain_reason;  ///< "" when level is OK
  std::vector<CheckedPort> ports;
  std::size_t problems = 0, down = 0;
};

struct CheckView {
  WallTime now;
  Milliseconds stale_after{60'000};  ///< an older report is UNKNOWN
  std::optional<SightCount> sight{};
};

/// One port, ignoring a dry run.
CheckedPort check_port(const PortReport& port);
/// All ports or, if `only` is not null, one of them. The worst state wins: CRITICAL, WARNING,
/// UNKNOWN, OK. In a dry run always OK, with the real state in the text.
Check check(const Report& report, const PortReport* only, const CheckView& view);

/// "LINKHEALTH CRITICAL - mlx5_7/1 far port down (91%)", with `perfdata` " | ports=10 …". Ends in a
/// newline.
std::string check_line(const Check& check, bool perfdata);
/// docs/schema/check.json, on one line.
std::string check_json(const Check& check);

}  // namespace linkhealth
