#include "exporters/module_light_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "exporters/module_lanes_text.h"
#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

/// Below this a receiver sees nothing: one count of a power register is -40 dBm.
constexpr double kNoLightDbm = -39.9;

std::string signed_db(double dbm) {
  return fmt::format("{:.1f}", std::fabs(dbm) < 0.05 ? 0.0 : dbm);
}

/// Where a value stands against limits: nothing, or the word of the limit that it has passed.
std::string beyond(std::optional<double> value, const Limits& limits) {
  if (!value) return {};
  if (limits.low_alarm && *value < *limits.low_alarm) return "low alarm";
  if (limits.high_alarm && *value > *limits.high_alarm) return "high alarm";
  if (limits.low_warn && *value < *limits.low_warn) return "low warning";
  if (limits.high_warn && *value > *limits.high_warn) return "high warning";
  return {};
}

}  // namespace

std::string limit_mark(std::optional<double> value, const Limits& limits, const TextStyle& style) {
  const std::string word = beyond(value, limits);
  if (word.empty()) return {};
  const bool alarm = word.ends_with("alarm");
  const std::string text = (style.ascii ? (alarm ? "!! " : "! ") : (alarm ? "✖ " : "▲ ")) + word;
  return " " + paint_health(text, alarm ? Health::kDown : Health::kDegraded, style);
}

namespace {

/// A bar of kBarColumns columns, an eighth of a column fine where the terminal can draw it.
std::string bar(double share, const TextStyle& style) {
  constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBarColumns * 8));
  std::string fill;
  if (style.ascii) {
    fill.append((eighths + 4) / 8, '#');
    return "[" + pad_right(fill, kBarColumns) + "]";
  }
  for (std::size_t i = 0; i < eighths / 8; ++i) fill += "█";
  fill += kEighths[eighths % 8];
  return "▕" + pad_right(fill, kBarColumns) + "▏";
}

/// How much of the way from the low to the high alarm a power is, in dB; nullopt without limits to
/// compare with.
std::optional<double> share_of_limits(double power_mw, const Limits& limits) {
  if (!limits.low_alarm || !limits.high_alarm) return std::nullopt;
  const auto value = dbm_from_mw(power_mw);
  const auto high = dbm_from_mw(*limits.high_alarm);
  const auto low = dbm_from_mw(std::max(*limits.low_alarm, 1e-4));
  if (!high || !low || *high <= *low) return std::nullopt;
  return value ? (*value - *low) / (*high - *low) : 0.0;
}

bool is_dark(double power_mw) { return dbm_from_mw(power_mw).value_or(kNoLightDbm) <= kNoLightDbm; }

std::string pad_left(const std::string& text, std::size_t width) {
  return fmt::format("{:>{}}", text, width);
}

using LaneValue = std::optional<double> ModuleLane::*;

bool any_lane_has(const ModuleSample& m, LaneValue value) {
  return std::ranges::any_of(m.lanes,
                             [&](const ModuleLane& lane) { return (lane.*value).has_value(); });
}

/// Columns of the widest number: numbers of lanes stand under each other. "no light" is a word.
std::size_t power_columns(const ModuleSample& m, LaneValue power) {
  std::size_t width = 0;
  for (const ModuleLane& lane : m.lanes)
    if (const auto& mw = lane.*power; mw && !is_dark(*mw))
      width = std::max(width, signed_db(*dbm_from_mw(*mw)).size());
  return width;
}

std::size_t bias_columns(const ModuleSample& m) {
  std::size_t width = 0;
  for (const ModuleLane& lane : m.lanes)
    if (lane.tx_bias_ma) width = std::max(width, fmt::format("{:.1f}", *lane.tx_bias_ma).size());
  return width;
}

std::string power_cell(double power_mw, const Limits& limits, std::size_t columns,
                       const TextStyle& style) {
  const auto share = share_of_limits(power_mw, limits);
  return (share ? bar(*share, style) + " " : "") +
         (is_dark(power_mw) ? "no light" : pad_left(signed_db(*dbm_from_mw(power_mw)), columns)) +
         limit_mark(power_mw, limits, style);
}

/// A lane without a value says why, where that is known.
std::string missing_cell(const ModuleSample& m, std::size_t lane) {
  const std::string why = why_no_value(m, lane);
  return why.empty() ? "-" : "- (" + why + ")";
}

/// "limits -8.0 to 3.4 dBm (alarm -8.9, 4.5)"; "" where the module gives none.
std::string power_limits(const Limits& limits) {
  if (limits.empty()) return "no limits are known";
  const auto dbm = [](const std::optional<double>& mw) {
    const auto value = mw ? dbm_from_mw(*mw) : std::nullopt;
    return value ? signed_db(*value) : std::string("-");
  };
  return fmt::format("warns outside {} to {}, alarms outside {} to {}", dbm(limits.low_warn),
                     dbm(limits.high_warn), dbm(limits.low_alarm), dbm(limits.high_alarm));
}

