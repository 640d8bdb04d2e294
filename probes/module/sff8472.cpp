#include <bit>
#include <cmath>
#include <string>

#include "probes/module/codes.h"
#include "probes/module/maps.h"
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

/// Byte 19 of a cable: a mantissa with a multiplier, for lengths that byte 18 cannot hold.
std::optional<double> cable_length_m(const ModulePage& a0, ModuleWarnings& warnings) {
  constexpr double kTenths[] = {1, 10, 100, 1000};
  const auto metres = a0.byte(18);
  const std::uint8_t extended = a0.byte(19).value_or(0);
  if (extended != 0 && extended != 0xff && metres.value_or(0) == 0)
    return kTenths[extended >> 6U] * (extended & 0x3f) / 10;
  if (metres == 0xff) warn_too_long("cable", "254 m", warnings);
  if (!metres || *metres == 0 || *metres == 0xff) return std::nullopt;
  return *metres;
}

std::optional<double> reach_m(const ModulePage& a0, bool copper, ModuleWarnings& warnings) {
  if (!copper && a0.byte(14) == 0xff) {
    warn_too_long("reach", "254 km", warnings);
    return std::nullopt;
  }
  double reach = 0;
  const auto longest = [&](unsigned offset, double unit_m) {
    const std::uint8_t value = a0.byte(offset).value_or(0);
    if (value != 0xff) reach = std::max(reach, value * unit_m);
  };
  longest(14, 1000);
  longest(15, 100);
  for (const unsigned offset : {16U, 17U, 19U}) longest(offset, 10);
  longest(18, copper ? 1 : 10);  // of OM4, or of the copper
  return reach > 0 ? std::optional(reach) : std::nullopt;
}

std::optional<double> power_w(const ModulePage& a0) {
  const auto options = a0.byte(64);
  if (!options) return std::nullopt;
  if ((*options & 0x40U) != 0) return std::nullopt;  // level 4: the wattage stands in byte 66 of later revisions
  if ((*options & 0x20U) != 0) return 2.0;
  return (*options & 0x02U) != 0 ? 1.5 : 1.0;
}

/// The quantities of A2h, as this module has calibrated them.
struct Calibrated {
  ModuleQuantity temperature = kTemperatureC;
  ModuleQuantity supply = kSupplyV;
  ModuleQuantity bias = kBiasMa;
  ModuleQuantity tx_power = kTxPowerMw;
  ModuleQuantity rx_power = kRxPowerMw;
  bool has_rx_power = true;
};

/// value = slope * raw + offset, slope a fixed point number with eight bits after the point, both in the unit of the
/// result's least significant bit.
void apply_linear(const ModulePage& a2, unsigned slope_at, ModuleQuantity& quantity) {
  const double slope = a2.u16(slope_at).value_or(0) / 256.0;
  const double offset = a2.s16(slope_at + 2).value_or(0);
  quantity.coefficients = {offset, slope};
}

constexpr ModuleQuantity kTecMa{"TEC current", "mA", true, -3276.8, 3276.7, 10};

bool has_slopes(const ModulePage& a2) {
  for (const unsigned at : {76U, 80U, 84U, 88U})
    if (a2.u16(at).value_or(0) == 0) return false;
  return a2.u32(68).has_value();
}

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

Calibrated calibration(const ModulePage& a0, const ModulePage& a2, ModuleWarnings& warnings) {
  Calibrated out;
  if (!a0.offers(92, 4)) return out;
  if (a0.offers(92, 5)) {
    warnings.emplace_back("says both internally and externally calibrated: taken as internally");
    return out;
  }
  if (!has_slopes(a2)) {
    warnings.emplace_back("externally calibrated without calibration constants: readings are raw");
    return out;
  }
  apply_linear(a2, 84, out.temperature);
  apply_linear(a2, 88, out.supply);
  apply_linear(a2, 76, out.bias);
  apply_linear(a2, 80, out.tx_power);
  out.has_rx_power = has_rx_polynomial(a2);
  if (out.has_rx_power)
    apply_rx_polynomial(a2, out.rx_power);
  else
    warnings.emplace_back(
        "externally calibrated, and the constants of the received power are all zero: it is left out");
  return out;
}

