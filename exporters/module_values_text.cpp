#include "exporters/module_values_text.h"

#include <fmt/format.h>

#include "exporters/text_layout.h"

namespace linkhealth {

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

std::string row(std::string_view name, const std::string& value) {
  return value.empty() ? std::string() : "  " + pad_right(name, 12) + " " + value + "\n";
}

namespace {

/// "   warns below 18.0": beyond what the module itself warns of a value; where it does not warn,
/// its alarms.
template <typename Format>
std::string limit_words(const Limits& limits, const Format& format) {
  const bool warns = limits.low_warn || limits.high_warn;
  const std::string_view verb = warns ? "warns" : "alarms";
  const std::optional<double>& low = warns ? limits.low_warn : limits.low_alarm;
  const std::optional<double>& high = warns ? limits.high_warn : limits.high_alarm;
  if (low && high) return fmt::format("   {} outside {} to {}", verb, format(*low), format(*high));
  if (low) return fmt::format("   {} below {}", verb, format(*low));
  return high ? fmt::format("   {} above {}", verb, format(*high)) : std::string();
}

/// Of lanes that have limits of their own the first one's.
template <typename Format>
std::string limits_of(const ModuleVdm& vdm, std::string_view name, const Format& format) {
  for (const VdmLimits& entry : vdm.thresholds)
    if (entry.name == name) return limit_words(entry.limits, format);
  return {};
}

template <typename Format>
std::string statistics_row(std::string_view title, const VdmStatistics& values,
                           const std::string& limits, const Format& format) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, const std::optional<double>& value) {
    if (value) parts.push_back(std::string(name) + " " + format(*value));
  };
  add("now", values.current);
  add("avg", values.avg);
  add("min", values.min);
  add("max", values.max);
  add("total", values.total);
  return parts.empty() ? std::string() : row(title, join(parts, "  ") + limits);
}

/// VDM has limits for each of the statistics: those of the value now, or of the first that has any.
template <typename Format>
std::string vdm_row(std::string_view title, const ModuleVdm& vdm, const VdmStatistics& values,
                    std::string_view name, const Format& format) {
  std::string limits;
  for (const std::string_view which : {"_current", "_avg", "_max", "_total"})
    if (limits.empty()) limits = limits_of(vdm, fmt::format("{}{}", name, which), format);
  return statistics_row(title, values, limits, format);
}

VdmStatistics as_vdm(const BerStatistics& ber) {
  return {.min = ber.min, .max = ber.max, .avg = ber.avg, .current = ber.current, .total = {}};
}

std::string symbols(double value) { return fmt::format("{:.0f}", value); }

/// CMIS 5.4 7.1.4.2: LTP where nothing lies between the levels.
constexpr double kMostRatioDb = 255.99;

std::string numbers(const std::vector<double>& values) {
  std::vector<std::string> parts;
  parts.reserve(values.size());
  for (const double value : values)
    parts.push_back(value == 0              ? "-"
                    : value >= kMostRatioDb ? ">=256"
                                            : fmt::format("{:.1f}", value));
  return join(parts, "  ");
}

std::string ratio(double value) { return value == 0 ? "0" : fmt::format("{:.1e}", value); }

std::string count(double value) { return fmt::format("{:.6g}", value); }

std::string one_decimal(double value) { return fmt::format("{:.1f}", value); }

std::string per_lane(std::string_view title, const ModuleVdm& vdm,
                     const std::vector<double>& values, std::string_view name) {
  return values.empty() ? "" : row(title, numbers(values) + limits_of(vdm, name, one_decimal));
}

}  // namespace

