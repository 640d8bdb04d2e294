#include "exporters/text/module_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "exporters/text/text_layout.h"

namespace linkhealth {

namespace {

/// Below this a receiver has no light: one count of a power register is -40 dBm.
constexpr double kNoLightDbm = -39.9;

/// `value` is clean; it may have colours.
void row(TextPage& page, std::string_view name, std::string_view value) {
  constexpr std::size_t kColumns = TextPage::kLabelColumns;
  page.append(paragraph("  " + paint_faint(pad_right(name, kColumns), page.style()), kColumns + 2,
                        value, page.width()));
}

/// A heading and indented lines; nothing if there are no lines.
void section(TextPage& page, std::string_view heading, std::string_view note,
             const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  page.line();
  page.line(paint_bold(fmt::format("  {}", heading), page.style()) +
            (note.empty() ? "" : fmt::format(" ({})", note)));
  for (const std::string& line : lines) page.text(4, line);
}

std::string named(const std::optional<bool>& flag, std::string_view name) {
  return flag == true ? std::string(name) : std::string();
}

/// One line for each run of lanes with the same words: "host lanes 2 to 4: …".
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

/// " ▲ low warning": sign and name of the limit that a value exceeds, so that no meaning depends on
/// a colour; "" within all limits.
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

// --- identity

std::string format_kind(const ModuleSample& m) {
  if (m.kind == "aoc") return "active optical cable";
  if (m.kind == "dac") return "passive copper cable";
  if (m.kind == "acc") return "active copper cable";
  return m.kind == "unknown" ? "" : m.kind;
}

/// The medium, if the kind of cable does not imply it.
std::string format_media(const ModuleSample& m) {
  const bool active = m.kind == "aoc" || m.kind == "acc";
  return m.media_type == "copper" || (active && m.media_type == "active cable") ? "" : m.media_type;
}

std::string format_length(double metres) {
  return metres >= 10'000 ? fmt::format("{:g} km", metres / 1000) : fmt::format("{:g} m", metres);
}

void identity(TextPage& page, const ModuleSample& m) {
  const std::string connector =
      m.connector.starts_with("none") ? "" : join_parts({m.connector, m.fibre_face}, " ");
  const std::string type = page.clean(m.type.empty() ? "unknown type" : m.type);
  page.line(paint_bold(join_parts({type, m.form_factor}, ", "), page.style()));
  row(page, "kind",
      join_parts({format_kind(m), format_media(m), connector,
                  m.length_m ? fmt::format("{:g} m", *m.length_m) : "",
                  m.reach_m ? "for up to " + format_length(*m.reach_m) : "",
                  m.wavelength_nm ? fmt::format("{:.1f} nm", *m.wavelength_nm) : ""},
                 ", "));
  row(page, "vendor", page.clean(join_parts({m.vendor, m.part_number}, " ")));
  row(page, "serial", page.clean(m.serial));
  row(page, "revision",
      page.clean(join_parts({m.revision, m.firmware.empty() ? "" : "firmware " + m.firmware,
                             m.date.empty() ? "" : "made " + m.date},
                            ", ")));
  row(page, "memory map", m.management);
}

// --- state and readings of the module as a whole

/// What keeps the module from working. Nearly every module obeys the low-power pin: that alone is
/// not shown.
std::string format_state(const ModuleSample& m) {
  const bool held = m.low_pwr_request_sw == true;
  if (m.state.empty()) return held ? "the host holds it in low power: it may send no light" : "";
  if (m.state == "ModuleReady") return held ? "ready, while the host asks for low power" : "ready";
  const bool by_pin = m.state == "ModuleLowPwr" && m.low_pwr_allow_request_hw == true;
  return join_parts({m.state, m.fault_cause,
                     held     ? "the host holds it in low power (LowPwrRequestSW)"
                     : by_pin ? "controlled by the cage's low-power pin (LowPwrAllowRequestHW)"
                              : ""},
                    ": ");
}

/// Why the module has no readings at all; "" if it has any. A flat CMIS module lacks the page with
/// its number of banks.
std::string format_silence(const ModuleSample& m) {
  const bool lane_measures = std::ranges::any_of(m.lanes, [](const ModuleLane& lane) {
    return lane.rx_power_mw || lane.tx_power_mw || lane.tx_bias_ma;
  });
  if (lane_measures || m.temperature_c || m.supply_v || m.laser_temperature_c ||
      m.tec_current_percent || !m.vdm.empty() || !m.coherent.empty())
    return {};
  if (m.kind == "dac") return "nothing: a passive copper cable has no monitors";
  const bool flat = m.management.starts_with("CMIS") && !m.bank_count;
  if (flat && m.state.empty()) return "nothing: its memory holds only its identity (flat memory)";
  return m.warnings.empty() ? "nothing: it offers no monitors" : "no known monitors: see below";
}

void monitor(TextPage& page, std::string_view name, std::optional<double> value,
             const Limits& limits, std::string_view unit, int digits) {
  if (!value) return;
  std::string words =
      fmt::format("{:.{}f} {}", *value, digits, unit) + limit_mark(value, limits, page.style());
  // On most modules, limits of degrees and percent are whole numbers.
  const auto number = [digits](double limit) {
    return digits == 1 ? fmt::format("{:g}", std::round(limit * 10) / 10)
                       : fmt::format("{:.{}f}", limit, digits);
  };
  if (limits.low_warn && limits.high_warn)
    words += fmt::format("; warns outside {} to {} {}", number(*limits.low_warn),
                         number(*limits.high_warn), unit);
  row(page, name, words);
}

std::string format_power(const ModuleSample& m) {
  if (!m.max_power_w) return {};
  return fmt::format("at most {:g} W", *m.max_power_w) +
         (m.power_class.value_or(0) > 4 ? fmt::format(" (class {})", *m.power_class) : "") +
         (m.allowed_power_w ? fmt::format(", of which the host has not enabled more than {:g} W",
                                          *m.allowed_power_w)
                            : "");
}

std::string format_loopback(const ModuleSample& m) {
  std::vector<std::string> parts;
  for (const ModuleLoopback& loopback : m.loopbacks) {
    std::string lanes;
    for (const std::uint32_t lane : loopback.lanes) lanes += fmt::format(" {}", lane);
    parts.push_back(fmt::format("{} side {}, lanes{}", loopback.side, loopback.at, lanes));
  }
  return parts.empty() ? "" : join_parts(parts, "; ") + ": traffic does not pass";
}

void state(TextPage& page, const ModuleSample& m) {
  const ModuleThresholds& limits = m.thresholds;
  row(page, "state", format_state(m));
  row(page, "measures", format_silence(m));
  monitor(page, "temperature", m.temperature_c, limits.temperature_c, "C", 1);
  monitor(page, "supply", m.supply_v, limits.supply_v, "V", 2);
  monitor(page, "laser temp.", m.laser_temperature_c, limits.laser_temperature_c, "C", 1);
  monitor(page, m.tec_current_percent.value_or(0) < 0 ? "laser cools" : "laser heats",
          m.tec_current_percent, limits.tec_current_percent, "%", 1);
  row(page, "power", format_power(m));
  row(page, "firmware", named(m.module_firmware_error, "the module's own firmware has failed"));
  row(page, "firmware", named(m.data_path_firmware_error, "the data path's firmware has failed"));
  row(page, "loopback", format_loopback(m));
}

// --- light and bias

/// The host lanes that feed a media lane; CMIS shares them out in order.
std::span<const ModuleHostLane> host_lanes_of(const ModuleSample& m, std::size_t lane) {
  const std::size_t share = std::max<std::size_t>(1, m.host_lanes.size() / m.lanes.size());
  const std::size_t begin = std::min(m.host_lanes.size(), lane * share);
  return std::span(m.host_lanes).subspan(begin, std::min(share, m.host_lanes.size() - begin));
}

bool data_path_works(const ModuleHostLane& lane) {
  return lane.data_path_state.empty() || lane.data_path_state == "Activated";
}

/// Why a media lane has no value while others have one; "" if unknown.
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

/// A quantity of the lanes, shown as bars between the module's alarm limits.
struct LaneTable {
  std::string title;
  std::optional<double> ModuleLane::*value;
  const Limits& limits;
  double lowest;  ///< start of the bar if there is no low alarm
  bool is_power;  ///< stored in mW, shown in dBm

