// Whether a link has proved itself: a fold of samples, pure. Errors are a Poisson process: when the
// bit error ratio is B, N bits have N x B of them on average. k seen in N bits rule a ratio of B
// (and worse) out with the confidence 1 - P(at most k | N x B); with k = 0 that is 95 % at N = 3/B
// (docs/physics.md 3b).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "model/report.h"

namespace linkhealth::cli {

struct ProofLimits {
  double ber = 1e-15;     ///< the error ratio after FEC that is to be ruled out
  double least_s = 1800;  ///< at least so long without a drop (NVIDIA: 30 min to accept a repair)
  double confidence = 0.95;
  double link_wait_s =
      120;  ///< for the link to come up at the beginning (training takes up to a minute)
};

enum class ProofVerdict : std::uint8_t { kWaiting, kProving, kPass, kFail, kUnknown };
/// "waiting", "proving", "pass", "fail", "unknown"
std::string_view to_string(ProofVerdict verdict);

struct ProofState {
  ProofVerdict verdict = ProofVerdict::kWaiting;
  std::string reason;      ///< of kFail and kUnknown
  double elapsed_s = 0;    ///< since the proof began (anew)
  double remaining_s = 0;  ///< if nothing happens
  double needed_s = 0;     ///< all of it
  double confidence = 0;   ///< so far, that the error ratio is below the limit
  double bits = 0;
  std::uint64_t errors = 0;  ///< after FEC
  std::optional<RepairRecord>
      repair;  ///< the last one that changed the light, also when its fault has closed since
  std::optional<std::string>
      note;  ///< what has just happened and is to be told: "set down: the proof begins anew"
  [[nodiscard]] double progress() const { return needed_s > 0 ? 1 - remaining_s / needed_s : 0; }
};

/// P(more than `errors` | `mean` on average), 0 to 1.
double poisson_above(std::uint64_t errors, double mean);

class Prover {
 public:
  explicit Prover(ProofLimits limits) : limits_(limits) {}
  /// One look at the port; in the order of `t`.
  const ProofState& add(const PortReport& port, SteadyTime t, WallTime at);
  [[nodiscard]] const ProofState& state() const { return state_; }

 private:
  struct Look {
    SteadyTime t;
    bool up = false, set_down = false;
    std::optional<std::uint64_t> downs;          ///< the kernel's count of carrier losses
    std::optional<std::uint64_t> uncorrectable;  ///< blocks
    std::optional<std::uint64_t> errors;         ///< where there is no FEC counter
    std::uint64_t voluntary = 0;
    double rate_bps = 0;
  };
  static Look look(const PortReport& port, SteadyTime t);
  void begin(const Look& now, std::string why);
  void fail(std::string reason);
  bool link_is_wrong(const PortReport& port, const Look& now);
  bool count(const PortReport& port, const Look& now);
  void judge(const PortReport& port, const Look& now, WallTime at);

  ProofLimits limits_;
  ProofState state_;
  std::optional<SteadyTime> first_, begun_, enough_since_;
  Look last_;
  bool told_that_it_shows_ = false;
};

}  // namespace linkhealth::cli
