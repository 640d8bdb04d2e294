#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "probes/module/codes.h"
#include "probes/module/maps.h"
#include "probes/module/monitors.h"
#include "probes/module/screen.h"
#include "probes/module/sff8472_medium.h"
#include "probes/module/values.h"

namespace linkhealth {

namespace {

/// Byte 94.
constexpr std::string_view kRevisions[] = {"",     "9.3",  "9.5",  "10.2", "10.4", "11.0",
                                           "11.3", "11.4", "12.3", "12.4", "12.5"};
/// Codes of byte 94. The second stands for 12.0 and later (linux: include/linux/sfp.h).
constexpr std::uint8_t kRevision11_4 = 7, kRevision12_0 = 8, kRevision12_4 = 9;

std::optional<double> signaling_rate_mbd(const ModulePage& a0) {
  const auto rate = a0.byte(12);
  if (!rate || *rate == 0) return std::nullopt;
  if (*rate != 0xff) return *rate * 100.0;
  const auto extended = a0.byte(66);
  if (!extended || *extended == 0 || *extended == 0xff) return std::nullopt;
  return *extended * 250.0;
}

/// Byte 19 of a cable: a mantissa with a multiplier, for lengths that byte 18 cannot hold (table
/// 6-1).
std::optional<double> extended_length_m(const ModulePage& a0) {
  constexpr double kTenths[] = {1, 10, 100, 1000};
  const std::uint8_t extended = a0.byte(19).value_or(0);
  if (extended == 0 || extended == 0xff) return std::nullopt;
  return kTenths[extended >> 6U] * (extended & 0x3f) / 10;
}

std::optional<double> cable_length_m(const ModulePage& a0, ModuleWarnings& warnings) {
  constexpr double kMostM = 254;  // that byte 18 can say
  const std::uint8_t metres = a0.byte(18).value_or(0);
  if (metres != 0 && metres != 0xff) return metres;
  const auto extended = extended_length_m(a0);
  if (metres == 0) return extended;
  if (extended && *extended > kMostM) return extended;
  warn_too_long("cable", "254 m", warnings);
  return std::nullopt;
}

/// 6.1 to 6.6. Of twisted pair only its own.
std::optional<double> reach_m(const ModulePage& a0, bool copper, ModuleWarnings& warnings) {
  LongestReach reach;
  reach.take(a0.byte(18), copper ? 1 : 10);  // of OM4, or of the copper
  if (copper) return reach.metres(warnings);
  reach.take(a0.byte(14), 1000);
  reach.take(a0.byte(15), 100);
  for (const unsigned offset : {16U, 17U, 19U}) reach.take(a0.byte(offset), 10);
  return reach.metres(warnings);
}

std::optional<double> power_w(const ModulePage& a0, const ModulePage& a2) {
  const auto options = a0.byte(64);
  if (!options) return std::nullopt;
  if ((*options & 0x40U) != 0) {  // level 4: tenths of a watt in A2h (SFF-8472 12.4.3 table 8-3)
    if (a0.offers(92, 4)) return std::nullopt;  // a calibration constant is there then (table 9-11)
    const auto tenths = a2.byte(66);
    return tenths && *tenths != 0 && *tenths != 0xff ? std::optional(*tenths / 10.0) : std::nullopt;
  }
  if ((*options & 0x20U) != 0) return 2.0;
  return (*options & 0x02U) != 0 ? 1.5 : 1.0;
}

constexpr ModuleQuantity kTecMa{"TEC current", "mA", true, -3276.8, 3276.7, 10};

/// Values, limits and flags of A2h. A module measures all of these or none (A0h 92.6).
using Monitors = std::array<MonitorRow, 5>;
constexpr Monitors kMonitors{
    of_module(kTemperatureC, {96, 0, 112, 7}, {}, &ModuleThresholds::temperature_c,
              &ModuleSample::temperature_c, &ModuleSample::temperature_flags),
    of_module(kSupplyV, {98, 8, 112, 5}, {}, &ModuleThresholds::supply_v, &ModuleSample::supply_v,
              &ModuleSample::supply_flags),
    of_lane(kBiasMa, {100, 16, 112, 3}, {}, &ModuleThresholds::tx_bias_ma, &ModuleLane::tx_bias_ma,
            &ModuleLane::tx_bias_flags),
    of_lane(kTxPowerMw, {102, 24, 112, 1}, {}, &ModuleThresholds::tx_power_mw,
            &ModuleLane::tx_power_mw, &ModuleLane::tx_power_flags),
    of_lane(kRxPowerMw, {104, 32, 113, 7}, {}, &ModuleThresholds::rx_power_mw,
            &ModuleLane::rx_power_mw, &ModuleLane::rx_power_flags),
};
/// Where the slope of each of these stands in A2h, its offset behind it; the last has a polynomial.
constexpr std::array<unsigned, 4> kSlopes{84, 88, 76, 80};

/// Monitors that a module may have besides.
constexpr ModuleQuantity kLaserTemperatureC{
    "laser temperature",         "C", true, kTemperatureC.min, kTemperatureC.max,
    kTemperatureC.steps_per_unit};
constexpr MonitorRow kLaserTemperature =
    of_module(kLaserTemperatureC, {106, 40, 113, 5}, {}, &ModuleThresholds::laser_temperature_c,
              &ModuleSample::laser_temperature_c, &ModuleSample::laser_temperature_flags);
constexpr MonitorRow kTec =
    of_module(kTecMa, {108, 48, 113, 3}, {}, &ModuleThresholds::tec_current_ma,
              &ModuleSample::tec_current_ma, &ModuleSample::tec_flags);

/// value = slope * raw + offset, slope a fixed point number with eight bits after the point, both
/// in the unit of the result's least significant bit.
void apply_linear(const ModulePage& a2, unsigned slope_at, ModuleQuantity& quantity) {
  const double slope = a2.u16(slope_at).value_or(0) / 256.0;
  const double offset = a2.s16(slope_at + 2).value_or(0);
  quantity.coefficients = {offset, slope};
}

bool has_slope(const ModulePage& a2, unsigned at) { return a2.u16(at).value_or(0) != 0; }

/// SFF-8472 table 9-6: five IEEE floats, highest power first.
void apply_rx_polynomial(const ModulePage& a2, ModuleQuantity& quantity) {
  for (unsigned power = 0; power < 5; ++power) {
    const float c = std::bit_cast<float>(a2.u32(72 - 4 * power).value_or(0));
    quantity.coefficients.at(power) = static_cast<double>(c);
  }
}

bool has_rx_polynomial(const ModulePage& a2) {
  for (const unsigned at : {56U, 60U, 64U, 68U, 72U})
    if (a2.u32(at).value_or(0) != 0) return true;
  return false;
}

/// The rows of A2h, as this module has calibrated them.
Monitors calibrated(const ModulePage& a0, const ModulePage& a2, ModuleWarnings& warnings) {
  Monitors out = kMonitors;
  if (!a0.offers(92, 4)) return out;
  if (a0.offers(92, 5)) {
    warnings.emplace_back("says both internally and externally calibrated: taken as internally");
    return out;
  }
  const auto known = [&](unsigned at) { return has_slope(a2, at); };
  if (std::ranges::none_of(kSlopes, known) || !a2.u32(68)) {
    warnings.emplace_back("externally calibrated without calibration constants: readings are raw");
    return out;
  }
  for (std::size_t i = 0; i < kSlopes.size(); ++i) {
    MonitorRow& row = out.at(i);
    row.scale_known = has_slope(a2, kSlopes.at(i));
    apply_linear(a2, kSlopes.at(i), row.quantity);
    if (!row.scale_known)
      warnings.push_back("externally calibrated, and the slope of the " +
                         std::string(row.quantity.name) + " is zero: it is left out");
  }
  MonitorRow& rx_power = out.back();
  rx_power.scale_known = has_rx_polynomial(a2);
  if (rx_power.scale_known)
    apply_rx_polynomial(a2, rx_power.quantity);
  else
    warnings.emplace_back(
        "externally calibrated, and the constants of the received power are all zero: it is left "
        "out");
  return out;
}

/// Bytes 118-119, as they are now. Revision 11.9b moved the bits of the clocks from byte 115 to
/// 119, and 12.4 brought that of the equalizer, with its advertisement where an externally
/// calibrated module has constants.
void read_clocks(const ModulePage& a0, const ModulePage& a2, ModuleLane& lane) {
  const std::uint8_t revision = a0.byte(94).value_or(0);
  if (a0.offers(64, 3) && revision >= kRevision12_0) {
    lane.rx_lol = a2.bit(119, 0);
    lane.tx_lol = a2.bit(119, 1);
  }
  if (!a0.offers(92, 4) && a2.offers(58, 0) && revision >= kRevision12_4)
    lane.tx_eq_fault = a2.bit(118, 4);
}

ModuleLane read_states(const ModulePage& a0, const ModulePage& a2) {
  ModuleLane lane;
  if (a0.offers(93, 5)) lane.tx_fault = a2.bit(110, 2);
  // Byte 65 says which level means a loss; one that claims both has none (linux:
  // drivers/net/phy/sfp.c).
  const bool inverted = a0.offers(65, 2);
  if (const auto los = a2.bit(110, 1); los && a0.offers(93, 4) && !(inverted && a0.offers(65, 1)))
    lane.rx_los = *los != inverted;
  if (const auto status = a2.byte(110); status && a0.offers(93, 6))
    lane.tx_disabled = (*status & 0xc0U) != 0;
  read_clocks(a0, a2, lane);
  return lane;
}

/// An optional monitor (bytes 106 to 109) reads 0, or all ones, where it does not exist, and has no
/// limits there.
bool has_optional(const ModulePage& a2, const MonitorRow& row) {
  const auto raw = a2.s16(row.at.value);
  if (!raw) return false;
  const auto limits = read_quad(a2, row.at.limits);
  const bool has_limits = limits && std::ranges::any_of(*limits, [](std::uint16_t one) {
                            return one != 0 && one != 0xffff;
                          });
  return (*raw != 0 && *raw != -1) || has_limits;
}

/// REQUIRES: revision 11.4, which brought these, their limits and flags; all that was reserved
/// before. Byte 106 of a tunable module may be a wavelength, whose scale no text that we have says.
void read_cooler(const ModulePage& a0, const MonitorPages& pages, ModuleSample& sample) {
  constexpr unsigned kTunable = 6;  // of byte 65
  for (const MonitorRow& row : {kLaserTemperature, kTec}) {
    const bool is_laser = row.at.value == kLaserTemperature.at.value;
    if (!has_optional(pages.values, row) || (is_laser && a0.bit(65, kTunable) != false)) continue;
    take_value(pages, row, sample);
    take_limits(pages, row, sample);
  }
}

/// Why a module with monitors has none for us; "" it has.
std::string_view why_not_measured(const ModulePage& a0, const ModulePage& a2) {
  if (a0.offers(92, 2))
    return "its monitors need a change of the bus address, which the kernel does not make";
  return a2.exists() ? "" : "A2h was not read: light, limits and flags are not known";
}

void read_lane(const ModulePage& a0, const MonitorPages& pages, const Monitors& monitors,
               bool measures, ModuleSample& sample) {
  ModuleLane lane = read_states(a0, pages.values);
  for (const MonitorRow& row : monitors)
    if (measures && row.of_lane()) take_lane_value(pages, row, 0, 0, lane, sample.warnings);
  sample.lanes.push_back(lane);
}

/// Of twisted pair, which has no light to lose: what its transmitter says, where it says anything.
void read_twisted_pair(const ModulePage& a0, const ModulePage& a2, ModuleSample& sample) {
  if (!a0.offers(93, 5) && !a0.offers(93, 6)) return;
  const ModuleLane states = read_states(a0, a2);
  ModuleLane& lane = sample.lanes.emplace_back();
  lane.tx_fault = states.tx_fault;
  lane.tx_disabled = states.tx_disabled;
}

void read_diagnostics(const ModulePage& a0, const ModulePage& a2, const SfpMedium& medium,
                      ModuleSample& sample) {
  if (!a0.offers(92, 6)) return;
  if (medium.kind == "dac") return;  // vendors copy an optic's layout; there is nothing to measure
  if (const auto why = why_not_measured(a0, a2); !why.empty()) {
    sample.warnings.emplace_back(why);
    return;
  }
  note_checksum(sample, "A2h", a2.checksum_ok(0, 94, 95));
  const MonitorPages pages{a2, a2, kSff8472Flags, a0.offers(93, 7)};
  const Monitors monitors = calibrated(a0, a2, sample.warnings);
  for (const MonitorRow& row : monitors)
    if (!row.of_lane() || !medium.copper) take_limits(pages, row, sample);
  sample.data_not_ready = a2.bit(110, 0);
  const bool ready = !sample.data_not_ready.value_or(false);
  if (!ready) sample.warnings.emplace_back("the module says that its readings are not valid yet");
  for (const MonitorRow& row : monitors)
    if (ready && !row.of_lane()) take_value(pages, row, sample);
  if (!a2.u16(96)) return;
  if (medium.copper && !medium.cable) return read_twisted_pair(a0, a2, sample);
  // A repeater's receiver loses its signal as an optical one does; it has no power to measure.
  read_lane(a0, pages, monitors, ready && !medium.copper, sample);
  if (medium.copper) return;
  sample.rx_power_is_average = a0.bit(92, 3);
  if (ready && a0.byte(94).value_or(0) >= kRevision11_4) read_cooler(a0, pages, sample);
}

/// A tunable laser's wavelength is where it was tuned to, and not what A0h says.
void read_wavelength(const ModuleImage& image, ModuleSample& sample) {
  if (sfp_is_tunable(image)) return decode_sff8690(image, sample);
  sample.wavelength_nm = sfp_wavelength_nm(lower_page(image));
}

}  // namespace

void decode_sff8472(const ModuleImage& image, ModuleSample& sample) {
  const ModulePage a0 = lower_page(image);
  const ModulePage a2 = a2_page(image);
  const std::uint8_t revision = a0.byte(94).value_or(0);
  sample.management = "SFF-8472";
  if (revision > 0 && revision < std::size(kRevisions))
    sample.management += " " + std::string(kRevisions[revision]);
  const SfpMedium medium = sfp_medium(a0);
  sample.kind = medium.kind;
  sample.connector = connector_name(a0.byte(2).value_or(0));
  sample.encoding = encoding_name(a0.byte(11).value_or(0), ModuleMap::kSff8472);
  sample.signaling_rate_mbd = signaling_rate_mbd(a0);
  sample.type = sfp_type(a0, medium, sample.signaling_rate_mbd);
  read_identity(a0, kSff8472Identity, sample);
  note_checksum(sample, "A0h bytes 0-62", a0.checksum_ok(0, 62, 63));
  note_checksum(sample, "A0h bytes 64-94", a0.checksum_ok(64, 94, 95));
  if (medium.cable)
    sample.length_m = cable_length_m(a0, sample.warnings);
  else
    sample.reach_m = reach_m(a0, medium.copper, sample.warnings);
  if (!medium.copper) read_wavelength(image, sample);
  sample.max_power_w = power_w(a0, a2);
  sample.media_lane_count = 1;
  sample.host_lane_count = 1;
  sample.media_type = sfp_media_type(a0, medium);
  read_diagnostics(a0, a2, medium, sample);
}

}  // namespace linkhealth