  [[nodiscard]] double shown(double number) const {
    return is_power ? std::max(dbm_from_mw(number).value_or(kNoLightDbm), kNoLightDbm) : number;
  }
};

std::string format_number(double number) {
  return fmt::format("{:.1f}", std::fabs(number) < 0.05 ? 0.0 : number);
}

/// "warns outside -8.0 to 3.4, alarms outside -8.9 to 4.5"
std::string format_limits(const LaneTable& table) {
  const Limits& limits = table.limits;
  if (limits.empty()) return "no limits are known";
  const auto word = [&](const std::optional<double>& limit) {
    return limit ? format_number(table.shown(*limit)) : std::string("-");
  };
  return fmt::format("warns outside {} to {}, alarms outside {} to {}", word(limits.low_warn),
                     word(limits.high_warn), word(limits.low_alarm), word(limits.high_alarm));
}

std::string lane_cell(const LaneTable& table, double number, const TextStyle& style) {
  constexpr std::size_t kBarColumns = 7;
  const double shown = table.shown(number);
  const auto &low_alarm = table.limits.low_alarm, &high_alarm = table.limits.high_alarm;
  const double low = low_alarm ? table.shown(*low_alarm) : table.lowest;
  const double high = high_alarm ? table.shown(*high_alarm) : low;
  std::string text;
  if (high > low)
    text = fmt::format("[{}] ", bar((shown - low) / (high - low), kBarColumns, style.ascii));
  text += table.is_power && shown <= kNoLightDbm ? "no light"
                                                 : fmt::format("{:>5}", format_number(shown));
  return text + limit_mark(number, table.limits, style);
}

void lane_table(TextPage& page, const ModuleSample& m, const LaneTable& table) {
  const auto has_value = [&](const ModuleLane& lane) { return (lane.*table.value).has_value(); };
  if (std::ranges::none_of(m.lanes, has_value)) return;
  page.line();
  page.line(fmt::format("  {}   {}", table.title, format_limits(table)));
  for (std::size_t i = 0; i < m.lanes.size(); ++i) {
    const auto& number = m.lanes[i].*table.value;
    page.line(
        fmt::format("  {:>4}  {}", i + 1,
                    number ? lane_cell(table, *number, page.style()) : "-" + why_no_value(m, i)));
  }
}

void light(TextPage& page, const ModuleSample& m) {
  const ModuleThresholds& limits = m.thresholds;
  // A receiver's OMA differs from the average power that a meter shows.
  lane_table(page, m,
             {m.rx_power_is_average == false ? "Rx dBm (OMA)" : "Rx dBm", &ModuleLane::rx_power_mw,
              limits.rx_power_mw, kNoLightDbm, true});
  lane_table(page, m, {"Tx dBm", &ModuleLane::tx_power_mw, limits.tx_power_mw, kNoLightDbm, true});
  lane_table(page, m, {"Tx bias mA", &ModuleLane::tx_bias_ma, limits.tx_bias_ma, 0, false});
}

// --- VDM and coherent monitors

std::string ratio(double value) { return value == 0 ? "0" : fmt::format("{:.1e}", value); }
std::string count(double value) { return fmt::format("{:.6g}", value); }

/// False: no value.
bool statistics(TextPage& page, std::string_view title, const VdmStatistics& values,
                std::string (*format)(double)) {
  const auto part = [&](std::string_view name, const std::optional<double>& value) {
    return value ? fmt::format("{} {}", name, format(*value)) : std::string();
  };
  const std::string text =
      join_parts({part("now", values.current), part("avg", values.avg), part("min", values.min),
                  part("max", values.max), part("total", values.total)},
                 ", ");
  row(page, title, text);
  return !text.empty();
}

/// 0 is a lane without a value; CMIS 5.4 7.1.4.2: LTP when nothing lies between the levels.
void lane_ratios(TextPage& page, std::string_view title, const std::vector<double>& values) {
  constexpr double kMostRatioDb = 255.99;
  std::vector<std::string> parts;
  parts.reserve(values.size());
  for (const double value : values)
    parts.push_back(value == 0              ? "-"
                    : value >= kMostRatioDb ? ">=256"
                                            : fmt::format("{:.1f}", value));
  row(page, title, join_parts(parts, ", "));
}

void vdm(TextPage& page, const ModuleVdm& v) {
  if (v.empty()) return;
  page.line();
  lane_ratios(page, "media SNR dB", v.media_esnr_db);
  lane_ratios(page, "host SNR dB", v.host_esnr_db);
  lane_ratios(page, "media LTP dB", v.media_ltp_db);
  lane_ratios(page, "host LTP dB", v.host_ltp_db);
  bool any = statistics(page, "media BER", v.media_pre_fec_ber, ratio);
  any |= statistics(page, "host BER", v.host_pre_fec_ber, ratio);
  bool frames = statistics(page, "media frames", v.media_errored_frames, count);
  frames |= statistics(page, "host frames", v.host_errored_frames, count);
  any |= statistics(page, "media tail", v.media_fec_tail_symbols, count);
  any |= statistics(page, "host tail", v.host_fec_tail_symbols, count);
  if (frames) row(page, "", "frames: uncorrectable by FEC, in a sampling interval of the module");
  if (any || frames)
    row(page, "",
        v.frozen == true ? "avg, min and max are old: another program has frozen them"
                         : "avg, min and max are since an unknown time");
  if (v.laser_age_percent) row(page, "laser age", fmt::format("{:.0f}%", *v.laser_age_percent));
  if (v.laser_frequency_error_mhz)
    row(page, "laser error", fmt::format("{:.0f} MHz", *v.laser_frequency_error_mhz));
}

struct CoherentRow {
  std::string_view title;
  std::optional<double> ModuleCoherent::*value;
};
constexpr CoherentRow kCoherentRows[] = {
    {"OSNR dB", &ModuleCoherent::osnr_db},
    {"eSNR dB", &ModuleCoherent::esnr_db},
    {"Rx all dBm", &ModuleCoherent::rx_total_power_dbm},
    {"Rx own dBm", &ModuleCoherent::rx_signal_power_dbm},
    {"Tx dBm", &ModuleCoherent::tx_power_dbm},
    {"CD ps/nm", &ModuleCoherent::chromatic_dispersion_ps_per_nm},
    {"DGD ps", &ModuleCoherent::dgd_ps},
    {"PDL dB", &ModuleCoherent::pdl_db},
    {"offset MHz", &ModuleCoherent::carrier_frequency_offset_mhz},
};

void coherent(TextPage& page, const ModuleCoherent& values) {
  if (values.empty()) return;
  page.line();
  for (const CoherentRow& entry : kCoherentRows)
    if (const auto& value = values.*entry.value)
      row(page, entry.title, fmt::format("{:.1f}", *value));
}

// --- lane states and flags

/// SFF-8472 reports live states of loss of signal and laser fault; the other maps latch them.
bool losses_are_live(const ModuleSample& m) { return m.management.starts_with("SFF-8472"); }

std::string format_loss(const ModuleLane& lane) {
  return join_parts(
      {named(lane.rx_los, "Rx LOS"), named(lane.rx_lol, "Rx LOL"), named(lane.tx_los, "Tx LOS"),
       named(lane.tx_lol, "Tx LOL"), named(lane.tx_fault, "Tx fault"),
       named(lane.tx_eq_fault, "Tx equalizer fault")},
      ", ");
}

std::string media_state(const ModuleLane& lane) {
  if (lane.tx_disabled == true) return "Tx off by host (OutputDisableTx)";
  if (lane.output_squelch_force_tx == true) return "Tx silenced by host (OutputSquelchForceTx)";
  return lane.tx_output_valid == false ? "sends no valid signal to the fibre" : "";
}

/// A data path that is not up does not send to the host either.
std::string host_state(const ModuleHostLane& lane) {
  std::string output;
  if (lane.in_use == false)
    output = "";
  else if (!data_path_works(lane))
    output = "data path " + lane.data_path_state +
             (lane.dp_deinit == true ? ", as the host requested (DPDeinit)" : "");
  else if (lane.rx_output_disabled == true)
    output = "Rx output off by host";
  else if (lane.rx_output_valid == false)
    output = "sends no valid signal to the host";
  const bool refused = lane.config_status.starts_with("Rejected");
  return join_parts(
      {output, refused ? "refused its configuration (" + lane.config_status + ")" : std::string()},
      ", ");
}

/// "supply low alarm and high warning": the worst flag of each side; "" without a flag.
std::string format_alarm(std::string_view name, const AlarmFlags& flags) {
  const auto side = [](std::string_view which, const auto& alarm, const auto& warn) {
    return alarm == true  ? fmt::format("{} alarm", which)
           : warn == true ? fmt::format("{} warning", which)
                          : std::string();
  };
  const std::string words = join_parts({side("low", flags.low_alarm, flags.low_warn),
                                        side("high", flags.high_alarm, flags.high_warn)},
                                       " and ");
  return words.empty() ? words : fmt::format("{} {}", name, words);
}

std::string media_flags(const ModuleLane& lane, bool with_losses) {
  return join_parts(
      {with_losses ? format_loss(lane) : "", format_alarm("Rx power", lane.rx_power_flags),
       format_alarm("Tx power", lane.tx_power_flags), format_alarm("bias", lane.tx_bias_flags)},
      ", ");
}

std::string host_flags(const ModuleHostLane& lane) {
  if (lane.in_use == false) return {};
  return join_parts({named(lane.tx_los, "no signal from the host (Tx LOS)"),
                     named(lane.tx_lol, "no lock on the host's signal (Tx LOL)"),
                     named(lane.tx_eq_fault, "input equalizer did not adapt")},
                    ", ");
}

std::string history_line(const ModuleFlag& flag) {
  std::string text =
      fmt::format("{} {}: {}, {}", flag.name, flag.lane ? fmt::format("{}", *flag.lane) : "module",
                  flag.set ? "set" : "clear", count_of(flag.change_count, "change"));
  if (flag.set_at) text += ", last set " + format_rfc3339(*flag.set_at);
  if (flag.cleared_at) text += ", cleared " + format_rfc3339(*flag.cleared_at);
  return text;
}

void lane_states(TextPage& page, const ModuleSample& m) {
  std::vector<std::string> media, host, lines;
  for (const ModuleLane& lane : m.lanes)
    media.push_back(
        join_parts({losses_are_live(m) ? format_loss(lane) : "", media_state(lane)}, ", "));
  for (const ModuleHostLane& lane : m.host_lanes) host.push_back(host_state(lane));
  add_lanes("media ", media, lines);
  add_lanes("host ", host, lines);
  section(page, "Lanes now", "", lines);
}

void flags(TextPage& page, const ModuleSample& m) {
  std::vector<std::string> lines, media, host, history;
  for (const std::string& words :
       {format_alarm("temperature", m.temperature_flags), format_alarm("supply", m.supply_flags)})
    if (!words.empty()) lines.push_back(words);
  for (const ModuleLane& lane : m.lanes) media.push_back(media_flags(lane, !losses_are_live(m)));
  for (const ModuleHostLane& lane : m.host_lanes) host.push_back(host_flags(lane));
  add_lanes("", media, lines);
  add_lanes("host ", host, lines);
  for (const ModuleFlag& flag : m.flags) history.push_back(history_line(flag));
  section(page, "Flags", "latched: set since the last read by any program", lines);
  section(page, "Flags that changed",
          "as the daemon read them; another reader may have cleared some", history);
}

}  // namespace

std::string module_text(const ModuleSample& m, const TextStyle& style) {
  TextPage page(style);
  if (m.present)
    identity(page, m);
  else
    page.line("no module in the cage");
  if (m.imported_at)
    row(page, "read", "by another program (imported), " + format_rfc3339(*m.imported_at));
  if (!m.present) return page.result();
  state(page, m);
  light(page, m);
  vdm(page, m.vdm);
  coherent(page, m.coherent);
  lane_states(page, m);
  flags(page, m);
  section(page, "Not read or implausible", "", m.warnings);
  return page.result();
}

}  // namespace linkhealth
