#include "exporters/module_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "exporters/module_lanes_text.h"
#include "exporters/module_values_text.h"
#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

constexpr std::size_t kBarColumns = 7;
/// Below this a receiver sees nothing: one count of a power register is -40 dBm.
constexpr double kNoLightDbm = -39.9;

std::string signed_db(double dbm) { return fmt::format("{:.1f}", std::fabs(dbm) < 0.05 ? 0.0 : dbm); }

/// Where a value stands against limits: nothing, or the word of the limit that it has passed.
std::string beyond(std::optional<double> value, const Limits& limits) {
  if (!value) return {};
  if (limits.low_alarm && *value < *limits.low_alarm) return "low alarm";
  if (limits.high_alarm && *value > *limits.high_alarm) return "high alarm";
  if (limits.low_warn && *value < *limits.low_warn) return "low warning";
  if (limits.high_warn && *value > *limits.high_warn) return "high warning";
  return {};
}

/// The sign and the word, so that nothing depends on a colour.
std::string mark(const std::string& word, const TextStyle& style) {
  if (word.empty()) return {};
  const bool alarm = word.ends_with("alarm");
  const std::string text = (style.ascii ? (alarm ? "!! " : "! ") : (alarm ? "✖ " : "▲ ")) + word;
  return " " + paint_health(text, alarm ? Health::kDown : Health::kDegraded, style);
}

/// A bar of kBarColumns columns, an eighth of a column fine where the terminal can draw it.
std::string bar(double share, const TextStyle& style) {
  constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBarColumns * 8));
  std::string fill;
  if (style.ascii) {
    fill.append((eighths + 4) / 8, '#');
    return "[" + pad_right(fill, kBarColumns) + "]";
  }
  for (std::size_t i = 0; i < eighths / 8; ++i) fill += "█";
  fill += kEighths[eighths % 8];
  return "▕" + pad_right(fill, kBarColumns) + "▏";
}

/// How much of the way from the low to the high alarm a power is, in dB; nullopt without limits to compare with.
std::optional<double> share_of_limits(double power_mw, const Limits& limits) {
  if (!limits.low_alarm || !limits.high_alarm) return std::nullopt;
  const auto value = dbm_from_mw(power_mw);
  const auto high = dbm_from_mw(*limits.high_alarm);
  const auto low = dbm_from_mw(std::max(*limits.low_alarm, 1e-4));
  if (!high || !low || *high <= *low) return std::nullopt;
  return value ? (*value - *low) / (*high - *low) : 0.0;
}

std::string power_words(double power_mw) {
  const auto dbm = dbm_from_mw(power_mw);
  return dbm && *dbm > kNoLightDbm ? signed_db(*dbm) : "no light";
}

std::string power_cell(std::optional<double> power_mw, const Limits& limits, const TextStyle& style) {
  if (!power_mw) return "-";
  const auto share = share_of_limits(*power_mw, limits);
  return (share ? bar(*share, style) + " " : "") + power_words(*power_mw) + mark(beyond(power_mw, limits), style);
}

/// "limits -8.0 to 3.4 dBm (alarm -8.9, 4.5)"; "" where the module gives none.
std::string power_limits(const Limits& limits) {
  if (limits.empty()) return "no limits are known";
  const auto dbm = [](const std::optional<double>& mw) {
    const auto value = mw ? dbm_from_mw(*mw) : std::nullopt;
    return value ? signed_db(*value) : std::string("-");
  };
  return fmt::format("warns outside {} to {}, alarms outside {} to {}", dbm(limits.low_warn), dbm(limits.high_warn),
                     dbm(limits.low_alarm), dbm(limits.high_alarm));
}