/// How much of the way from the low to the high alarm; nullopt without limits to compare with.
std::optional<double> linear_share(double value, const Limits& limits) {
  if (!limits.low_alarm || !limits.high_alarm || *limits.high_alarm <= *limits.low_alarm)
    return std::nullopt;
  return (value - *limits.low_alarm) / (*limits.high_alarm - *limits.low_alarm);
}

std::string bias_words(double bias_ma, const ModuleSample& m, const TextStyle& style) {
  const Limits& limits = m.thresholds.tx_bias_ma;
  const auto share = linear_share(bias_ma, limits);
  return fmt::format("bias {}{:>{}.1f} mA", share ? bar(*share, style) + " " : "", bias_ma,
                     bias_columns(m)) +
         limit_mark(bias_ma, limits, style);
}

std::string bias_limits(const ModuleSample& m) {
  const Limits& limits = m.thresholds.tx_bias_ma;
  const bool any = std::ranges::any_of(
      m.lanes, [](const ModuleLane& lane) { return lane.tx_bias_ma.has_value(); });
  if (!any || limits.empty()) return {};
  const auto ma = [](const std::optional<double>& value) {
    return value ? fmt::format("{:g}", std::round(*value * 10) / 10) : std::string("-");
  };
  return fmt::format("  Tx bias mA   warns outside {} to {}, alarms outside {} to {}\n",
                     ma(limits.low_warn), ma(limits.high_warn), ma(limits.low_alarm),
                     ma(limits.high_alarm));
}

/// Lanes' cells of one direction: as they are drawn, and how wide without their colours.
struct Cells {
  std::vector<std::string> drawn;
  std::vector<std::size_t> width;
  std::size_t widest = 0;  ///< of those that have a bias beside them
};

Cells power_cells(const ModuleSample& m, LaneValue power, const Limits& limits,
                  const TextStyle& style) {
  TextStyle plain = style;
  plain.colour = false;
  const std::size_t columns = power_columns(m, power);
  Cells cells;
  for (std::size_t i = 0; i < m.lanes.size(); ++i) {
    const auto& mw = m.lanes[i].*power;
    cells.drawn.push_back(mw ? power_cell(*mw, limits, columns, style) : missing_cell(m, i));
    cells.width.push_back(
        display_width(mw ? power_cell(*mw, limits, columns, plain) : cells.drawn.back()));
    if (m.lanes[i].tx_bias_ma) cells.widest = std::max(cells.widest, cells.width.back());
  }
  return cells;
}

std::string one_side(const ModuleSample& m, std::string_view title, LaneValue power,
                     const Limits& limits, const TextStyle& style) {
  if (!any_lane_has(m, power)) return {};
  const bool sent = power == &ModuleLane::tx_power_mw;
  std::string out = fmt::format("\n  {}   {}\n", title, power_limits(limits));
  if (sent) out += bias_limits(m);
  const Cells cells = power_cells(m, power, limits, style);
  for (std::size_t i = 0; i < m.lanes.size(); ++i) {
    out += fmt::format("  {:>4}  {}", i + 1, cells.drawn[i]);
    if (sent && m.lanes[i].tx_bias_ma)
      out += std::string(cells.widest - cells.width[i] + 3, ' ') +
             bias_words(*m.lanes[i].tx_bias_ma, m, style);
    out += "\n";
  }
  return out;
}

std::string bias_alone(const ModuleSample& m, const TextStyle& style) {
  if (any_lane_has(m, &ModuleLane::tx_power_mw)) return {};
  std::string out;
  for (std::size_t i = 0; i < m.lanes.size(); ++i)
    if (m.lanes[i].tx_bias_ma)
      out += fmt::format("  {:>4}  {}\n", i + 1, bias_words(*m.lanes[i].tx_bias_ma, m, style));
  return out.empty() ? out : "\n  Tx (no power monitor)\n" + bias_limits(m) + out;
}

}  // namespace

std::string light_text(const ModuleSample& m, const TextStyle& style) {
  // A receiver's OMA is another number than the average power that a meter shows.
  const std::string_view received = m.rx_power_is_average == false ? "Rx dBm (OMA)" : "Rx dBm";
  return one_side(m, received, &ModuleLane::rx_power_mw, m.thresholds.rx_power_mw, style) +
         one_side(m, "Tx dBm", &ModuleLane::tx_power_mw, m.thresholds.tx_power_mw, style) +
         bias_alone(m, style);
}

}  // namespace linkhealth