void read_thresholds(const ModulePage& a2, const Calibrated& quantities, bool optical, ModuleSample& sample) {
  sample.thresholds.temperature_c = read_limits(a2, 0, quantities.temperature, sample.warnings);
  sample.thresholds.supply_v = read_limits(a2, 8, quantities.supply, sample.warnings);
  if (!optical) return;
  sample.thresholds.tx_bias_ma = read_limits(a2, 16, quantities.bias, sample.warnings);
  sample.thresholds.tx_power_mw = read_limits(a2, 24, quantities.tx_power, sample.warnings);
  if (quantities.has_rx_power)
    sample.thresholds.rx_power_mw = read_limits(a2, 32, quantities.rx_power, sample.warnings);
}

/// Which flag bits stand where in bytes 112-113 (alarms) and 116-117 (warnings): high in `bit`, low below it.
AlarmFlags flags_at(const ModulePage& a2, unsigned byte, unsigned bit) {
  return {.low_alarm = a2.bit(byte, bit - 1),
          .low_warn = a2.bit(byte + 4, bit - 1),
          .high_warn = a2.bit(byte + 4, bit),
          .high_alarm = a2.bit(byte, bit)};
}

/// Bytes 118-119, as they are now. Revision 11.9b moved the bits of the clocks from byte 115 to 119, and 12.4 brought
/// that of the equalizer, with its advertisement where an externally calibrated module has constants.
void read_clocks(const ModulePage& a0, const ModulePage& a2, ModuleLane& lane) {
  const std::uint8_t revision = a0.byte(94).value_or(0);
  if (a0.offers(64, 3) && revision >= kRevision12_0) {
    lane.rx_lol = a2.bit(119, 0);
    lane.tx_lol = a2.bit(119, 1);
  }
  if (!a0.offers(92, 4) && a2.offers(58, 0) && revision >= kRevision12_4) lane.tx_eq_fault = a2.bit(118, 4);
}

/// `measures`: light and bias are there, and valid.
ModuleLane read_lane(const ModulePage& a0, const ModulePage& a2, const Calibrated& quantities, bool measures,
                     ModuleWarnings& warnings) {
  ModuleLane lane;
  if (a0.offers(93, 5)) lane.tx_fault = a2.bit(110, 2);
  // Byte 65 says which level means a loss; one that claims both has none (linux: drivers/net/phy/sfp.c).
  const bool inverted = a0.offers(65, 2);
  if (const auto los = a2.bit(110, 1); los && a0.offers(93, 4) && !(inverted && a0.offers(65, 1)))
    lane.rx_los = *los != inverted;
  if (const auto status = a2.byte(110); status && a0.offers(93, 6)) lane.tx_disabled = (*status & 0xc0U) != 0;
  read_clocks(a0, a2, lane);
  if (!measures) return lane;
  lane.tx_bias_ma = read_monitor(a2, 100, quantities.bias, 0, warnings);
  lane.tx_power_mw = read_monitor(a2, 102, quantities.tx_power, 0, warnings);
  if (quantities.has_rx_power) lane.rx_power_mw = read_monitor(a2, 104, quantities.rx_power, 0, warnings);
  if (!a0.offers(93, 7)) return lane;
  lane.tx_bias_flags = flags_at(a2, 112, 3);
  lane.tx_power_flags = flags_at(a2, 112, 1);
  lane.rx_power_flags = flags_at(a2, 113, 7);
  return lane;
}

/// An optional monitor (bytes 106 to 109) reads 0, or all ones, where it does not exist.
bool has_optional(const ModulePage& a2, unsigned offset) {
  const auto raw = a2.s16(offset);
  return raw && *raw != 0 && *raw != -1;
}