/// Limits of degrees and percents are whole numbers on most modules, and have at most one more digit on the others.
std::string plain_limits(const Limits& limits, std::string_view unit, int digits) {
  if (!limits.low_warn || !limits.high_warn) return {};
  const auto number = [digits](double value) {
    return digits == 1 ? fmt::format("{:g}", std::round(value * 10) / 10) : fmt::format("{:.{}f}", value, digits);
  };
  return fmt::format("   warns outside {} to {} {}", number(*limits.low_warn), number(*limits.high_warn), unit);
}

std::string kind_words(const ModuleSample& m) {
  if (m.kind == "aoc") return "active optical cable";
  if (m.kind == "dac") return "passive copper cable";
  if (m.kind == "acc") return "active copper cable";
  return m.kind == "unknown" ? "" : m.kind;
}

std::string firmware_words(const ModuleSample& m) {
  const std::string other = m.inactive_firmware.empty() ? "" : "(inactive " + m.inactive_firmware + ")";
  return m.firmware.empty() && other.empty() ? "" : join({"firmware", m.firmware, other}, " ");
}

std::string identity(const ModuleSample& m, const TextStyle& style) {
  const std::string length = m.length_m ? fmt::format("{:g} m", *m.length_m) : "";
  const std::string wavelength = m.wavelength_nm ? fmt::format("{:.1f} nm", *m.wavelength_nm) : "";
  const std::string reach = m.reach_m ? fmt::format("for up to {:g} m", *m.reach_m) : "";
  std::string out =
      paint_bold(join({clean_text(m.type.empty() ? "unknown type" : m.type, style.ascii), m.form_factor}, ", "),
                 style) +
      "\n";
  out += row("kind", join({kind_words(m), m.media_type == "copper" ? "" : m.media_type,
                           m.connector.starts_with("none") ? "" : m.connector, length, reach, wavelength},
                          ", "));
  out += row("maker", clean_text(join({m.vendor, m.part_number}, " "), style.ascii));
  out += row("serial", clean_text(m.serial, style.ascii));
  out +=
      row("revision", clean_text(join({m.revision, m.hardware_revision.empty() ? "" : "hardware " + m.hardware_revision,
                                       firmware_words(m), m.date.empty() ? "" : "made " + m.date},
                                      ", "),
                                 style.ascii));
  out += row("memory map", m.management);
  return out;
}

std::string flag_word(const AlarmFlags& flags) {
  if (flags.low_alarm.value_or(false)) return "low alarm";
  if (flags.high_alarm.value_or(false)) return "high alarm";
  if (flags.low_warn.value_or(false)) return "low warning";
  return flags.high_warn.value_or(false) ? "high warning" : "";
}

/// "193100.0 GHz (1552.52 nm)", of each lane that is tuned to something.
std::string laser_words(const std::vector<LaserTuning>& lasers) {
  constexpr double kLightNmGhz = 299'792'458;  // the speed of light in nm GHz
  std::vector<std::string> parts;
  for (const LaserTuning& laser : lasers)
    if (laser.frequency_ghz)
      parts.push_back(fmt::format("{:.1f} GHz ({:.2f} nm)", *laser.frequency_ghz, kLightNmGhz / *laser.frequency_ghz));
  return join(parts, ", ");
}

std::string monitor_row(std::string_view name, std::optional<double> value, const Limits& limits, std::string_view unit,
                        int digits, const TextStyle& style) {
  if (!value) return {};
  return row(name, fmt::format("{:.{}f} {}", *value, digits, unit) + mark(beyond(value, limits), style) +
                       plain_limits(limits, unit, digits));
}

/// What keeps it from work, as far as it says so. Nearly every module would obey the pin: that alone is no news.
std::string state_words(const ModuleSample& m) {
  const bool held = m.low_power_requested.value_or(false);
  if (m.state.empty()) return held ? "the host holds it in low power: it may send no light" : "";
  if (m.state == "ModuleReady") return held ? "ready, while the host asks for low power" : "ready";
  const bool by_pin = m.state == "ModuleLowPwr" && m.low_power_pin_obeyed.value_or(false);
  return join({m.state, m.fault_cause,
               held     ? "the host holds it in low power"
               : by_pin ? "it obeys the low-power pin of the cage"
                        : ""},
              ": ");
}

