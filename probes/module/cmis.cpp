#include "probes/module/cmis.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "probes/module/codes.h"
#include "probes/module/decode.h"
#include "probes/module/values.h"

namespace linkhealth {

namespace {

constexpr IdentityOffsets kIdentity{129, 148, 164, 2, 166, 182};

enum MediaType : std::uint8_t {
  kMultimodeFibre = 1,
  kSingleModeFibre = 2,
  kPassiveCopper = 3,
  kActiveCable = 4
};

struct Medium {
  bool optical = false;
  bool cable = false;
  std::string kind = "unknown";
  /// A retimer's receiver loses signal and lock like an optical one; it has no power to measure.
  [[nodiscard]] MediaSide side() const {
    return optical ? MediaSide::kOptical : kind == "acc" ? MediaSide::kElectric : MediaSide::kNone;
  }
};

/// CMIS 5.4 table 8-20: 00h is undefined, 40h to 8Fh are vendor-specific, the others above 05h
/// (BASE-T) reserved.
bool is_undefined(std::uint8_t media) { return media == 0 || media > 0x05; }

/// SFF-8024 tables 4-8 and 4-9: a loopback plug, which returns what the host sends.
bool is_loopback_plug(const ModulePage& lower) {
  const std::uint8_t media = lower.code(85), interface = lower.code(87);
  return (media == kPassiveCopper && (interface == 0xbf || interface == 0xc0)) ||
         (media == kActiveCable && interface == 0xbf);
}

Medium medium_of(const ModulePage& lower, const ModulePage& id, const ModulePage& advert) {
  const std::uint8_t media = lower.code(85), connector = id.code(203);
  const std::uint8_t technology = id.code(212);
  if (!id.byte(212) || is_loopback_plug(lower)) return {};
  const bool passive = technology == 0x0a || technology == 0x0b;
  const bool active =
      (technology >= 0x0c && technology <= 0x0f) || (technology >= 0x12 && technology <= 0x14);
  if (active) return {false, true, "acc"};  // media type 03h also covers linear copper
  if (passive || media == kPassiveCopper) return {false, true, "dac"};
  if (media == kActiveCable) return {true, true, "aoc"};
  const bool measures_light = advert.offers(160, 1) || advert.offers(160, 2);
  if (media != kMultimodeFibre && media != kSingleModeFibre &&
      !(is_undefined(media) && measures_light))
    return {};
  const bool cable = connector == 0x23 || connector == 0x0b;
  return {true, cable, cable ? "aoc" : "optical"};
}

/// A length as mantissa (six bits) and multiplier; 0: none.
std::optional<double> scaled_length(std::uint8_t code, std::array<double, 4> multipliers) {
  if ((code & 0x3fU) == 0) return std::nullopt;
  return multipliers[code >> 6U] * (code & 0x3f);
}

/// Byte 202, in tenths of a metre; all ones: longer than 6300 m.
std::optional<double> cable_length_m(const ModulePage& id) {
  if (id.code(202) == 0xff) return std::nullopt;
  const auto tenths = scaled_length(id.code(202), {1, 10, 100, 1000});
  return tenths ? std::optional(*tenths / 10) : std::nullopt;
}

/// CMIS 5.4 table 8-45. The fourth multiplier was reserved in 5.2; now it points at byte 137.
std::optional<double> reach_m(const ModulePage& advert) {
  constexpr double kFarMultipliers[] = {50e3, 100e3, 200e3, 500e3};
  const double far = kFarMultipliers[advert.code(137) >> 6U];
  if (const auto metres = scaled_length(advert.code(132), {100, 1000, 10000, far})) return metres;
  return longest_m(advert, {{133, 2}, {134, 2}, {135, 2}, {136, 1}});
}

void read_page00(const ModulePage& id, const Medium& medium, ModuleSample& sample) {
  read_identity(id, kIdentity, sample);
  note_checksum(sample, "page 00h", id.checksum_ok(128, 221, 222));
  sample.kind = medium.kind;
  sample.connector = connector_name(id.code(203));
  if (medium.cable) sample.length_m = cable_length_m(id);
  if (const auto power = id.byte(200)) sample.power_class = (*power >> 5U) + 1U;
  if (const std::uint8_t quarters = id.code(201); quarters != 0 && quarters != 0xff)
    sample.max_power_w = quarters * 0.25;
}

/// CMIS 5.4 8.2.9. FFh.FFh: what runs is not valid; of a flat module memory that nothing wrote.
std::string firmware_of(const ModulePage& lower, bool flat) {
  const std::uint8_t major = lower.code(39), minor = lower.code(40);
  if ((major & minor) == 0xff) return flat ? "" : "invalid";
  return (major | minor) == 0 ? "" : fmt::format("{}.{}", major, minor);
}

constexpr StateBit<ModuleSample> kModuleBits[] = {
    {&ModuleSample::low_pwr_request_sw, 26, 4, {}},
    {&ModuleSample::low_pwr_allow_request_hw, 26, 6, {}},
    {&ModuleSample::module_state_changed, 8, 0, {}},
    {&ModuleSample::module_firmware_error, 8, 1, {}},
    {&ModuleSample::data_path_firmware_error, 8, 2, {}},
};

void read_state(const ModulePage& lower, const ModuleHead& head, ModuleSample& sample) {
  if (const auto state = lower.byte(3)) {
    sample.state = module_state_name((*state >> 1U) & 7U);
    if (sample.state.empty())
      sample.warnings.push_back(fmt::format("module state {} is reserved", (*state >> 1U) & 7U));
  }
  if (sample.state == "ModuleFault" && head.revision >= 0x40)
    sample.fault_cause = fault_cause_name(lower.code(41));
  read_bits(kModuleBits, lower, lower, 0, sample);
}

void read_advert(const ModulePage& advert, const Medium& medium, ModuleSample& sample) {
  note_checksum(sample, "page 01h", advert.checksum_ok(130, 254, 255));
  if (!medium.optical) return;
  if (!medium.cable) sample.reach_m = reach_m(advert);
  // For a tunable laser (01h:155.6) it is the middle of its range.
  if (const auto raw = advert.u16(138);
      raw && *raw >= 600 * 20 && *raw <= 2000 * 20 && !advert.offers(155, 6))
    sample.wavelength_nm = *raw / 20.0;
  sample.rx_power_is_average = advert.bit(151, 4);
}

/// Monitors of the lower page, advertised on page 01h, with their limits on page 02h.
constexpr Monitor<ModuleSample> kMonitors[] = {{kTemperature, 14, 128, 9, 0, {159, 0}},
                                               {kSupply, 16, 136, 9, 4, {159, 1}}};

/// What an auxiliary monitor of the lower page measures. 01h:145 selects one of two for each of the
/// three (tables 8-10 and 8-49). If two are of one kind, the first counts.
enum class AuxKind : std::uint8_t { kNotDecoded, kTec, kLaserTemperature };
struct AuxMonitor {
  std::uint8_t value_at, limits_at;
  std::uint8_t advert_bit;  ///< of 01h:159
  std::uint8_t kind_bit;    ///< of 01h:145
  AuxKind if_clear, if_set;
};
constexpr AuxMonitor kAuxiliary[] = {
    {18, 144, 2, 0, AuxKind::kNotDecoded, AuxKind::kTec},
    {20, 152, 3, 1, AuxKind::kLaserTemperature, AuxKind::kTec},
    {22, 160, 4, 2, AuxKind::kLaserTemperature, AuxKind::kNotDecoded},
};
constexpr ModuleQuantity kLaserTemperatureC{"laser temperature", "C", true, -60, 150, {1, 256}};
constexpr ModuleQuantity kTecPercent{"TEC current", "%", true, -100, 100, {100, 32767}};

void read_auxiliary(const ModulePage& lower, const ModulePage& limits, const ModulePage& advert,
                    ModuleSample& sample) {
  ModuleThresholds& thresholds = sample.thresholds;
  for (const AuxMonitor& row : kAuxiliary) {
    if (!advert.offers(159, row.advert_bit)) continue;
    const AuxKind kind = advert.offers(145, row.kind_bit) ? row.if_set : row.if_clear;
    if (kind == AuxKind::kTec && !sample.tec_current_percent) {
      sample.tec_current_percent = read_value(lower, row.value_at, kTecPercent, 0, sample.warnings);
      thresholds.tec_current_percent =
          read_limits(limits, row.limits_at, kTecPercent, sample.warnings);
    }
    if (kind == AuxKind::kLaserTemperature && !sample.laser_temperature_c) {
      sample.laser_temperature_c =
          read_value(lower, row.value_at, kLaserTemperatureC, 0, sample.warnings);
      thresholds.laser_temperature_c =
          read_limits(limits, row.limits_at, kLaserTemperatureC, sample.warnings);
    }
  }
}

void read_monitors(const ModulePage& lower, const ModulePage& limits, const ModulePage& advert,
                   ModuleSample& sample) {
  if (limits.exists())
    note_checksum(sample, "page 02h", limits.checksum_ok(128, 254, 255));
  else
    sample.warnings.emplace_back("page 02h was not read: the module's limits are not known");
  for (const auto& row : kMonitors) {
    if (!row.advert.in(advert)) continue;
    read_monitor(lower, kCmisFlags, row, sample, sample.warnings);
    read_monitor_limits(limits, row, sample);
  }
  read_auxiliary(lower, limits, advert, sample);
}

std::string management_of(const ModuleHead& head, ModuleWarnings& warnings) {
  if (head.revision >= 0x30 && head.revision <= 0x5f)
    return fmt::format("CMIS {}.{}", head.revision >> 4U, head.revision & 0x0fU);
  if (head.lower_page_usable)
    warnings.push_back(fmt::format("CMIS revision {:02x}h does not exist", head.revision));
  return "CMIS";
}

}  // namespace

void decode_cmis(const ModuleImage& image, const ModuleHead& head, ModuleSample& sample) {
  const ModulePage lower = lower_page(image);
  const ModulePage id = upper_page(image, 0x00);
  const ModulePage advert = upper_page(image, 0x01);
  sample.management = management_of(head, sample.warnings);
  const Medium medium = medium_of(lower, id, advert);
  read_page00(id, medium, sample);
  if (!head.lower_page_usable) return;
  const std::uint8_t media = lower.code(85);
  sample.media_type = media_type_name(media);
  if (medium.optical) sample.fibre_face = fibre_face_name(lower.code(61) & 3U);
  const CmisLanes lanes = cmis_lanes(image, medium.optical);
  if (lanes.host_per_bank != 0)
    sample.media_lane_count = lanes.media_per_bank * cmis_bank_count(image);
  sample.type = is_loopback_plug(lower) ? "loopback plug" : lanes.type;
  const bool flat = cmis_is_flat(image);
  sample.firmware = firmware_of(lower, flat);
  if (flat) return;  // states, flags and monitors of a flat module are meaningless
  if (is_undefined(media))
    sample.warnings.push_back(
        fmt::format("the kind of module is not known: its media type is {:02x}h{}", media,
                    medium.optical ? "; it measures light, so it is taken for optical" : ""));
  read_state(lower, head, sample);
  if (!advert.exists()) {
    sample.warnings.emplace_back("page 01h was not read: what the module measures is not known");
    return;
  }
  sample.bank_count = cmis_bank_count(image);
  read_advert(advert, medium, sample);
  read_monitors(lower, upper_page(image, 0x02), advert, sample);
  decode_cmis_lanes(image, lanes, medium.side(), sample);
  decode_cmis_vdm(image, lanes, sample);
}

}  // namespace linkhealth
