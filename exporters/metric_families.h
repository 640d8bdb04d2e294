// Series of a report by the names of the metric table.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "exporters/metric_rows.h"
#include "exporters/metrics.h"

namespace linkhealth {

/// A metric by its name: the compiler finds the row, and takes no name that the table does not
/// have.
class Metric {
 public:
  consteval Metric(const char* name) : row_(0) {  // NOLINT(*-explicit-*): a name is one
    while (metric_rows::kRows.at(row_).name != name) ++row_;
  }
  [[nodiscard]] constexpr std::size_t row() const { return row_; }

 private:
  std::size_t row_;
};

/// Adds series to a sink by their metric and the values of its labels.
class Families {
 public:
  using Labels = std::initializer_list<std::string_view>;
  explicit Families(SeriesSink& sink) : sink_(sink) {}

  /// REQUIRES: `labels` are as many as the table says.
  void add(Metric metric, Labels labels, double value) {
    sink_.add(metric.row(), std::span(labels), value);
  }
  void add(Metric metric, Labels labels, std::optional<double> value) {
    if (value) add(metric, labels, *value);
  }

 private:
  SeriesSink& sink_;
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
void add_phy(Families& out, const PortReport& port, const PortLabels& at);
/// The module, the far module, and the card's slot.
void add_hardware(Families& out, const PortReport& port, const PortLabels& at);

}  // namespace linkhealth
