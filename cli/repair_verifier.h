// The acceptance test of a link, as a pure fold over its reports. Errors are a Poisson process: at
// a bit error ratio B, N bits have N x B errors on average. k errors in N bits exclude a ratio of B
// or worse with the confidence 1 - P(at most k | N x B); with k = 0 that is 95% at N = 3/B
// (docs/physics.md 3b).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "model/report.h"

namespace linkhealth::cli {

struct VerifyLimits {
  double ber = 1e-15;     ///< highest accepted bit error ratio after FEC
  double least_s = 1800;  ///< shortest time without a carrier loss (NVIDIA: 30 min after a repair)
  double confidence = 0.95;
  double link_wait_s = 120;  ///< for the link to come up initially (training takes up to a minute)
};

enum class VerifyVerdict : std::uint8_t { kWaiting, kTesting, kPass, kFail, kUnknown };
/// "waiting", "proving", "pass", "fail", "unknown" (docs/schema/verify.json)
std::string_view to_string(VerifyVerdict verdict);

struct VerifyState {
  VerifyVerdict verdict = VerifyVerdict::kWaiting;
  std::string reason;      ///< for kFail and kUnknown
  double elapsed_s = 0;    ///< since the test started or restarted
  double remaining_s = 0;  ///< if there are no further errors
  double confidence = 0;   ///< reached so far, that the error ratio is below the limit
  double bits = 0;
  std::uint64_t errors = 0;  ///< after FEC
  std::optional<RepairRecord>
      repair;        ///< the last one that changed the light, even if its fault has closed
  std::string note;  ///< what just happened: "the counters were reset: the test restarts"; or ""

  [[nodiscard]] bool finished() const { return verdict >= VerifyVerdict::kPass; }
  [[nodiscard]] double progress() const {
    return elapsed_s > 0 ? elapsed_s / (elapsed_s + remaining_s) : 0;
  }
};

/// P(more than `errors` | `mean` on average), 0 to 1.
double poisson_above(std::uint64_t errors, double mean);

class RepairVerifier {
 public:
  explicit RepairVerifier(VerifyLimits limits) : limits_(limits) {}
  /// Adds the next report of the port; in the order of `t`.
  const VerifyState& add(const PortReport& port, SteadyTime t, WallTime at);
  [[nodiscard]] const VerifyState& state() const { return state_; }

 private:
  struct Reading {
    SteadyTime t;
    bool up = false, admin_down = false;
    std::optional<std::uint64_t> downs;          ///< the kernel's count of carrier losses
    std::optional<std::uint64_t> uncorrectable;  ///< FEC blocks
    std::optional<std::uint64_t> errors;         ///< used if there is no FEC counter
    std::uint64_t planned_downs = 0;
    double rate_bps = 0;
  };
  static Reading read(const PortReport& port, SteadyTime t);
  void start(SteadyTime t);
  void fail(std::string reason);
  void wait_for_link(const PortReport& port, const Reading& now);
  bool check_speed(const PortReport& port, const Reading& now);
  bool check_counters(const PortReport& port, const Reading& now);
  bool check_faults(const PortReport& port, WallTime at);
  void judge(const PortReport& port, const Reading& now, WallTime at);

  VerifyLimits limits_;
  VerifyState state_;
  std::optional<SteadyTime> waiting_since_, enough_since_;
  SteadyTime started_;
  Reading last_;
  bool fault_noted_ = false;
};

}  // namespace linkhealth::cli
