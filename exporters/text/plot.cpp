#include "exporters/text/plot.h"

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
constexpr std::array<std::string_view, 3> kAsciiParts{" ", ".", "#"};
constexpr std::array<std::string_view, 6> kAsciiHeights{" ", "_", ".", "-", "=", "^"};

double fold_in(double into, double value, PlotFold fold) {
  if (std::isnan(value)) return into;
  if (std::isnan(into)) return value;
  return fold == PlotFold::kLeast  ? std::min(into, value)
         : fold == PlotFold::kMost ? std::max(into, value)
                                   : into + value;
}

/// How much of the axis a value fills, in parts of a character; at least one, because an empty
/// column means no value.
std::size_t parts_of(double value, Axis axis, std::size_t parts) {
  const double share = std::clamp((value - axis.low) / (axis.high - axis.low), 0.0, 1.0);
  return std::max<std::size_t>(
      1, static_cast<std::size_t>(std::lround(share * static_cast<double>(parts))));
}

/// Distances between the labels of a time axis, in seconds: 1 min to 90 d.
constexpr std::int64_t kTicks_s[] = {60,     120,    300,     600,     900,    1800,  3600,
                                     7200,   10800,  14400,   21600,   43200,  86400, 172800,
                                     345600, 604800, 1209600, 2419200, 7776000};
constexpr std::int64_t kHalfDay_s = 43'200;

/// "2026-11-20T12:05:00Z" as "12:05"; if labels are half a day apart as "11-20 12:05", if more as
/// "11-20".
std::string tick_label(std::int64_t at_s, std::int64_t every_s) {
  const std::string at = format_rfc3339(WallTime(std::chrono::seconds(at_s)));
  const std::string date = at.substr(5, 5), time = at.substr(11, 5);
  return every_s < kHalfDay_s ? time : every_s == kHalfDay_s ? date + " " + time : date;
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
    if (std::isnan(value))
      out += ' ';
    else
      out += ascii ? kAsciiHeights[parts_of(value, axis, kAsciiHeights.size() - 1)]
                   : kBlocks[parts_of(value, axis, kBlocks.size() - 1)];
  }
  return out;
}

std::vector<std::string> plot_lines(const std::vector<double>& columns, const Plot& plot,
                                    std::size_t label_width) {
  const std::size_t per_row = (plot.ascii ? kAsciiParts.size() : kBlocks.size()) - 1;
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < plot.height; ++row) {
    const std::size_t below = (plot.height - 1 - row) * per_row;
    // A label is the value at the row's upper edge; for the last row, at its lower edge.
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
      line += plot.ascii ? kAsciiParts[here] : kBlocks[here];
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
  const auto* const fits = std::ranges::find_if(kTicks_s, [&](std::int64_t every_s) {
    const auto width = static_cast<double>(tick_label(from_s, every_s).size() + 3);
    return static_cast<double>(every_s) >= column_s * width;
  });
  const std::int64_t every_s = fits == std::end(kTicks_s) ? kTicks_s[18] : *fits;
  for (std::int64_t at_s = from_s + (every_s - from_s % every_s) % every_s; at_s < to_s;
       at_s += every_s) {
    const auto column = static_cast<std::size_t>(static_cast<double>(at_s - from_s) / column_s);
    const std::string label = "|" + tick_label(at_s, every_s);
    if (column + label.size() <= columns) line.replace(column, label.size(), label);
  }
  return line;
}

}  // namespace linkhealth
