#include "exporters/module_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "exporters/module_flags_text.h"
#include "exporters/module_lanes_text.h"
#include "exporters/module_light_text.h"
#include "exporters/module_places_text.h"
#include "exporters/module_values_text.h"
#include "exporters/module_warnings_text.h"
#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

/// Limits of degrees and percents are whole numbers on most modules, and have at most one more
/// digit on the others.
std::string plain_limits(const Limits& limits, std::string_view unit, int digits) {
  if (!limits.low_warn || !limits.high_warn) return {};
  const auto number = [digits](double value) {
    return digits == 1 ? fmt::format("{:g}", std::round(value * 10) / 10)
                       : fmt::format("{:.{}f}", value, digits);
  };
  return fmt::format("   warns outside {} to {} {}", number(*limits.low_warn),
                     number(*limits.high_warn), unit);
}

std::string kind_words(const ModuleSample& m) {
  if (m.kind == "aoc") return "active optical cable";
  if (m.kind == "dac") return "passive copper cable";
  if (m.kind == "acc") return "active copper cable";
  return m.kind == "unknown" ? "" : m.kind;
}

/// Of what the light goes through, where the kind of cable does not say it.
std::string media_words(const ModuleSample& m) {
  const bool active = m.kind == "aoc" || m.kind == "acc";
  return m.media_type == "copper" || (active && m.media_type == "active cable") ? "" : m.media_type;
}

/// What a tunable laser is made for is not where it stands: the row of the laser says that.
std::string wavelength_words(const ModuleSample& m) {
  const bool tuned = std::ranges::any_of(
      m.laser_tuning, [](const LaserTuning& laser) { return laser.frequency_ghz.has_value(); });
  return m.wavelength_nm && !tuned ? fmt::format("{:.1f} nm", *m.wavelength_nm) : "";
}

std::string firmware_words(const ModuleSample& m) {
  const std::string other =
      m.inactive_firmware.empty() ? "" : "(inactive " + m.inactive_firmware + ")";
  return m.firmware.empty() && other.empty() ? "" : join({"firmware", m.firmware, other}, " ");
}

std::string revision_row(const ModuleSample& m, const TextStyle& style) {
  const std::string versions =
      join({m.revision, m.hardware_revision.empty() ? "" : "hardware " + m.hardware_revision,
            firmware_words(m)},
           ", ");
  if (versions.empty()) return row("made", clean_text(m.date, style.ascii));
  return row("revision", clean_text(join({versions, m.date.empty() ? "" : "made " + m.date}, ", "),
                                    style.ascii));
}

/// "6 dB at 2.5 GHz, 16 at 12.9, as its maker says"
std::string loss_words(const std::vector<CopperAttenuation>& losses) {
  std::vector<std::string> parts;
  parts.reserve(losses.size() + 1);
  for (const CopperAttenuation& loss : losses)
    parts.push_back(fmt::format("{:g}{} at {:g}{}", loss.attenuation_db, parts.empty() ? " dB" : "",
                                loss.frequency_ghz, parts.empty() ? " GHz" : ""));
  if (!parts.empty()) parts.emplace_back("as its maker says");
  return join(parts, ", ");
}

std::string connector_words(const ModuleSample& m) {
  if (m.connector.starts_with("none")) return "";
  return m.fibre_face.empty() ? m.connector : join({m.connector, m.fibre_face}, " ");
}

std::string length_words(double metres) {
  return metres >= 10'000 ? fmt::format("{:g} km", metres / 1000) : fmt::format("{:g} m", metres);
}

std::string identity(const ModuleSample& m, const TextStyle& style) {
  const std::string length = m.length_m ? fmt::format("{:g} m", *m.length_m) : "";
  const std::string reach = m.reach_m ? "for up to " + length_words(*m.reach_m) : "";
  std::string out =
      paint_bold(
          join({clean_text(m.type.empty() ? "unknown type" : m.type, style.ascii), m.form_factor},
               ", "),
          style) +
      "\n";
  out += row("kind", join({kind_words(m), media_words(m), connector_words(m), length, reach,
                           wavelength_words(m)},
                          ", "));
  out += row("maker", clean_text(join({m.vendor, m.part_number}, " "), style.ascii));
  out += row("serial", clean_text(m.serial, style.ascii));
  out += revision_row(m, style);
  if (m.case_temperature_min_c && m.case_temperature_max_c)
    out += row("case", fmt::format("made for {:g} to {:g} C", *m.case_temperature_min_c,
                                   *m.case_temperature_max_c));
  out += row("fibres", fibre_words(m));
  out += row("memory map", m.management);
  out += row("loss", loss_words(m.copper_attenuation));
  return out;
}

/// "193100.0 GHz (1552.52 nm)", of each lane that is tuned to something or is just being tuned.
std::string laser_words(const std::vector<LaserTuning>& lasers) {
  constexpr double kLightNmGhz = 299'792'458;  // the speed of light in nm GHz
  std::vector<std::string> parts;
  for (const LaserTuning& laser : lasers) {
    if (laser.frequency_ghz)
      parts.push_back(fmt::format("{:.1f} GHz ({:.2f} nm)", *laser.frequency_ghz,
                                  kLightNmGhz / *laser.frequency_ghz));
    if (laser.tuning.value_or(false)) parts.emplace_back("is being tuned");
  }
  return join(parts, ", ");
}

