// The error ratio before and after each training of a link. A receiver that adapted to a transient
// makes more errors until it trains again, although no part is bad (sonic-net/sonic-mgmt PR 26555).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "model/history/interval.h"

namespace linkhealth {

/// After a carrier loss the link came back with at least ten times the errors of before.
struct WorseTraining {
  WallTime fell_at;
  double down_s = 0;  ///< of that carrier loss; 0: unknown
  double ber_before = 0, ber_after = 0;
  std::uint32_t trainings = 1;  ///< consecutive ones with the same outcome, within a decade
  bool operator==(const WorseTraining&) const = default;
};

class TrainingHistory {
 public:
  /// Set until the ratio is normal again, or the link trains well.
  std::optional<WorseTraining> worse;

  /// The link is back after a carrier loss. `ber_before`: ratio before it.
  void begin(WallTime fell_at, double down_s, double ber_before);
  /// An interval without transitions and with a known error ratio.
  void add(const Interval& interval);
  /// Whether a training has not been judged yet.
  [[nodiscard]] bool pending() const { return pending_.has_value(); }
  /// Another module or far end: the earlier ratio is meaningless.
  void clear() { *this = TrainingHistory(); }

 private:
  void judge();

  std::optional<WorseTraining> pending_;
  std::vector<double> after_;  ///< of the intervals since the pending training
  double rate_bps_ = 0;        ///< line rate before
  std::size_t good_ = 0;  ///< consecutive intervals that are as good as before the carrier loss
};

}  // namespace linkhealth
