// Instants and durations. Nothing here reads a clock: only the two main functions do, and pass a
// Clock on.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace linkhealth {

/// Monotonic: the recording's `t`. Its origin is arbitrary; it is not affected when the wall clock
/// is set. Millisecond resolution.
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::milliseconds>;
/// UTC: the recording's `at`. For people and other machines only, never for a difference.
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;
using Milliseconds = std::chrono::milliseconds;
using Microseconds = std::chrono::microseconds;

/// A duration as seconds.
inline double in_seconds(std::chrono::duration<double> duration) { return duration.count(); }
/// The nearest whole millisecond to a number of seconds. REQUIRES: finite and within +-9e15 ms.
Milliseconds from_seconds(double seconds);

/// The recording's `t`: seconds since the monotonic clock's origin.
inline double steady_seconds(SteadyTime time) { return in_seconds(time.time_since_epoch()); }
inline SteadyTime steady_from_seconds(double seconds) { return SteadyTime(from_seconds(seconds)); }

/// RFC 3339 in UTC: "2026-11-20T10:00:12Z"; with milliseconds only when they are not zero
/// ("…12.250Z").
std::string format_rfc3339(WallTime time);
/// Reads what format_rfc3339 writes, and offsets such as +02:00. nullopt when the text is not an
/// instant.
std::optional<WallTime> parse_rfc3339(std::string_view text);

/// The source of time. The real one is used by the main functions only; tests and replays set
/// theirs.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual SteadyTime steady() const = 0;
  [[nodiscard]] virtual WallTime wall() const = 0;
  /// Like steady(), with a finer resolution for durations below a millisecond.
  [[nodiscard]] virtual Microseconds fine() const { return steady().time_since_epoch(); }
};

}  // namespace linkhealth
