// Values over time drawn with characters: one line (a sparkline) or a plot with axes. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/time.h"

namespace linkhealth {

/// What stands for several values in one column.
enum class PlotFold : std::uint8_t { kLeast, kMost, kSum };

/// `values` in exactly `columns` numbers; NaN where nothing was seen, and where there are more
/// columns than values each value fills several.
std::vector<double> in_columns(const std::vector<double>& values, std::size_t columns,
                               PlotFold fold);

struct Axis {
  double low = 0, high = 1;  ///< REQUIRES: low < high
};
/// One character a column, eight heights ("▁▂▃▄▅▆▇█"; in ASCII "_.-=^", five). ' ' where nothing
/// was seen.
std::string sparkline(const std::vector<double>& columns, Axis axis, bool ascii);

struct Plot {
  std::size_t height = 6;
  Axis axis;
  std::function<std::string(double)> label;  ///< of the value axis
  bool ascii = false;
};
/// `height` lines, each a label and the columns: the values as steps of a line, with the range in a
/// column filled from `columns` (the worst) to `typical` where that is given. A gap is empty.
std::vector<std::string> plot_lines(const std::vector<double>& columns, const Plot& plot,
                                    std::size_t label_width);

/// The line below a plot: times, as many as fit without touching. "2 h", "1 h", "now" would depend
/// on when it is read: these are instants of the day, with the date where it changes.
std::string time_axis(WallTime from, WallTime to, std::size_t columns);

}  // namespace linkhealth