std::string power_row(const ModuleSample& m) {
  if (!m.max_power_w) return {};
  const bool withheld = m.high_power_enabled == false;
  return row("power", fmt::format("at most {:g} W{}", *m.max_power_w,
                                  withheld ? ", of which the host has not enabled more than 3.5 W" : ""));
}

std::string state(const ModuleSample& m, const TextStyle& style) {
  std::string out = row("state", state_words(m));
  out += monitor_row("temperature", m.temperature_c, m.thresholds.temperature_c, "C", 1, style);
  out += monitor_row("supply", m.supply_v, m.thresholds.supply_v, "V", 2, style);
  out += monitor_row("2nd supply", m.second_supply_v, m.thresholds.second_supply_v, "V", 2, style);
  out += row("laser", laser_words(m.laser_tuning));
  out += monitor_row("laser temp.", m.laser_temperature_c, m.thresholds.laser_temperature_c, "C", 1, style);
  out += monitor_row("laser cooler", m.tec_current_percent, m.thresholds.tec_current_percent, "%", 1, style);
  out += monitor_row("laser cooler", m.tec_current_ma, m.thresholds.tec_current_ma, "mA", 1, style);
  out += power_row(m);
  if (m.module_firmware_error.value_or(false)) out += row("firmware", "the module's own firmware has failed");
  if (m.data_path_firmware_error.value_or(false)) out += row("firmware", "the data path's firmware has failed");
  if (m.abnormal_firmware.value_or(false)) out += row("firmware", "is not what the module should run");
  if (m.looped.value_or(false)) out += row("loopback", "is switched on: traffic does not pass");
  return out;
}

std::string tuning_flags(const LaserTuning& laser) {
  return join({named(laser.wavelength_unlocked, "laser off its wavelength"),
               named(laser.channel_invalid, "asked for a channel that it does not have"),
               named(laser.tuning_not_accepted, "tuning refused"),
               named(laser.fine_tuning_out_of_range, "fine tuning out of range"),
               named(laser.target_power_out_of_range, "asked for a power that it can't give")},
              ", ");
}

std::string lane_flags(const ModuleLane& lane, bool losses) {
  const auto limit = [](std::string_view name, const AlarmFlags& flags) {
    const std::string word = flag_word(flags);
    return word.empty() ? word : fmt::format("{} {}", name, word);
  };
  return join({losses ? join(loss_words(lane), ", ") : "", limit("Rx power", lane.rx_power_flags),
               limit("Tx power", lane.tx_power_flags), limit("bias", lane.tx_bias_flags)},
              ", ");
}

/// How much of the way from the low to the high alarm; nullopt without limits to compare with.
std::optional<double> linear_share(double value, const Limits& limits) {
  if (!limits.low_alarm || !limits.high_alarm || *limits.high_alarm <= *limits.low_alarm) return std::nullopt;
  return (value - *limits.low_alarm) / (*limits.high_alarm - *limits.low_alarm);
}

std::string bias_words(double bias_ma, const ModuleSample& m, const TextStyle& style) {
  const Limits& limits = m.thresholds.tx_bias_ma;
  const auto share = linear_share(bias_ma, limits);
  return fmt::format("bias {}{:.1f} mA", share ? bar(*share, style) + " " : "", bias_ma) +
         mark(beyond(bias_ma, limits), style);
}

std::string bias_limits(const ModuleSample& m) {
  const Limits& limits = m.thresholds.tx_bias_ma;
  const bool any = std::ranges::any_of(m.lanes, [](const ModuleLane& lane) { return lane.tx_bias_ma.has_value(); });
  if (!any || limits.empty()) return {};
  const auto ma = [](const std::optional<double>& value) {
    return value ? fmt::format("{:g}", std::round(*value * 10) / 10) : std::string("-");
  };
  return fmt::format("  Tx bias mA   warns outside {} to {}, alarms outside {} to {}\n", ma(limits.low_warn),
                     ma(limits.high_warn), ma(limits.low_alarm), ma(limits.high_alarm));
}

