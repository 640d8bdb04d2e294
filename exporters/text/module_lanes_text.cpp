#include "exporters/text/module_lanes_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/time.h"
#include "exporters/text/text_layout.h"

namespace linkhealth {

namespace {

constexpr std::size_t kBarColumns = 7;
/// Below this a receiver sees nothing: one count of a power register is -40 dBm.
constexpr double kNoLightDbm = -39.9;

std::string named(const std::optional<bool>& flag, std::string_view name) {
  return flag == true ? std::string(name) : std::string();
}

/// A heading, and lines that are indented and wrapped; "" without lines.
std::string section(std::string_view heading, std::string_view note,
                    const std::vector<std::string>& lines, const TextStyle& style) {
  if (lines.empty()) return {};
  std::string out = "\n" + paint_bold(fmt::format("  {}", heading), style);
  out += note.empty() ? "\n" : fmt::format(" ({})\n", note);
  const auto width = static_cast<std::size_t>(std::max(60, style.width_columns)) - 6;
  for (const std::string& line : lines) {
    std::string indent = "    ";
    for (const std::string& part : fitted(line, width)) {
      out += indent + part + "\n";
      indent = "      ";
    }
  }
  return out;
}

/// A line for each run of lanes with the same words: "host lanes 2 to 4: …".
void add_lanes(std::string_view name, const std::vector<std::string>& words,
               std::vector<std::string>& lines) {
  for (std::size_t first = 0, end = 0; first < words.size(); first = end) {
    for (end = first + 1; end < words.size() && words[end] == words[first];) ++end;
    if (words[first].empty()) continue;
    lines.push_back(end == first + 1
                        ? fmt::format("{}lane {}: {}", name, end, words[first])
                        : fmt::format("{}lanes {} to {}: {}", name, first + 1, end, words[first]));
  }
}

// --- light and bias

std::string signed_db(double dbm) {
  return fmt::format("{:.1f}", std::fabs(dbm) < 0.05 ? 0.0 : dbm);
}

bool is_dark(double power_mw) { return dbm_from_mw(power_mw).value_or(kNoLightDbm) <= kNoLightDbm; }

/// A bar of kBarColumns columns, an eighth of a column fine where the terminal can draw it.
std::string bar(double share, const TextStyle& style) {
  constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBarColumns * 8));
  std::string fill;
  if (style.ascii) {
    fill.append((eighths + 4) / 8, '#');
    return "[" + pad_right(fill, kBarColumns) + "] ";
  }
  for (std::size_t i = 0; i < eighths / 8; ++i) fill += "█";
  fill += kEighths[eighths % 8];
  return "▕" + pad_right(fill, kBarColumns) + "▏ ";
}

/// The bar of a value between its alarms; "" without them.
std::string bar_between(std::optional<double> value, double low, std::optional<double> high,
                        const TextStyle& style) {
  if (!high || *high <= low) return {};
  return bar(value ? (*value - low) / (*high - low) : 0, style);
}

std::string power_bar(double power_mw, const Limits& limits, const TextStyle& style) {
  const double low = dbm_from_mw(limits.low_alarm.value_or(0)).value_or(kNoLightDbm);
  const auto high = limits.high_alarm ? dbm_from_mw(*limits.high_alarm) : std::nullopt;
  return bar_between(dbm_from_mw(power_mw), std::max(low, kNoLightDbm), high, style);
}

/// The host lanes that feed a media lane; CMIS shares them out in order.
std::span<const ModuleHostLane> host_lanes_of(const ModuleSample& m, std::size_t lane) {
  const std::size_t share = std::max<std::size_t>(1, m.host_lanes.size() / m.lanes.size());
  const std::size_t begin = std::min(m.host_lanes.size(), lane * share);
  return std::span(m.host_lanes).subspan(begin, std::min(share, m.host_lanes.size() - begin));
}

bool data_path_works(const ModuleHostLane& lane) {
  return lane.data_path_state.empty() || lane.data_path_state == "Activated";
}

