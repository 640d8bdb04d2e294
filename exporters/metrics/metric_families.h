// Collects series, by their names in the metric table, into prometheus-cpp's families.
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

/// A metric by its name: the compiler looks up the row and rejects a name that is not in the table.
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
  MetricFamilies();

  /// Label values may contain any bytes. REQUIRES: as many `labels` as the table has.
  void add(Metric metric, const std::vector<std::string_view>& labels, double value);
  /// Prometheus text, format 0.0.4, in the order of the table, without families that have no
  /// series. If two series have the same labels, the first is kept: Prometheus would reject the
  /// whole scrape.
  std::string text() &&;

 private:
  std::vector<prometheus::MetricFamily> families_;  ///< by row of the table
};

/// The series of one port: their first labels are device and port.
class PortSeries {
 public:
  /// `key`: "mlx5_3/1"; a network interface, whose port is 1; or "" for the whole node.
  PortSeries(MetricFamilies& out, const PortKey& key);

  /// `value`: a number, or an optional one; nullopt adds no series. `more`: the other labels.
  template <typename Number>
  void add(Metric metric, std::initializer_list<std::string_view> more,
           const std::optional<Number>& value) {
    if (!value) return;
    std::vector<std::string_view> labels = {device_, port_};
    labels.insert(labels.end(), more);
    out_.add(metric, labels, static_cast<double>(*value));
  }
  template <typename Number>
  void add(Metric metric, std::initializer_list<std::string_view> more, Number value) {
    add(metric, more, std::optional(value));
  }
  template <typename Value>
  void add(Metric metric, const Value& value) {
    add(metric, {}, value);
  }

 private:
  MetricFamilies& out_;
  std::string device_, port_;
};

/// Seconds since the epoch.
inline double unix_seconds(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

/// The PHY's own readings of its lanes and its signal.
void add_phy(PortSeries& out, const PortReport& port);
/// The module, the far module, and the card's slot.
void add_hardware(PortSeries& out, const PortReport& port);

}  // namespace linkhealth
