// What a port's counters add to its flows, over time: the only place that knows resets, ends and
// late copies.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "base/time.h"
#include "model/counters.h"
#include "model/indicators.h"

namespace linkhealth {

/// Some of the sources of counters.
class CounterSources {
 public:
  constexpr CounterSources() = default;
  constexpr void add(CounterSource source) { bits_ |= bit(source); }
  constexpr void add(CounterSources others) { bits_ |= others.bits_; }
  constexpr void remove(CounterSources others) {
    bits_ &= static_cast<std::uint8_t>(~others.bits_);
  }
  [[nodiscard]] constexpr bool has(CounterSource source) const {
    return (bits_ & bit(source)) != 0;
  }
  constexpr explicit operator bool() const { return bits_ != 0; }

 private:
  static constexpr std::uint8_t bit(CounterSource source) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(source));
  }
  std::uint8_t bits_ = 0;
};

/// A rate that was told for longer than an interval.
struct LateRate {
  Indicator flow{};
  double per_s = 0;
  SteadyTime since;  ///< the reading before
};

/// What one reading adds. NaN where nothing of a flow is known: no counter of it was read now and
/// before, it stands at the all-ones of a saturating counter, or its source began anew.
struct Increase {
  IndicatorValues values;  ///< whole, where it was noticed
  IndicatorValues rates;   ///< the same of one interval: see RateCalculator::take
  CounterSources reset;  ///< whose counters fell: they began anew, or this reading of them is wrong
  CounterSources back;   ///< whose fall was a wrong reading: what they said before it stands
  std::vector<LateRate>
      late;  ///< of is_spread flows: what was there in each interval since, for ten minutes at most
};

/// Follows the counters of one port. Each source is read at times of its own, and several count the
/// same events: what one has told already is not added again when another tells it later.
class RateCalculator {
 public:
  /// What `reading` adds. A counter that is read less often than others has counted for longer than
  /// an interval: in `rates`, what is judged as a rate (bits corrected, traffic, pauses, time spent
  /// waiting) is scaled to one interval of `interval_s`; damage counts whole. 0: everything is read
  /// each time.
  Increase take(const Counters& reading, SteadyTime now, double interval_s = 0);
  /// Of sources that tell the same rate, the larger one counts in each interval: the next one
  /// begins.
  void begin_interval();
  /// All began anew.
  void forget();
  /// Whose fall is neither a reset nor a wrong reading yet.
  [[nodiscard]] CounterSources doubted() const;
  /// When a counter was last read, also before its source began anew; `otherwise` when it never
  /// was.
  [[nodiscard]] SteadyTime read_at(CounterId id, SteadyTime otherwise) const;

 private:
  /// The last reading of a counter.
  struct Entry {
    std::uint64_t value;
    SteadyTime at;
    double told;  ///< its flow's total then, whoever told it
    float share;  ///< of a rate: what this counter alone told in this interval
    CounterId id;
  };
  /// The same before its source fell.
  struct Doubted {
    Entry before;
    SteadyTime fell_at;
    std::optional<std::uint64_t> first{};  ///< what it said first after that
  };
  [[nodiscard]] CounterSources begun_anew(const Counters& reading) const;
  CounterSources settle_falls(const Counters& reading, SteadyTime now);
  void restore(CounterSources sources);
  void doubt(CounterSources sources, SteadyTime now);
  void count(const IndicatorUse& use, Entry& entry, double increase, double intervals);
  void note_told(const Counters& reading);
  void note_first(CounterId id, std::uint64_t value);

  std::vector<Entry> entries_;    ///< in the counters' order
  std::vector<Doubted> doubted_;  ///< of sources whose fall is not settled
  std::map<CounterId, SteadyTime>
      read_before_;  ///< when, of what has not been read since its source fell
  std::array<double, kIndicatorCount> totals_{};
  std::array<double, kIndicatorCount> interval_rates_{};
};

/// Of two readings of everything.
Increase increase_between(const Counters& before, const Counters& after);

}  // namespace linkhealth