/// Why a media lane has no value while others have; "" where that is not known.
std::string why_no_value(const ModuleSample& m, std::size_t lane) {
  const auto host = host_lanes_of(m, lane);
  const auto all = [&](auto is_so) { return !host.empty() && std::ranges::all_of(host, is_so); };
  if (all([](const ModuleHostLane& h) { return h.in_use == false; })) return " (not in use)";
  if (all([](const ModuleHostLane& h) { return h.in_use == false || !data_path_works(h); }))
    return " (data path down)";
  // An import may have readings of some lanes only.
  if (m.imported_at || m.lanes[lane] != ModuleLane{}) return {};
  return all([](const ModuleHostLane& h) { return h == ModuleHostLane{}; }) ? " (not read)"
                                                                            : " (not there)";
}

using LaneValue = std::optional<double> ModuleLane::*;

/// Columns of the widest number: numbers of lanes are aligned. "no light" is a word.
std::size_t number_columns(const ModuleSample& m, LaneValue value) {
  std::size_t width = 0;
  for (const ModuleLane& lane : m.lanes) {
    const auto& number = lane.*value;
    if (!number) continue;
    if (value == &ModuleLane::tx_bias_ma)
      width = std::max(width, fmt::format("{:.1f}", *number).size());
    else if (!is_dark(*number))
      width = std::max(width, signed_db(*dbm_from_mw(*number)).size());
  }
  return width;
}

std::string power_cell(const ModuleSample& m, std::size_t lane, LaneValue power,
                       const Limits& limits, const TextStyle& style) {
  const auto& mw = m.lanes[lane].*power;
  if (!mw) return "-" + why_no_value(m, lane);
  return power_bar(*mw, limits, style) +
         (is_dark(*mw)
              ? "no light"
              : fmt::format("{:>{}}", signed_db(*dbm_from_mw(*mw)), number_columns(m, power))) +
         limit_mark(mw, limits, style);
}

std::string bias_cell(const ModuleSample& m, std::size_t lane, const TextStyle& style) {
  const Limits& limits = m.thresholds.tx_bias_ma;
  const double ma = *m.lanes[lane].tx_bias_ma;
  return fmt::format("bias {}{:>{}.1f} mA",
                     bar_between(ma, limits.low_alarm.value_or(0), limits.high_alarm, style), ma,
                     number_columns(m, &ModuleLane::tx_bias_ma)) +
         limit_mark(ma, limits, style);
}

/// "warns outside -8.0 to 3.4, alarms outside -8.9 to 4.5"
template <typename Format>
std::string limits_words(const Limits& limits, const Format& format) {
  if (limits.empty()) return "no limits are known";
  const auto word = [&](const std::optional<double>& limit) {
    return limit ? format(*limit) : std::string("-");
  };
  return fmt::format("warns outside {} to {}, alarms outside {} to {}", word(limits.low_warn),
                     word(limits.high_warn), word(limits.low_alarm), word(limits.high_alarm));
}

std::string power_limits(const Limits& limits) {
  return limits_words(limits, [](double mw) {
    const auto dbm = dbm_from_mw(mw);
    return dbm ? signed_db(*dbm) : std::string("-");
  });
}

std::string bias_limits(const Limits& limits) {
  return limits_words(limits,
                      [](double ma) { return fmt::format("{:g}", std::round(ma * 10) / 10); });
}

bool any_lane_has(const ModuleSample& m, LaneValue value) {
  return std::ranges::any_of(m.lanes,
                             [&](const ModuleLane& lane) { return (lane.*value).has_value(); });
}

std::string rx_table(const ModuleSample& m, const TextStyle& style) {
  if (!any_lane_has(m, &ModuleLane::rx_power_mw)) return {};
  const Limits& limits = m.thresholds.rx_power_mw;
  // A receiver's OMA is another number than the average power that a meter shows.
  std::string out = fmt::format(
      "\n  Rx dBm{}   {}\n", m.rx_power_is_average == false ? " (OMA)" : "", power_limits(limits));
  for (std::size_t i = 0; i < m.lanes.size(); ++i)
    out += fmt::format("  {:>4}  {}\n", i + 1,
                       power_cell(m, i, &ModuleLane::rx_power_mw, limits, style));
  return out;
}

