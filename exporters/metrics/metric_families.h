// Collects series by the names of the metric table into prometheus-cpp's families.
#pragma once

#include <prometheus/metric_family.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "exporters/metrics/metric_rows.h"
#include "exporters/metrics/metrics.h"

namespace linkhealth {

/// A metric by its name: the compiler finds the row and rejects a name that the table lacks.
class Metric {
 public:
  consteval Metric(const char* name) : row_(0) {  // NOLINT(*-explicit-*): a name is one
    while (metric_rows::kRows.at(row_).name != name) ++row_;
  }
  [[nodiscard]] constexpr std::size_t row() const { return row_; }

 private:
  std::size_t row_;
};

class MetricFamilies {
 public:
  using Labels = std::initializer_list<std::string_view>;
  MetricFamilies();

  /// Label values may hold any bytes. REQUIRES: `labels` are as many as the table says.
  void add(Metric metric, Labels labels, double value);
  void add(Metric metric, Labels labels, std::optional<double> value) {
    if (value) add(metric, labels, *value);
  }
  /// Prometheus text, format 0.0.4, in the order of the table. A family without a series is left
  /// out. Of two series with the same labels the first stays: Prometheus would refuse the whole
  /// scrape.
  std::string text() &&;

 private:
  std::vector<prometheus::MetricFamily> families_;  ///< by row of the table
};

struct PortLabels {
  std::string device;
  std::string port;
};

/// Seconds since the epoch.
inline double unix_seconds(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

/// The PHY's own view of its lanes and of its signal.
void add_phy(MetricFamilies& out, const PortReport& port, const PortLabels& at);
/// The module, the far module, and the card's slot.
void add_hardware(MetricFamilies& out, const PortReport& port, const PortLabels& at);

}  // namespace linkhealth
