// The error ratio before and after each training of a link: a receiver that adapts to a transient
// makes more errors until it trains again, and no part is bad (sonic-net/sonic-mgmt PR 26555).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "model/history/interval.h"

namespace linkhealth {

/// The link came back from a fall with its errors a decade or more above those before.
struct WorseTraining {
  WallTime fell_at;
  double down_s = 0;  ///< of that fall; 0: not known
  double ber_before = 0, ber_after = 0;
  std::uint32_t trainings = 1;  ///< in a row that ended alike, to a decade
  bool operator==(const WorseTraining&) const = default;
};

class TrainingHistory {
 public:
  /// Until the ratio is back, or the link trains well.
  std::optional<WorseTraining> worse;

  /// The link is back from a fall. `ber_before`: of the link before it.
  void begin(WallTime fell_at, double down_s, double ber_before);
  /// An interval without transitions, with a known error ratio.
  void add(const Interval& interval);
  /// A training that is not judged yet.
  [[nodiscard]] bool pending() const { return pending_.has_value(); }
  /// Another module, or another end: the ratio of before says nothing.
  void clear() { *this = TrainingHistory(); }

 private:
  void judge();

  std::optional<WorseTraining> pending_;
  std::vector<double> after_;  ///< of the intervals since the training that is pending
  double rate_bps_ = 0;        ///< of the line, before
  std::size_t good_ = 0;       ///< intervals in a row that are as good as before the fall
};

}  // namespace linkhealth