std::string tx_table(const ModuleSample& m, const TextStyle& style) {
  const bool power = any_lane_has(m, &ModuleLane::tx_power_mw);
  const bool bias = any_lane_has(m, &ModuleLane::tx_bias_ma);
  if (!power && !bias) return {};
  const Limits& limits = m.thresholds.tx_power_mw;
  std::string out = power ? fmt::format("\n  Tx dBm   {}\n", power_limits(limits))
                          : "\n  Tx (no power monitor)\n";
  if (bias && !m.thresholds.tx_bias_ma.empty())
    out += fmt::format("  Tx bias mA   {}\n", bias_limits(m.thresholds.tx_bias_ma));
  TextStyle plain = style;
  plain.colour = false;
  std::size_t widest = 0;
  for (std::size_t i = 0; power && i < m.lanes.size(); ++i)
    if (m.lanes[i].tx_bias_ma)
      widest = std::max(widest,
                        display_width(power_cell(m, i, &ModuleLane::tx_power_mw, limits, plain)));
  for (std::size_t i = 0; i < m.lanes.size(); ++i) {
    if (!power && !m.lanes[i].tx_bias_ma) continue;
    out += fmt::format("  {:>4}  ", i + 1);
    if (power) {
      out += power_cell(m, i, &ModuleLane::tx_power_mw, limits, style);
      if (m.lanes[i].tx_bias_ma)
        out += std::string(
            widest + 3 - display_width(power_cell(m, i, &ModuleLane::tx_power_mw, limits, plain)),
            ' ');
    }
    out += (m.lanes[i].tx_bias_ma ? bias_cell(m, i, style) : "") + "\n";
  }
  return out;
}

// --- states and flags

/// SFF-8472 gives the loss of signal and the laser fault as they are now; the other maps latch
/// them.
bool losses_are_live(const ModuleSample& m) { return m.management.starts_with("SFF-8472"); }

std::string loss_words(const ModuleLane& lane) {
  return join({named(lane.rx_los, "Rx LOS"), named(lane.rx_lol, "Rx LOL"),
               named(lane.tx_los, "Tx LOS"), named(lane.tx_lol, "Tx LOL"),
               named(lane.tx_fault, "Tx fault"), named(lane.tx_eq_fault, "Tx equalizer fault")},
              ", ");
}

std::string media_state(const ModuleLane& lane) {
  if (lane.tx_disabled == true) return "Tx off by host (OutputDisableTx)";
  if (lane.output_squelch_force_tx == true) return "Tx silenced by host (OutputSquelchForceTx)";
  return lane.tx_output_valid == false ? "sends no valid signal to the fibre" : "";
}

/// A data path that is not up sends nothing to the host either.
std::string host_state(const ModuleHostLane& lane) {
  std::string output;
  if (lane.in_use == false)
    output = "";
  else if (!data_path_works(lane))
    output = "data path " + lane.data_path_state +
             (lane.dp_deinit == true ? ", as the host asked (DPDeinit)" : "");
  else if (lane.rx_output_disabled == true)
    output = "Rx output off by host";
  else if (lane.rx_output_valid == false)
    output = "sends no valid signal to the host";
  const bool refused = lane.config_status.starts_with("Rejected");
  return join(
      {output, refused ? "refused its configuration (" + lane.config_status + ")" : std::string()},
      ", ");
}

/// "supply low alarm and high warning": the worst of each side, for a value that swung has passed
/// both; "" without a flag.
std::string alarm_words(std::string_view name, const AlarmFlags& flags) {
  const auto side = [](std::string_view which, const auto& alarm, const auto& warn) {
    return alarm == true  ? fmt::format("{} alarm", which)
           : warn == true ? fmt::format("{} warning", which)
                          : std::string();
  };
  const std::string words = join({side("low", flags.low_alarm, flags.low_warn),
                                  side("high", flags.high_alarm, flags.high_warn)},
                                 " and ");
  return words.empty() ? words : fmt::format("{} {}", name, words);
}

