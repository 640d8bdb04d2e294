#include "exporters/explain_light.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

constexpr std::size_t kBarColumns = 8;
constexpr double kFallbackLowDbm =
    -12;  // where a module gives no limits, bars run over what optics usually receive
constexpr double kFallbackHighDbm = 4;
constexpr double kDark = -std::numeric_limits<double>::infinity();

double dbm(double power_mw) { return dbm_from_mw(power_mw).value_or(kDark); }

std::optional<double> limit_dbm(std::optional<double> limit_mw) {
  return limit_mw ? dbm_from_mw(*limit_mw) : std::nullopt;
}

/// The lane with the least light, counted from 0.
std::optional<std::size_t> darkest_lane(const ModuleSample& module) {
  std::optional<std::size_t> darkest;
  for (std::size_t i = 0; i < module.lanes.size(); ++i)
    if (module.lanes[i].rx_power_mw &&
        (!darkest || *module.lanes[i].rx_power_mw < *module.lanes[*darkest].rx_power_mw))
      darkest = i;
  return darkest;
}

std::string bar(double power_dbm, double low_dbm, double high_dbm, bool ascii) {
  constexpr std::array<std::string_view, 8> kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double share = std::clamp((power_dbm - low_dbm) / (high_dbm - low_dbm), 0.0, 1.0);
  const auto eighths = static_cast<std::size_t>(std::lround(share * 8 * kBarColumns));
  std::string inside;
  for (std::size_t i = 0; i < eighths / 8; ++i) inside += ascii ? "#" : "█";
  if (!ascii) inside += kParts[eighths % 8];
  inside = pad_right(inside, kBarColumns);
  return ascii ? "[" + inside + "]" : "▕" + inside + "▏";
}

std::vector<std::string> lane_cells(const ModuleSample& module, const TextStyle& style) {
  const Limits& limits = module.thresholds.rx_power_mw;
  const double low = limit_dbm(limits.low_alarm).value_or(kFallbackLowDbm);
  const double high = std::max(limit_dbm(limits.high_alarm).value_or(kFallbackHighDbm), low + 1);
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < module.lanes.size(); ++i) {
    if (!module.lanes[i].rx_power_mw) {
      cells.push_back(fmt::format("{} ?", i + 1));
      continue;
    }
    const double power_mw = *module.lanes[i].rx_power_mw;
    const double power = dbm(power_mw);
    const bool weak = (limits.low_warn && power_mw < *limits.low_warn) ||
                      (limits.low_alarm && power_mw < *limits.low_alarm) || std::isinf(power);
    cells.push_back(fmt::format("{} {} {}{}", i + 1, bar(power, low, high, style.ascii),
                                std::isinf(power) ? "dark" : fmt::format("{:+.1f}", power),
                                weak ? (style.ascii ? " !" : " ▲") : ""));
  }
  return cells;
}

std::optional<double> far_tx_dbm(const PortReport& port, std::size_t lane) {
  const auto& peer = port.latest.peer;
  if (!peer || !peer->module || lane >= peer->module->lanes.size()) return std::nullopt;
  const auto& power_mw = peer->module->lanes[lane].tx_power_mw;
  return power_mw ? std::optional(dbm(*power_mw)) : std::nullopt;
}

std::string power_words(double power_dbm) { return number_words(power_dbm, "dBm"); }

/// "far Tx +0.4 ━━━━ loss 9.5 dB ━━━━▶ Rx -9.1 (lane 2)   limit -9.9"
std::string budget_line(const PortReport& port, const ModuleSample& module, std::size_t lane,
                        bool ascii) {
  const double rx = dbm(*module.lanes[lane].rx_power_mw);
  const auto tx = far_tx_dbm(port, lane);
  const std::string_view dash = ascii ? "--------" : "━━━━━━━━";
  std::string text = "far Tx " + (tx ? power_words(*tx) : "not known");
  text += fmt::format(" {}", dash);
  if (tx && std::isfinite(*tx) && std::isfinite(rx))
    text += fmt::format(" loss {:.1f} dB ", *tx - rx);
  text += fmt::format("{}{} Rx {}", dash, ascii ? ">" : "▶", power_words(rx));
  if (module.lanes.size() > 1) text += fmt::format(" (lane {})", lane + 1);
  const Limits& limits = module.thresholds.rx_power_mw;
  if (const auto alarm = limit_dbm(limits.low_alarm))
    text += fmt::format("   limit {}", power_words(*alarm));
  return text;
}

}  // namespace

std::vector<std::string> light_lines(const PortReport& port, const TextStyle& style) {
  const auto& module = port.latest.module;
  if (!module || !module->present) return {};
  const auto lane = darkest_lane(*module);
  if (!lane) return {};
  std::vector<std::string> lines;
  lines.push_back("  " + paint_faint(pad_right("Light dBm", 11), style) +
                  budget_line(port, *module, *lane, style.ascii));
  if (module->lanes.size() < 2) return lines;
  std::string line = "  " + paint_faint(pad_right("Lanes Rx", 11), style);
  std::size_t used = 13;
  const auto width = static_cast<std::size_t>(std::clamp(style.width_columns, 50, 1000));
  for (const std::string& cell : lane_cells(*module, style)) {
    const std::size_t columns = std::max<std::size_t>(display_width(cell), 17) + 3;
    if (used + columns - 3 > width && used > 13) {
      lines.push_back(line);
      line = std::string(13, ' ');
      used = 13;
    }
    line += pad_right(cell, columns);
    used += columns;
  }
  lines.push_back(line);
  for (std::string& each : lines) each.erase(each.find_last_not_of(' ') + 1);
  return lines;
}

}  // namespace linkhealth
