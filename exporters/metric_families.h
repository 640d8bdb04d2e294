// Series of a report by the names of the metric table.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "exporters/metrics.h"

namespace linkhealth {

/// Adds series to a sink by their metric's name and the values of its labels.
class Families {
 public:
  using Labels = std::initializer_list<std::string_view>;
  explicit Families(SeriesSink& sink) : sink_(sink) {}

  /// REQUIRES: `name` is in the table and `labels` are as many as it says there.
  void add(std::string_view name, Labels labels, double value) { sink_.add(row_of(name), std::span(labels), value); }
  void add(std::string_view name, Labels labels, std::optional<double> value) {
    if (value) add(name, labels, *value);
  }
  /// For many series of one metric.
  void add(std::size_t row, Labels labels, double value) { sink_.add(row, std::span(labels), value); }

  static std::size_t row_of(std::string_view name);

 private:
  SeriesSink& sink_;
};

struct PortLabels {
  std::string device;
  std::string port;
};

/// Seconds since the epoch.
inline double unix_seconds(WallTime time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

/// The PHY's own view of its lanes and of its signal.
void add_phy(Families& out, const PortReport& port, const PortLabels& at);
/// The module, the far module, and the card's slot.
void add_hardware(Families& out, const PortReport& port, const PortLabels& at);

}  // namespace linkhealth