std::string media_flags(const ModuleLane& lane, bool with_losses) {
  return join(
      {with_losses ? loss_words(lane) : "", alarm_words("Rx power", lane.rx_power_flags),
       alarm_words("Tx power", lane.tx_power_flags), alarm_words("bias", lane.tx_bias_flags)},
      ", ");
}

std::string host_flags(const ModuleHostLane& lane) {
  if (lane.in_use == false) return {};
  return join({named(lane.tx_los, "no signal from the host (Tx LOS)"),
               named(lane.tx_lol, "no lock on the host's signal (Tx LOL)"),
               named(lane.tx_eq_fault, "input equalizer did not adapt")},
              ", ");
}

std::string history_line(const ModuleFlag& flag, const TextStyle& style) {
  const std::string name =
      clean_text(flag.name, style.ascii) + (flag.lane ? fmt::format(" {}", *flag.lane) : "");
  return fmt::format("{} {:<5}  {} change{}", pad_right(name, 28), flag.set ? "set" : "clear",
                     flag.change_count, flag.change_count == 1 ? "" : "s") +
         (flag.set_at ? ", last set " + format_rfc3339(*flag.set_at) : "") +
         (flag.cleared_at ? ", cleared " + format_rfc3339(*flag.cleared_at) : "");
}

}  // namespace

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

std::vector<std::string> fitted(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return {text};
  return wrap(text, width);
}

std::string limit_mark(std::optional<double> value, const Limits& limits, const TextStyle& style) {
  if (!value) return {};
  const auto below = [&](const auto& limit) { return limit && *value < *limit; };
  const auto above = [&](const auto& limit) { return limit && *value > *limit; };
  const std::string_view word = below(limits.low_alarm)    ? "low alarm"
                                : above(limits.high_alarm) ? "high alarm"
                                : below(limits.low_warn)   ? "low warning"
                                : above(limits.high_warn)  ? "high warning"
                                                           : "";
  if (word.empty()) return {};
  const bool alarm = word.ends_with("alarm");
  const std::string_view sign = style.ascii ? (alarm ? "!!" : "!") : (alarm ? "✖" : "▲");
  return " " + paint_health(fmt::format("{} {}", sign, word),
                            alarm ? Health::kDown : Health::kDegraded, style);
}

std::string light_text(const ModuleSample& m, const TextStyle& style) {
  return rx_table(m, style) + tx_table(m, style);
}

std::string lane_states_text(const ModuleSample& m, const TextStyle& style) {
  std::vector<std::string> media, host, lines;
  for (const ModuleLane& lane : m.lanes)
    media.push_back(join({losses_are_live(m) ? loss_words(lane) : "", media_state(lane)}, ", "));
  for (const ModuleHostLane& lane : m.host_lanes) host.push_back(host_state(lane));
  add_lanes("media ", media, lines);
  add_lanes("host ", host, lines);
  return section("Lanes now", "", lines, style);
}

std::string flags_text(const ModuleSample& m, const TextStyle& style) {
  std::vector<std::string> lines, media, host, history;
  for (const std::string& words :
       {alarm_words("temperature", m.temperature_flags), alarm_words("supply", m.supply_flags)})
    if (!words.empty()) lines.push_back(words);
  for (const ModuleLane& lane : m.lanes) media.push_back(media_flags(lane, !losses_are_live(m)));
  for (const ModuleHostLane& lane : m.host_lanes) host.push_back(host_flags(lane));
  add_lanes("", media, lines);
  add_lanes("host ", host, lines);
  for (const ModuleFlag& flag : m.flags) history.push_back(history_line(flag, style));
  return section("Flags", "latched: set since the last read by any program", lines, style) +
         section("Flags that changed",
                 "as the daemon read them; another reader may have cleared some", history, style);
}

}  // namespace linkhealth