std::string monitor_row(std::string_view name, std::optional<double> value, const Limits& limits,
                        std::string_view unit, int digits, const TextStyle& style,
                        std::string_view note = {}) {
  if (!value) return {};
  const std::string noted = note.empty() ? "" : fmt::format(" ({})", note);
  return row(name, fmt::format("{:.{}f} {}{}", *value, digits, unit, noted) +
                       limit_mark(value, limits, style) + plain_limits(limits, unit, digits));
}

/// What keeps it from work, as far as it says so. Nearly every module would obey the pin: that
/// alone is no news.
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
  const std::string withheld =
      m.allowed_power_w
          ? fmt::format(", of which the host has not enabled more than {:g} W", *m.allowed_power_w)
          : "";
  return row("power", fmt::format("at most {:g} W{}", *m.max_power_w, withheld));
}

/// CMIS 5.4 table 8-10: below 0 it cools.
std::string_view verb_of_percent(const std::optional<double>& percent) {
  if (!percent || *percent == 0) return "";
  return *percent < 0 ? "cools" : "heats";
}

/// SFF-8472 12.4.3 9.2: above 0 it cools. SFF-8636 does not say.
std::string_view verb_of_ma(const ModuleSample& m) {
  if (!m.tec_current_ma || *m.tec_current_ma == 0 || !m.management.starts_with("SFF-8472"))
    return "";
  return *m.tec_current_ma > 0 ? "cools" : "heats";
}

bool measures(const ModuleLane& lane) {
  return lane.rx_power_mw || lane.tx_power_mw || lane.tx_bias_ma;
}

bool measures(const ModuleSample& m) {
  return m.temperature_c || m.supply_v || m.laser_temperature_c || m.second_supply_v ||
         m.tec_current_percent || m.second_laser_temperature_c || m.second_tec_current_percent ||
         m.tec_current_ma ||
         std::ranges::any_of(m.lanes, [](const ModuleLane& lane) { return measures(lane); }) ||
         !m.vdm.empty() || !m.coherent.empty() || !m.coherent_statistics.empty();
}

/// A warning that explains no silence: it is about who the module is.
bool is_about_identity(std::string_view warning) {
  constexpr std::string_view kWords[] = {"checksum of ", "date code ", " not text"};
  return std::ranges::any_of(kWords, [&](std::string_view words) {
    return warning.find(words) != std::string_view::npos;
  });
}

/// Why there is no value at all; "" where there is one. A flat CMIS module has no page that would
/// tell its banks.
std::string silence_words(const ModuleSample& m) {
  if (measures(m)) return {};
  if (m.kind == "dac") return "nothing: a passive copper cable has no monitors";
  if (!std::ranges::all_of(m.warnings, is_about_identity)) return "not known: see below";
  const bool flat = m.management.starts_with("CMIS") && !m.bank_count;
  return flat ? "nothing: its memory says only who it is (flat memory)"
              : "nothing: it offers no monitors";
}

std::string state(const ModuleSample& m, const TextStyle& style) {
  std::string out = row("state", state_words(m)) + row("measures", silence_words(m));
  out += monitor_row("temperature", m.temperature_c, m.thresholds.temperature_c, "C", 1, style);
  out += monitor_row("supply", m.supply_v, m.thresholds.supply_v, "V", 2, style);
  out += monitor_row("2nd supply", m.second_supply_v, m.thresholds.second_supply_v, "V", 2, style);
  out += row("laser", laser_words(m.laser_tuning));
  out += monitor_row("laser temp.", m.laser_temperature_c, m.thresholds.laser_temperature_c, "C", 1,
                     style);
  out += monitor_row("2nd laser", m.second_laser_temperature_c,
                     m.thresholds.second_laser_temperature_c, "C", 1, style);
  out += monitor_row("laser cooler", m.tec_current_percent, m.thresholds.tec_current_percent, "%",
                     1, style, verb_of_percent(m.tec_current_percent));
  out += monitor_row("2nd cooler", m.second_tec_current_percent,
                     m.thresholds.second_tec_current_percent, "%", 1, style,
                     verb_of_percent(m.second_tec_current_percent));
  out += monitor_row("laser cooler", m.tec_current_ma, m.thresholds.tec_current_ma, "mA", 1, style,
                     verb_of_ma(m));
  out += power_row(m);
  if (m.module_firmware_error.value_or(false))
    out += row("firmware", "the module's own firmware has failed");
  if (m.data_path_firmware_error.value_or(false))
    out += row("firmware", "the data path's firmware has failed");
  if (m.abnormal_firmware.value_or(false))
    out += row("firmware", "is not what the module should run");
  if (m.looped.value_or(false))
    out += row("loopback", loopback_words(m) + ": traffic does not pass");
  if (m.sends_pattern.value_or(false))
    out += row("pattern", "a test pattern is sent: traffic does not pass");
  return out;
}

}  // namespace

std::string module_text(const ModuleSample& m, const TextStyle& style) {
  const std::string imported =
      m.imported_at ? row("read", "by somebody else (imported), " + format_rfc3339(*m.imported_at))
                    : "";
  if (!m.present) return "no module in the cage\n" + imported;
  const std::string values = light_text(m, style) + vdm_text(m) + coherent_text(m);
  const std::string words = lane_states(m, style) + flags_now(m, style) + flag_history(m, style) +
                            warnings_text(m, style);
  return fitted(identity(m, style) + imported + state(m, style) + values + words,
                static_cast<std::size_t>(std::max(60, style.width_columns)));
}

}  // namespace linkhealth