std::string one_side(const ModuleSample& m, std::string_view title, std::optional<double> ModuleLane::*power,
                     const Limits& limits, const TextStyle& style) {
  const bool any =
      std::any_of(m.lanes.begin(), m.lanes.end(), [&](const auto& lane) { return (lane.*power).has_value(); });
  if (!any) return {};
  std::string out = fmt::format("\n  {} dBm   {}\n", title, power_limits(limits));
  if (power == &ModuleLane::tx_power_mw) out += bias_limits(m);
  for (std::size_t i = 0; i < m.lanes.size(); ++i) {
    std::string line = fmt::format("  {:>4}  {}", i + 1, power_cell(m.lanes[i].*power, limits, style));
    if (power == &ModuleLane::tx_power_mw && m.lanes[i].tx_bias_ma)
      line += "   " + bias_words(*m.lanes[i].tx_bias_ma, m, style);
    out += line + "\n";
  }
  return out;
}

std::string bias_alone(const ModuleSample& m, const TextStyle& style) {
  std::string out;
  const bool with_power =
      std::any_of(m.lanes.begin(), m.lanes.end(), [](const auto& l) { return l.tx_power_mw.has_value(); });
  for (std::size_t i = 0; i < m.lanes.size() && !with_power; ++i)
    if (m.lanes[i].tx_bias_ma) out += fmt::format("  {:>4}  {}\n", i + 1, bias_words(*m.lanes[i].tx_bias_ma, m, style));
  return out.empty() ? out : "\n  Tx (no power monitor)\n" + bias_limits(m) + out;
}

std::string host_lane_flags(const ModuleHostLane& lane) {
  std::vector<std::string> words;
  if (lane.tx_los.value_or(false)) words.emplace_back("no signal from the host");
  if (lane.tx_lol.value_or(false)) words.emplace_back("no lock on the host's signal");
  if (lane.tx_eq_fault.value_or(false)) words.emplace_back("input equalizer did not adapt");
  return join(words, ", ");
}