/// REQUIRES: revision 11.4, which brought these, their limits and flags; all that was reserved before. Byte 106 of a
/// tunable module may be a wavelength, whose scale no text that we have says.
void read_cooler(const ModulePage& a0, const ModulePage& a2, ModuleSample& sample) {
  constexpr unsigned kTunable = 6;  // of byte 65
  ModuleQuantity laser = kTemperatureC;
  laser.name = "laser temperature";
  if (has_optional(a2, 106) && a0.bit(65, kTunable) == false) {
    sample.laser_temperature_c = read_monitor(a2, 106, laser, 0, sample.warnings);
    sample.thresholds.laser_temperature_c = read_limits(a2, 40, laser, sample.warnings);
    if (a0.offers(93, 7)) sample.laser_temperature_flags = flags_at(a2, 113, 5);
  }
  if (!has_optional(a2, 108)) return;
  sample.tec_current_ma = a2.s16(108).value_or(0) / 10.0;
  sample.thresholds.tec_current_ma = read_limits(a2, 48, kTecMa, sample.warnings);
  if (a0.offers(93, 7)) sample.tec_flags = flags_at(a2, 113, 3);
}

void read_diagnostics(const ModulePage& a0, const ModulePage& a2, const SfpMedium& medium, ModuleSample& sample) {
  if (!a0.offers(92, 6)) return;
  if (medium.kind == "dac") return;  // vendors copy an optic's layout; there is nothing to measure
  if (a0.offers(92, 2)) {
    sample.warnings.emplace_back("its monitors need a change of the bus address, which the kernel does not make");
    return;
  }
  if (!a2.exists()) {
    sample.warnings.emplace_back("A2h was not read: light, limits and flags are not known");
    return;
  }
  note_checksum(sample, "A2h", a2.checksum_ok(0, 94, 95));
  const Calibrated quantities = calibration(a0, a2, sample.warnings);
  read_thresholds(a2, quantities, !medium.copper, sample);
  sample.data_not_ready = a2.bit(110, 0);
  const bool ready = !sample.data_not_ready.value_or(false);
  if (!ready) sample.warnings.emplace_back("the module says that its readings are not valid yet");
  if (ready) {
    sample.temperature_c = read_monitor(a2, 96, quantities.temperature, 0, sample.warnings);
    sample.supply_v = read_monitor(a2, 98, quantities.supply, 0, sample.warnings);
    if (a0.offers(93, 7)) {
      sample.temperature_flags = flags_at(a2, 112, 7);
      sample.supply_flags = flags_at(a2, 112, 5);
    }
  }
  // A repeater's receiver loses its signal as an optical one does; it has no power to measure.
  if ((medium.copper && medium.kind != "acc") || !a2.u16(96)) return;
  sample.lanes.push_back(read_lane(a0, a2, quantities, ready && !medium.copper, sample.warnings));
  if (medium.copper) return;
  sample.rx_power_is_average = a0.bit(92, 3);
  if (ready && a0.byte(94).value_or(0) >= kRevision11_4) read_cooler(a0, a2, sample);
}

}  // namespace

void decode_sff8472(const ModuleImage& image, ModuleSample& sample) {
  const ModulePage a0 = lower_page(image);
  const ModulePage a2 = a2_page(image);
  const std::uint8_t revision = a0.byte(94).value_or(0);
  sample.management = "SFF-8472";
  if (revision > 0 && revision < std::size(kRevisions)) sample.management += " " + std::string(kRevisions[revision]);
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
  if (!medium.copper) sample.wavelength_nm = sfp_wavelength_nm(a0);
  sample.max_power_w = power_w(a0);
  sample.media_lane_count = 1;
  sample.host_lane_count = 1;
  sample.media_type = sfp_media_type(a0, medium);
  read_diagnostics(a0, a2, medium, sample);
}

}  // namespace linkhealth