namespace {

struct SupplyRow {
  std::string_view name;
  std::optional<double> ModuleVdm::*value_v;
};
constexpr SupplyRow kSupplies[] = {
    {"12 V", &ModuleVdm::vcc12_v},      {"2.6 V", &ModuleVdm::vcc2p6_v},
    {"1.8 V", &ModuleVdm::vcc1p8_v},    {"1.2 V", &ModuleVdm::vcc1p2_v},
    {"0.9 V", &ModuleVdm::vcc0p9_v},    {"0.7 V A", &ModuleVdm::vcc0p7a_v},
    {"0.7 V B", &ModuleVdm::vcc0p7b_v},
};

/// "1.8 V: 1.797, 0.9 V: 0.901"
std::string supplies(const ModuleVdm& v) {
  std::string text;
  for (const SupplyRow& supply : kSupplies)
    if (v.*supply.value_v)
      text +=
          fmt::format("{}{}: {:.3f}", text.empty() ? "" : ", ", supply.name, *(v.*supply.value_v));
  return text;
}

/// What VDM has of the lasers, by lane: of each the lane that is farthest from what it should be.
std::string lasers(const ModuleVdm& v) {
  std::vector<std::string> parts;
  if (v.laser_age_percent) parts.push_back(fmt::format("age {:.0f} %", *v.laser_age_percent));
  if (v.laser_frequency_error_mhz)
    parts.push_back(fmt::format("frequency error {:.0f} MHz", *v.laser_frequency_error_mhz));
  if (v.tec_current_percent)
    parts.push_back(fmt::format("cooler {:.1f} %", *v.tec_current_percent));
  if (v.laser_temperature_c)
    parts.push_back(fmt::format("temperature {:.1f} C (from its target; of some modules its own)",
                                *v.laser_temperature_c));
  return join(parts, "  ");
}

/// SFF-8636 table 6-43: its least and its most end with each read of them, by whomever.
std::string_view statistics_words(const ModuleSample& m) {
  if (m.management.starts_with("SFF-8636"))
    return "min and max are since somebody last read them, perhaps not us";
  return m.vdm.frozen.value_or(false)
             ? "avg, min and max are old: another agent has frozen them"
             : "avg, min and max are live: since an unknown time, not since our last read";
}

}  // namespace

std::string vdm_text(const ModuleSample& m) {
  const ModuleVdm& v = m.vdm;
  const std::string statistics =
      vdm_row("media BER", v, as_vdm(v.media_pre_fec_ber), "media_pre_fec_ber", ratio) +
      vdm_row("host BER", v, as_vdm(v.host_pre_fec_ber), "host_pre_fec_ber", ratio) +
      vdm_row("media frames", v, v.media_errored_frames, "media_errored_frames", count) +
      vdm_row("host frames", v, v.host_errored_frames, "host_errored_frames", count) +
      vdm_row("media tail", v, v.media_fec_tail_symbols, "media_fec_tail_symbols", symbols) +
      vdm_row("host tail", v, v.host_fec_tail_symbols, "host_fec_tail_symbols", symbols);
  std::string out = per_lane("media SNR dB", v, v.media_esnr_db, "media_esnr_db") +
                    per_lane("host SNR dB", v, v.host_esnr_db, "host_esnr_db") +
                    per_lane("media LTP dB", v, v.media_ltp_db, "media_ltp_db") +
                    per_lane("host LTP dB", v, v.host_ltp_db, "host_ltp_db") + statistics;
  if (!v.media_errored_frames.empty() || !v.host_errored_frames.empty())
    out += row("",
               "frames: those that FEC could not correct, in a sampling interval of the module "
               "(total: in all)");
  out += row("lasers (VDM)", lasers(v));
  if (const std::string inside = supplies(v); !inside.empty()) out += row("supplies V", inside);
  if (!statistics.empty() || !m.coherent_statistics.empty())
    out += row("", std::string(statistics_words(m)));
  return out.empty() ? out : "\n" + out;
}