/// "media_pre_fec_ber_avg" as people say it; the unit belongs to the value.
std::string observable_words(std::string out) {
  const auto say = [&](std::string_view from, std::string_view to) {
    if (const auto at = out.find(from); at != std::string::npos) out.replace(at, from.size(), to);
  };
  say("_pre_fec_ber", " pre-FEC BER");
  say("_fec_tail_symbols", " FEC tail");
  say("_esnr_db", " SNR");
  say("_ltp_db", " LTP");
  for (const char* unit : {"_per_nm", "_per_s", "_percent", "_krad", "_mhz", "_dbm", "_db", "_ps2"}) say(unit, "");
  if (out.ends_with("_v")) out.resize(out.size() - 2);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

/// One line for each quantity and limit, with its lanes.
std::string vdm_flags(const ModuleVdm& vdm, const TextStyle& style) {
  std::vector<std::pair<std::string, std::string>> lines;  // what, and its lanes
  for (const VdmFlags& entry : vdm.flags) {
    const std::string word = flag_word(entry.flags);
    if (word.empty()) continue;
    const std::string what = observable_words(clean_text(entry.name, style.ascii)) + " " + word;
    auto line = std::find_if(lines.begin(), lines.end(), [&](const auto& known) { return known.first == what; });
    if (line == lines.end()) line = lines.insert(lines.end(), {what, ""});
    if (entry.lane) line->second += fmt::format(" {}", *entry.lane);
  }
  std::string out;
  for (const auto& [what, lanes] : lines)
    if (lanes.empty())
      out += fmt::format("    {}\n", what);
    else
      out += fmt::format("    {}, lane{}{}\n", what, lanes.find(' ', 1) == std::string::npos ? "" : "s", lanes);
  return out;
}

std::string flags(const ModuleSample& m, const TextStyle& style) {
  std::string out;
  const auto quad = [&](std::string_view name, const AlarmFlags& flags) {
    if (const auto word = flag_word(flags); !word.empty()) out += fmt::format("    {} {}\n", name, word);
  };
  quad("temperature", m.temperature_flags);
  quad("supply", m.supply_flags);
  quad("laser temperature", m.laser_temperature_flags);
  quad("laser cooler", m.tec_flags);
  quad("second supply", m.second_supply_flags);
  quad("the maker's auxiliary monitor", m.auxiliary_flags);
  quad("the maker's custom monitor", m.custom_flags);
  for (std::size_t i = 0; i < m.lanes.size(); ++i) {
    const std::string tuning = i < m.laser_tuning.size() ? tuning_flags(m.laser_tuning[i]) : "";
    if (const std::string set = join({lane_flags(m.lanes[i], !losses_are_live(m)), tuning}, ", "); !set.empty())
      out += fmt::format("    lane {}: {}\n", i + 1, set);
  }
  for (std::size_t i = 0; i < m.host_lanes.size(); ++i)
    if (const std::string set = host_lane_flags(m.host_lanes[i]); m.host_lanes[i].in_use.value_or(true) && !set.empty())
      out += fmt::format("    host lane {}: {}\n", i + 1, set);
  out += vdm_flags(m.vdm, style);
  if (out.empty()) return out;
  return "\n" + paint_bold("  Flags", style) + " (latched: since somebody last read them, perhaps not us)\n" + out;
}

std::string flag_history(const ModuleSample& m, const TextStyle& style) {
  if (m.flags.empty()) return {};
  std::string out = "\n" + paint_bold("  Flags that changed", style) +
                    " (as our reads saw them; another reader may have taken some)\n";
  for (const ModuleFlag& flag : m.flags) {
    const std::string name = clean_text(flag.name, style.ascii) + (flag.lane ? fmt::format(" {}", *flag.lane) : "");
    out += fmt::format("    {} {:<5}  {} change{}", pad_right(name, 28), flag.set ? "set" : "clear", flag.change_count,
                       flag.change_count == 1 ? "" : "s");
    if (flag.set_at) out += ", last set " + format_rfc3339(*flag.set_at);
    if (flag.cleared_at) out += ", cleared " + format_rfc3339(*flag.cleared_at);
    out += "\n";
  }
  return out;
}

std::string warnings(const ModuleSample& m, const TextStyle& style) {
  if (m.warnings.empty()) return {};
  std::string out = "\n" + paint_bold("  Not believed", style) + "\n";
  for (const std::string& warning : m.warnings)
    for (const std::string& line :
         wrap(clean_text(warning, style.ascii), static_cast<std::size_t>(std::max(60, style.width_columns)) - 4))
      out += "    " + line + "\n";
  return out;
}

}  // namespace

std::string module_text(const ModuleSample& m, const TextStyle& style) {
  const std::string imported =
      m.imported_at ? row("read", "by somebody else (imported), " + format_rfc3339(*m.imported_at)) : "";
  if (!m.present) return "no module in the cage\n" + imported;
  std::string out = identity(m, style) + imported + state(m, style);
  out += one_side(m, "Rx", &ModuleLane::rx_power_mw, m.thresholds.rx_power_mw, style);
  out += one_side(m, "Tx", &ModuleLane::tx_power_mw, m.thresholds.tx_power_mw, style) + bias_alone(m, style);
  out += vdm_text(m) + coherent_text(m);
  return out + lane_states(m, style) + flags(m, style) + flag_history(m, style) + warnings(m, style);
}

}  // namespace linkhealth
