#include "exporters/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace linkhealth {

namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 9> kBlocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 6> kAsciiHeights{" ", "_", ".", "-", "=", "^"};

double fold_in(double into, double value, PlotFold fold) {
  if (std::isnan(value)) return into;
  if (std::isnan(into)) return value;
  return fold == PlotFold::kLeast  ? std::min(into, value)
         : fold == PlotFold::kMost ? std::max(into, value)
                                   : into + value;
}

/// How much of `height` a value fills, in units of a character's parts; at least one: a value is
/// not nothing.
std::size_t parts_of(double value, Axis axis, std::size_t parts) {
  const double share = std::clamp((value - axis.low) / (axis.high - axis.low), 0.0, 1.0);
  return std::max<std::size_t>(
      1, static_cast<std::size_t>(std::lround(share * static_cast<double>(parts))));
}

/// Ticks of a time axis: the distance, and how the instant is written.
struct Tick {
  std::int64_t every_s;
  std::string_view format;  ///< of the year, month, day, hour, minute: which parts
  std::size_t width;
};
constexpr std::array<Tick, 19> kTicks{{{60, "time", 5},
                                       {120, "time", 5},
                                       {300, "time", 5},
                                       {600, "time", 5},
                                       {900, "time", 5},
                                       {1800, "time", 5},
                                       {3600, "time", 5},
                                       {7200, "time", 5},
                                       {10'800, "time", 5},
                                       {14'400, "time", 5},
                                       {21'600, "time", 5},
                                       {43'200, "both", 11},
                                       {86'400, "date", 5},
                                       {172'800, "date", 5},
                                       {345'600, "date", 5},
                                       {604'800, "date", 5},
                                       {1'209'600, "date", 5},
                                       {2'419'200, "date", 5},
                                       {7'776'000, "date", 5}}};

/// "2026-11-20T12:05:00Z" as "12:05", "11-20", or both.
std::string tick_label(std::int64_t at_s, const Tick& tick) {
  const std::string at = format_rfc3339(WallTime(std::chrono::seconds(at_s)));
  if (tick.format == "time") return at.substr(11, 5);
  if (tick.format == "date") return at.substr(5, 5);
  return at.substr(5, 5) + " " + at.substr(11, 5);
}

}  // namespace

std::vector<double> in_columns(const std::vector<double>& values, std::size_t columns,
                               PlotFold fold) {
  std::vector<double> out(columns, kNothing);
  const std::size_t count = values.size();
  if (count == 0 || columns == 0) return out;
  if (count <= columns) {
    for (std::size_t i = 0; i < columns; ++i) out[i] = values[i * count / columns];
    return out;
  }
  for (std::size_t i = 0; i < count; ++i) {
    double& column = out[i * columns / count];
    column = fold_in(column, values[i], fold);
  }
  return out;
}

std::string sparkline(const std::vector<double>& columns, Axis axis, bool ascii) {
  std::string out;
  for (const double value : columns) {
    if (std::isnan(value)) {
      out += ' ';
    } else if (ascii) {
      out += kAsciiHeights[parts_of(value, axis, kAsciiHeights.size() - 1)];
    } else {
      out += kBlocks[parts_of(value, axis, kBlocks.size() - 1)];
    }
  }
  return out;
}

std::vector<std::string> plot_lines(const std::vector<double>& columns, const Plot& plot,
                                    std::size_t label_width) {
  const std::size_t per_row = plot.ascii ? 2 : kBlocks.size() - 1;
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < plot.height; ++row) {
    const std::size_t below = (plot.height - 1 - row) * per_row;
    // The label is that of the row's upper edge; the last row has the lower one.
    const double share = row + 1 == plot.height ? 0
                                                : static_cast<double>(plot.height - row) /
                                                      static_cast<double>(plot.height);
    const bool labelled = row == 0 || row + 1 == plot.height || row == plot.height / 2;
    const double at = plot.axis.low + (plot.axis.high - plot.axis.low) * share;
    std::string line = fmt::format("{:>{}} {}", labelled ? plot.label(at) : "", label_width,
                                   plot.ascii ? "|" : "┤");
    for (const double value : columns) {
      const std::size_t filled =
          std::isnan(value) ? 0 : parts_of(value, plot.axis, plot.height * per_row);
      const std::size_t here = filled > below ? std::min(filled - below, per_row) : 0;
      if (plot.ascii) {
        line += here == 0 ? ' ' : here == 1 ? '.' : '#';
      } else {
        line += kBlocks[here];
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string time_axis(WallTime from, WallTime to, std::size_t columns) {
  const std::int64_t from_s =
      std::chrono::floor<std::chrono::seconds>(from).time_since_epoch().count();
  const std::int64_t to_s = std::chrono::floor<std::chrono::seconds>(to).time_since_epoch().count();
  std::string line(columns, ' ');
  if (to_s <= from_s || columns == 0) return line;
  const double column_s = static_cast<double>(to_s - from_s) / static_cast<double>(columns);
  const Tick* tick = &kTicks.back();
  for (const Tick& candidate : kTicks) {
    if (static_cast<double>(candidate.every_s) <
        column_s * static_cast<double>(candidate.width + 3))
      continue;
    tick = &candidate;
    break;
  }
  for (std::int64_t at_s = from_s + (tick->every_s - from_s % tick->every_s) % tick->every_s;
       at_s < to_s; at_s += tick->every_s) {
    const auto column = static_cast<std::size_t>(static_cast<double>(at_s - from_s) / column_s);
    const std::string label = "|" + tick_label(at_s, *tick);
    if (column + label.size() <= columns) line.replace(column, label.size(), label);
  }
  return line;
}

}  // namespace linkhealth
