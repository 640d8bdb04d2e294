// Values over time drawn with characters: one line (a sparkline) or a plot with axes. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/time.h"

namespace linkhealth {

/// Which of several values a column shows.
enum class PlotFold : std::uint8_t { kLeast, kMost, kSum };

/// `values` as exactly `columns` numbers; NaN without a reading. If there are more columns than
/// values, each value fills several.
std::vector<double> in_columns(const std::vector<double>& values, std::size_t columns,
                               PlotFold fold);

struct Axis {
  double low = 0, high = 1;  ///< REQUIRES: low < high
};
/// One character per column, in eight heights ("▁▂▃▄▅▆▇█"; five in ASCII: "_.-=^"); ' ' without a
/// reading.
std::string sparkline(const std::vector<double>& columns, Axis axis, bool ascii);

struct Plot {
  std::size_t height = 6;
  Axis axis;
  std::function<std::string(double)> label;  ///< of the value axis
  bool ascii = false;
};
/// `height` lines, each with a label and the columns, filled from the bottom up to the value.
std::vector<std::string> plot_lines(const std::vector<double>& columns, const Plot& plot,
                                    std::size_t label_width);

/// The line below a plot: times of day, or dates, as many as fit.
std::string time_axis(WallTime from, WallTime to, std::size_t columns);

}  // namespace linkhealth