namespace {

struct CoherentRow {
  std::string_view title;
  std::string_view name;  ///< as in VdmLimits
  std::optional<double> ModuleCoherent::*now;
  VdmStatistics CoherentStatistics::*statistics = nullptr;  ///< of a margin there are none
};
constexpr CoherentRow kCoherentRows[] = {
    {"OSNR dB", "coherent_osnr_db", &ModuleCoherent::osnr_db, &CoherentStatistics::osnr_db},
    {"eSNR dB", "coherent_esnr_db", &ModuleCoherent::esnr_db, &CoherentStatistics::esnr_db},
    {"SNR marg. dB", "coherent_snr_margin_db", &ModuleCoherent::snr_margin_db},
    {"Q dB", "coherent_q_factor_db", &ModuleCoherent::q_factor_db},
    {"Q margin dB", "coherent_q_margin_db", &ModuleCoherent::q_margin_db},
    {"Rx all dBm", "coherent_rx_total_power_dbm", &ModuleCoherent::rx_total_power_dbm,
     &CoherentStatistics::rx_total_power_dbm},
    {"Rx own dBm", "coherent_rx_signal_power_dbm", &ModuleCoherent::rx_signal_power_dbm,
     &CoherentStatistics::rx_signal_power_dbm},
    {"Tx dBm", "coherent_tx_power_dbm", &ModuleCoherent::tx_power_dbm,
     &CoherentStatistics::tx_power_dbm},
    {"CD ps/nm", "coherent_chromatic_dispersion_ps_per_nm",
     &ModuleCoherent::chromatic_dispersion_ps_per_nm,
     &CoherentStatistics::chromatic_dispersion_ps_per_nm},
    {"DGD ps", "coherent_dgd_ps", &ModuleCoherent::dgd_ps, &CoherentStatistics::dgd_ps},
    {"PDL dB", "coherent_pdl_db", &ModuleCoherent::pdl_db, &CoherentStatistics::pdl_db},
    {"SOPMD ps2", "coherent_sopmd_ps2", &ModuleCoherent::sopmd_ps2, &CoherentStatistics::sopmd_ps2},
    {"SOP krad/s", "coherent_sop_rate_krad_per_s", &ModuleCoherent::sop_rate_krad_per_s,
     &CoherentStatistics::sop_rate_krad_per_s},
    {"EVM %", "coherent_evm_percent", &ModuleCoherent::evm_percent,
     &CoherentStatistics::evm_percent},
    {"MER dB", "coherent_mer_db", &ModuleCoherent::mer_db, &CoherentStatistics::mer_db},
    {"offset MHz", "coherent_carrier_frequency_offset_mhz",
     &ModuleCoherent::carrier_frequency_offset_mhz,
     &CoherentStatistics::carrier_frequency_offset_mhz},
};

struct BiasColumn {
  std::string_view name;
  std::optional<double> ModuleCoherent::*percent;
};
constexpr BiasColumn kModulatorBias[] = {
    {"XI", &ModuleCoherent::modulator_bias_xi_percent},
    {"XQ", &ModuleCoherent::modulator_bias_xq_percent},
    {"YI", &ModuleCoherent::modulator_bias_yi_percent},
    {"YQ", &ModuleCoherent::modulator_bias_yq_percent},
    {"X phase", &ModuleCoherent::modulator_bias_x_phase_percent},
    {"Y phase", &ModuleCoherent::modulator_bias_y_phase_percent},
};

/// "XI 49.8  XQ 50.1  …": of its range, so that both ends are bad.
std::string modulator_bias(const ModuleCoherent& coherent) {
  std::vector<std::string> parts;
  for (const BiasColumn& column : kModulatorBias)
    if (const auto& percent = coherent.*column.percent)
      parts.push_back(fmt::format("{} {:.1f}", column.name, *percent));
  return join(parts, "  ");
}

}  // namespace

std::string coherent_text(const ModuleSample& m) {
  std::string out;
  for (const CoherentRow& entry : kCoherentRows) {
    VdmStatistics values;
    if (entry.statistics != nullptr) values = m.coherent_statistics.*entry.statistics;
    values.current = m.coherent.*entry.now;
    out +=
        statistics_row(entry.title, values, limits_of(m.vdm, entry.name, one_decimal), one_decimal);
  }
  out += row("modulator %", modulator_bias(m.coherent));
  const CoherentStatistics& c = m.coherent_statistics;
  if (c.rx_bits && c.rx_corrected_bits)
    out += row("FEC", fmt::format("{} of {} bits corrected", *c.rx_corrected_bits, *c.rx_bits) +
                          (c.rx_uncorrectable_frames
                               ? fmt::format(", {} frames lost", *c.rx_uncorrectable_frames)
                               : std::string()));
  return out.empty() ? out : "\n" + out;
}

}  // namespace linkhealth
