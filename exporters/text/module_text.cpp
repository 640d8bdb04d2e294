#include "exporters/text/module_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "exporters/text/module_lanes_text.h"
#include "exporters/text/text_layout.h"

namespace linkhealth {

namespace {

std::size_t columns(const TextStyle& style) {
  return static_cast<std::size_t>(std::max(60, style.width_columns));
}

/// A line with its name, wrapped under its value; "" without a value.
std::string row(std::string_view name, const std::string& value, const TextStyle& style) {
  if (value.empty()) return {};
  std::string out, head = "  " + pad_right(name, 12) + " ";
  for (const std::string& line : fitted(value, columns(style) - 15)) {
    out += head + line + "\n";
    head = std::string(15, ' ');
  }
  return out;
}

// --- identity

std::string kind_words(const ModuleSample& m) {
  if (m.kind == "aoc") return "active optical cable";
  if (m.kind == "dac") return "passive copper cable";
  if (m.kind == "acc") return "active copper cable";
  return m.kind == "unknown" ? "" : m.kind;
}

/// What the light goes through, where the kind of cable does not say it.
std::string media_words(const ModuleSample& m) {
  const bool active = m.kind == "aoc" || m.kind == "acc";
  return m.media_type == "copper" || (active && m.media_type == "active cable") ? "" : m.media_type;
}

std::string length_words(double metres) {
  return metres >= 10'000 ? fmt::format("{:g} km", metres / 1000) : fmt::format("{:g} m", metres);
}

std::string identity(const ModuleSample& m, const TextStyle& style) {
  const auto clean = [&style](const std::string& text) { return clean_text(text, style.ascii); };
  const std::string connector =
      m.connector.starts_with("none") ? "" : join({m.connector, m.fibre_face}, " ");
  const std::string reach = m.reach_m ? "for up to " + length_words(*m.reach_m) : "";
  std::string out =
      paint_bold(join({clean(m.type.empty() ? "unknown type" : m.type), m.form_factor}, ", "),
                 style) +
      "\n";
  out += row("kind",
             join({kind_words(m), media_words(m), connector,
                   m.length_m ? fmt::format("{:g} m", *m.length_m) : "", reach,
                   m.wavelength_nm ? fmt::format("{:.1f} nm", *m.wavelength_nm) : ""},
                  ", "),
             style);
  out += row("vendor", clean(join({m.vendor, m.part_number}, " ")), style);
  out += row("serial", clean(m.serial), style);
  out += row("revision",
             clean(join({m.revision, m.firmware.empty() ? "" : "firmware " + m.firmware,
                         m.date.empty() ? "" : "made " + m.date},
                        ", ")),
             style);
  return out + row("memory map", m.management, style);
}

// --- state and readings of the module as a whole

/// What keeps it from working, as far as it reports it. Nearly every module would obey the pin:
/// that alone is no news.
std::string state_words(const ModuleSample& m) {
  const bool held = m.low_pwr_request_sw == true;
  if (m.state.empty()) return held ? "the host holds it in low power: it may send no light" : "";
  if (m.state == "ModuleReady") return held ? "ready, while the host asks for low power" : "ready";
  const bool by_pin = m.state == "ModuleLowPwr" && m.low_pwr_allow_request_hw == true;
  return join({m.state, m.fault_cause,
               held     ? "the host holds it in low power (LowPwrRequestSW)"
               : by_pin ? "it obeys the low-power pin of the cage (LowPwrAllowRequestHW)"
                        : ""},
              ": ");
}

/// Why there is no value at all; "" where there is one. A flat CMIS module has no page
/// with its number of banks.
std::string silence_words(const ModuleSample& m) {
  const bool lane_measures = std::ranges::any_of(m.lanes, [](const ModuleLane& lane) {
    return lane.rx_power_mw || lane.tx_power_mw || lane.tx_bias_ma;
  });
  if (lane_measures || m.temperature_c || m.supply_v || m.laser_temperature_c ||
      m.tec_current_percent || !m.vdm.empty() || !m.coherent.empty())
    return {};
  if (m.kind == "dac") return "nothing: a passive copper cable has no monitors";
  const bool flat = m.management.starts_with("CMIS") && !m.bank_count;
  if (flat && m.state.empty()) return "nothing: its memory holds only its identity (flat memory)";
  return m.warnings.empty() ? "nothing: it offers no monitors" : "nothing that is known: see below";
}

/// Limits of degrees and percents are whole numbers on most modules, and have at most one more
/// digit on the others.
std::string monitor_row(std::string_view name, std::optional<double> value, const Limits& limits,
                        std::string_view unit, int digits, const TextStyle& style) {
  if (!value) return {};
  std::string words =
      fmt::format("{:.{}f} {}", *value, digits, unit) + limit_mark(value, limits, style);
  const auto number = [digits](double limit) {
    return digits == 1 ? fmt::format("{:g}", std::round(limit * 10) / 10)
                       : fmt::format("{:.{}f}", limit, digits);
  };
  if (limits.low_warn && limits.high_warn)
    words += fmt::format("   warns outside {} to {} {}", number(*limits.low_warn),
                         number(*limits.high_warn), unit);
  return row(name, words, style);
}

std::string power_words(const ModuleSample& m) {
  if (!m.max_power_w) return {};
  return fmt::format("at most {:g} W", *m.max_power_w) +
         (m.power_class.value_or(0) > 4 ? fmt::format(" (class {})", *m.power_class) : "") +
         (m.allowed_power_w ? fmt::format(", of which the host has not enabled more than {:g} W",
                                          *m.allowed_power_w)
                            : "");
}

std::string loopback_words(const ModuleSample& m) {
  std::vector<std::string> parts;
  for (const ModuleLoopback& loopback : m.loopbacks) {
    std::string lanes;
    for (const std::uint32_t lane : loopback.lanes) lanes += fmt::format(" {}", lane);
    parts.push_back(fmt::format("{} side {}, lanes{}", loopback.side, loopback.at, lanes));
  }
  return parts.empty() ? "" : join(parts, "; ") + ": traffic does not pass";
}

std::string state(const ModuleSample& m, const TextStyle& style) {
  const ModuleThresholds& limits = m.thresholds;
  std::string out = row("state", state_words(m), style) + row("measures", silence_words(m), style);
  out += monitor_row("temperature", m.temperature_c, limits.temperature_c, "C", 1, style);
  out += monitor_row("supply", m.supply_v, limits.supply_v, "V", 2, style);
  out +=
      monitor_row("laser temp.", m.laser_temperature_c, limits.laser_temperature_c, "C", 1, style);
  out += monitor_row(m.tec_current_percent.value_or(0) < 0 ? "laser cools" : "laser heats",
                     m.tec_current_percent, limits.tec_current_percent, "%", 1, style);
  out += row("power", power_words(m), style);
  if (m.module_firmware_error == true)
    out += row("firmware", "the module's own firmware has failed", style);
  if (m.data_path_firmware_error == true)
    out += row("firmware", "the data path's firmware has failed", style);
  return out + row("loopback", loopback_words(m), style);
}

// --- VDM

std::string ratio(double value) { return value == 0 ? "0" : fmt::format("{:.1e}", value); }
std::string count(double value) { return fmt::format("{:.6g}", value); }

template <typename Format>
std::string statistics_row(std::string_view title, const VdmStatistics& values,
                           const Format& format, const TextStyle& style) {
  const auto part = [&](std::string_view name, const std::optional<double>& value) {
    return value ? fmt::format("{} {}", name, format(*value)) : std::string();
  };
  return row(title,
             join({part("now", values.current), part("avg", values.avg), part("min", values.min),
                   part("max", values.max), part("total", values.total)},
                  "  "),
             style);
}

/// 0 is a lane without a value; CMIS 5.4 7.1.4.2: LTP where nothing lies between the levels.
std::string lanes_row(std::string_view title, const std::vector<double>& values,
                      const TextStyle& style) {
  constexpr double kMostRatioDb = 255.99;
  std::vector<std::string> parts;
  for (const double value : values)
    parts.push_back(value == 0              ? "-"
                    : value >= kMostRatioDb ? ">=256"
                                            : fmt::format("{:.1f}", value));
  return row(title, join(parts, "  "), style);
}

std::string vdm_text(const ModuleSample& m, const TextStyle& style) {
  const ModuleVdm& v = m.vdm;
  const std::string statistics =
      statistics_row("media BER", v.media_pre_fec_ber, ratio, style) +
      statistics_row("host BER", v.host_pre_fec_ber, ratio, style) +
      statistics_row("media frames", v.media_errored_frames, count, style) +
      statistics_row("host frames", v.host_errored_frames, count, style) +
      statistics_row("media tail", v.media_fec_tail_symbols, count, style) +
      statistics_row("host tail", v.host_fec_tail_symbols, count, style);
  std::string out = lanes_row("media SNR dB", v.media_esnr_db, style) +
                    lanes_row("host SNR dB", v.host_esnr_db, style) +
                    lanes_row("media LTP dB", v.media_ltp_db, style) +
                    lanes_row("host LTP dB", v.host_ltp_db, style) + statistics;
  if (!v.media_errored_frames.empty() || !v.host_errored_frames.empty())
    out += row("", "frames: uncorrectable by FEC, in a sampling interval of the module", style);
  if (!statistics.empty())
    out += row("",
               v.frozen == true ? "avg, min and max are old: another program has frozen them"
                                : "avg, min and max are since an unknown time",
               style);
  if (v.laser_age_percent)
    out += row("laser age", fmt::format("{:.0f} %", *v.laser_age_percent), style);
  if (v.laser_frequency_error_mhz)
    out += row("laser error", fmt::format("{:.0f} MHz", *v.laser_frequency_error_mhz), style);
  return out.empty() ? out : "\n" + out;
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

std::string coherent_text(const ModuleSample& m, const TextStyle& style) {
  std::string out;
  for (const CoherentRow& entry : kCoherentRows)
    if (const auto& value = m.coherent.*entry.value)
      out += row(entry.title, fmt::format("{:.1f}", *value), style);
  return out.empty() ? out : "\n" + out;
}

std::string notes_text(const ModuleSample& m, const TextStyle& style) {
  if (m.warnings.empty()) return {};
  std::string out = "\n" + paint_bold("  Not read or not believed", style) + "\n";
  for (const std::string& warning : m.warnings)
    for (const std::string& line : fitted(clean_text(warning, style.ascii), columns(style) - 4))
      out += "    " + line + "\n";
  return out;
}

}  // namespace

std::string module_text(const ModuleSample& m, const TextStyle& style) {
  const std::string imported =
      m.imported_at
          ? row("read", "by another program (imported), " + format_rfc3339(*m.imported_at), style)
          : "";
  if (!m.present) return "no module in the cage\n" + imported;
  return identity(m, style) + imported + state(m, style) + light_text(m, style) +
         vdm_text(m, style) + coherent_text(m, style) + lane_states_text(m, style) +
         flags_text(m, style) + notes_text(m, style);
}

}  // namespace linkhealth
