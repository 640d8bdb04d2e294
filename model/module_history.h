// What is remembered of the module at one end of the cable: light, bias, temperature and supply
// voltage against what is normal for them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/baseline.h"
#include "model/drift.h"
#include "model/interval.h"

namespace linkhealth {

/// One value that a module reports, maybe for one lane: what is normal and the last readings of
/// this up period.
struct LaneSeries {
  Baseline baseline;
  std::array<double, 3> recent{};  ///< newest first
  std::size_t recent_count = 0;

  void add_recent(double value);
  void forget_recent() { recent_count = 0; }
  /// The median of the last three readings; of fewer, the last one.
  [[nodiscard]] std::optional<double> now() const;
  /// How far now() is below the baseline; positive: lost.
  [[nodiscard]] std::optional<double> below_baseline() const;
  /// The same of the last reading alone.
  [[nodiscard]] std::optional<double> latest_below_baseline() const;
};

/// One value for each of kMaxLanes lanes; room is taken up to the last one that was written,
/// because most links have few lanes and many ports have no module: 20 kB a port.
template <typename T>
class PerLane {
 public:
  const T& operator[](std::size_t lane) const {
    static const T kUnwritten{};
    return lane < values_.size() ? values_[lane] : kUnwritten;
  }
  T& operator[](std::size_t lane) {
    if (lane >= values_.size()) values_.resize(lane + 1);
    return values_[lane];
  }
  [[nodiscard]] auto begin() { return values_.begin(); }
  [[nodiscard]] auto end() { return values_.end(); }
  /// Forgets the last lanes for which `unused(value)`.
  template <typename Unused>
  void trim(Unused unused) {
    while (!values_.empty() && unused(values_.back())) values_.pop_back();
    values_.shrink_to_fit();
  }

 private:
  std::vector<T> values_;
};

struct ModuleHistory {
  PerLane<LaneSeries> rx_dbm, tx_dbm, bias_ma;
  std::size_t rx_lanes = 0, tx_lanes = 0;
  LaneSeries temperature_c;
  LaneSeries supply_v;
  std::string serial;
  std::optional<SteadyTime> serial_changed_at;
  std::optional<SteadyTime> read_at;  ///< when the values were true
  void clear_baselines();
};

/// Slow changes of a link that carries: of the lane with the least light, and of the laser with the
/// most current.
struct Drifts {
  Drift rx_dbm, bias_ma, temperature_c, ber_log10;
};

}  // namespace linkhealth
