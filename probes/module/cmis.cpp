#include <fmt/format.h>
#include <algorithm>
#include <string>

#include "probes/module/cmis_applications.h"
#include "probes/module/codes.h"
#include "probes/module/maps.h"
#include "probes/module/monitors.h"
#include "probes/module/values.h"

namespace linkhealth {

namespace {

constexpr IdentityOffsets kIdentity{129, 145, 148, 164, 2, 166, 182};

enum MediaType : std::uint8_t {
  kMultimodeFibre = 1,
  kSingleModeFibre = 2,
  kPassiveCopper = 3,
  kActiveCable = 4
};

bool is_copper_technology(std::uint8_t technology) {
  return (technology >= 0x0a && technology <= 0x0f) || (technology >= 0x12 && technology <= 0x14);
}

struct Medium {
  bool optical = false;
  bool cable = false;
  std::string kind = "unknown";
  /// A retimer's receiver loses signal and lock as an optical one does; it has no power to measure.
  [[nodiscard]] MediaSide side() const {
    return optical ? MediaSide::kOptical : kind == "acc" ? MediaSide::kElectric : MediaSide::kNone;
  }
};

/// CMIS 5.4 table 8-20: 00h says nothing, 40h to 8Fh are the maker's own, the others above 05h
/// (BASE-T) reserved.
bool is_unsaid(std::uint8_t media) { return media == 0 || media > 0x05; }

/// SFF-8024 tables 4-8 and 4-9: what is plugged in sends back what the host sends.
bool is_loopback_plug(const ModulePage& lower) {
  const std::uint8_t media = lower.byte(85).value_or(0);
  const std::uint8_t interface = lower.byte(87).value_or(0);
  return (media == kPassiveCopper && (interface == 0xbf || interface == 0xc0)) ||
         (media == kActiveCable && interface == 0xbf);
}

Medium medium_of(const ModulePage& lower, const ModulePage& id, const ModulePage& advert) {
  const std::uint8_t media = lower.byte(85).value_or(0);
  const std::uint8_t connector = id.byte(203).value_or(0);
  const auto technology = id.byte(212);
  if (!technology || is_loopback_plug(lower)) return {};
  const bool passive = *technology == 0x0a || *technology == 0x0b;
  if (is_copper_technology(*technology) && !passive)
    return {false, true, "acc"};  // media type 03h is linear copper too
  if (passive || media == kPassiveCopper) return {false, true, "dac"};
  if (media == kActiveCable) return {true, true, "aoc"};
  const bool measures_light = advert.offers(160, 1) || advert.offers(160, 2);
  if (media != kMultimodeFibre && media != kSingleModeFibre &&
      !(is_unsaid(media) && measures_light))
    return {};
  return connector == 0x23 || connector == 0x0b ? Medium{true, true, "aoc"}
                                                : Medium{true, false, "optical"};
}

void read_applications(const ModuleImage& image, const CmisLanes& lanes, ModuleSample& sample) {
  if (lanes.host_per_bank == 0) return;
  sample.host_lane_count = lanes.host_per_bank * cmis_bank_count(image);
  sample.media_lane_count = lanes.media_per_bank * cmis_bank_count(image);
  sample.host_interface = lanes.host_interface;
  sample.type = lanes.type;
}

/// A length as mantissa (six bits) and multiplier; 0 is none.
std::optional<double> scaled_length(std::uint8_t code, std::array<double, 4> multipliers) {
  if ((code & 0x3fU) == 0) return std::nullopt;
  return multipliers[code >> 6U] * (code & 0x3f);
}

/// Byte 202, in tenths of a metre.
std::optional<double> cable_length_m(const ModulePage& id, ModuleWarnings& warnings) {
  const std::uint8_t code = id.byte(202).value_or(0);
  if (code != 0xff) {
    const auto tenths = scaled_length(code, {1, 10, 100, 1000});
    return tenths ? std::optional(*tenths / 10) : std::nullopt;
  }
  warn_too_long("cable", "6300 m", warnings);
  return std::nullopt;
}

/// CMIS 5.4 table 8-45. The fourth multiplier was reserved in 5.2; now it points at byte 137.
std::optional<double> reach_m(const ModulePage& advert) {
  constexpr double kFarMultipliers[] = {50e3, 100e3, 200e3, 500e3};
  const double far = kFarMultipliers[advert.byte(137).value_or(0) >> 6U];
  if (const auto metres = scaled_length(advert.byte(132).value_or(0), {100, 1000, 10000, far}))
    return metres;
  double reach = 0;
  for (const unsigned offset : {133U, 134U, 135U})
    reach = std::max(reach, advert.byte(offset).value_or(0) * 2.0);
  reach = std::max(reach, static_cast<double>(advert.byte(136).value_or(0)));
  return reach > 0 ? std::optional(reach) : std::nullopt;
}

void read_page00(const ModulePage& id, const Medium& medium, ModuleSample& sample) {
  read_identity(id, kIdentity, sample);
  note_checksum(sample, "page 00h", id.checksum_ok(128, 221, 222));
  sample.connector = connector_name(id.byte(203).value_or(0));
  if (medium.cable) sample.length_m = cable_length_m(id, sample.warnings);
  if (const auto power = id.byte(200)) sample.power_class = (*power >> 5U) + 1U;
  if (const auto quarters = id.byte(201); quarters && *quarters != 0 && *quarters != 0xff)
    sample.max_power_w = *quarters * 0.25;
  constexpr double kFrequenciesGhz[] = {5, 7, 12.9, 25.8, 53.1};
  if (medium.optical || !medium.cable) return;
  for (unsigned i = 0; i < std::size(kFrequenciesGhz); ++i)
    if (const auto db = id.byte(204 + i); db && *db != 0 && *db != 0xff)
      sample.copper_attenuation.push_back({kFrequenciesGhz[i], static_cast<double>(*db)});
}

/// A revision of two numbers; "" for "none", which both of its bytes say by 0 or by FFh.
std::string version(const ModulePage& page, unsigned offset) {
  const auto major = page.byte(offset).value_or(0);
  const auto minor = page.byte(offset + 1).value_or(0);
  return (major | minor) == 0 || (major & minor) == 0xff ? std::string()
                                                         : fmt::format("{}.{}", major, minor);
}

/// CMIS 5.4 8.2.9. FFh.FFh: what runs is not valid; of a flat module memory that nobody wrote.
void read_firmware(const ModulePage& lower, ModuleSample& sample) {
  sample.firmware = version(lower, 39);
  if (!lower.bit(2, 7).value_or(true) && lower.u16(39) == 0xffff) sample.firmware = "invalid";
}

/// CMIS 5.4 table 8-50: whole degrees of the case; two zeros say nothing, nor does memory that
/// nobody filled.
void read_case_temperatures(const ModulePage& advert, ModuleSample& sample) {
  const auto most = advert.byte(146);
  const auto least = advert.byte(147);
  if (!most || !least || (*most | *least) == 0 || (*most & *least) == 0xff) return;
  const auto max_c = static_cast<std::int8_t>(*most);
  const auto min_c = static_cast<std::int8_t>(*least);
  if (max_c <= min_c) {
    sample.warnings.push_back(fmt::format(
        "the temperatures of its case, {} to {} C, are not in order: left out", min_c, max_c));
    return;
  }
  sample.case_temperature_max_c = max_c;
  sample.case_temperature_min_c = min_c;
}

void read_advert(const ModulePage& advert, const ModuleHead& head, const Medium& medium,
                 ModuleSample& sample) {
  // Which of its images CMIS 3.0 means by 128 and 129 could not be sourced.
  if (head.revision >= 0x40)
    sample.inactive_firmware = advert.u16(128) == 0xffff ? "invalid" : version(advert, 128);
  sample.hardware_revision = version(advert, 130);
  read_case_temperatures(advert, sample);
  note_checksum(sample, "page 01h", advert.checksum_ok(130, 254, 255));
  if (!medium.optical) return;
  if (!medium.cable) sample.reach_m = reach_m(advert);
  if (const auto raw = advert.u16(138); raw && *raw >= 600 * 20 && *raw <= 2000 * 20)
    sample.wavelength_nm = *raw / 20.0;
  sample.rx_power_is_average = advert.bit(151, 4);
  if (advert.offers(160, 0) && !cmis_bias(advert))
    sample.warnings.emplace_back(
        "the bias has a scale that is reserved: it and its limits are left out");
}

/// A bit of the lower page, and the revision that brought it (reserved before).
struct ModuleBit {
  std::optional<bool> ModuleSample::*field;
  std::uint8_t at, bit, since;
};
constexpr ModuleBit kModuleBits[] = {
    {&ModuleSample::low_power_requested, 26, 4, 0},
    {&ModuleSample::low_power_pin_obeyed, 26, 6, 0},
    {&ModuleSample::state_changed, 8, 0, 0},
    {&ModuleSample::module_firmware_error, 8, 1, 0},
    {&ModuleSample::data_path_firmware_error, 8, 2, 0},
    {&ModuleSample::abnormal_firmware, 8, 3, 0x54},
};

void read_state(const ModulePage& lower, const ModuleHead& head, ModuleSample& sample) {
  if (const auto state = lower.byte(3)) {
    sample.state = module_state_name((*state >> 1U) & 7U);
    if (sample.state.empty())
      sample.warnings.push_back(fmt::format("module state {} is reserved", (*state >> 1U) & 7U));
  }
  if (sample.state == "ModuleFault" && head.revision >= 0x40)
    sample.fault_cause = fault_cause_name(lower.byte(41).value_or(0));
  for (const ModuleBit& row : kModuleBits)
    if (head.revision >= row.since) sample.*row.field = lower.bit(row.at, row.bit);
}

/// CMIS 5.4 7.1.3.2: where a limit is missing stands the end of the scale, which cannot be crossed.
/// That is said of VDM, and page 02h has such registers, too; the older maps are taken as they are.
/// Of a cooler the end is all its current, a number of table 8-64.
constexpr LimitEnds kLimitEnds = LimitEnds::kNone;

/// Of the lower page and of page 02h, advertised on page 01h. The lanes' values are on page 11h of
/// each bank.
constexpr MonitorRow kModuleMonitors[] = {
    of_module(kTemperatureC, {14, 128, 9, 0}, {159, 0}, &ModuleThresholds::temperature_c,
              &ModuleSample::temperature_c, &ModuleSample::temperature_flags),
    of_module(kSupplyV, {16, 136, 9, 4}, {159, 1}, &ModuleThresholds::supply_v,
              &ModuleSample::supply_v, &ModuleSample::supply_flags),
};

struct LaneLimits {
  ModuleQuantity quantity;
  std::uint8_t limits_at;
  AdvertBit advert;
  Limits ModuleThresholds::*limits;
};
constexpr LaneLimits kLaneLimits[] = {
    {kTxPowerMw, 176, {160, 1}, &ModuleThresholds::tx_power_mw},
    {kBiasMa, 184, {160, 0}, &ModuleThresholds::tx_bias_ma},
    {kRxPowerMw, 192, {160, 2}, &ModuleThresholds::rx_power_mw},
};

void read_module_monitors(const MonitorPages& pages, const ModulePage& advert,
                          ModuleSample& sample) {
  for (const MonitorRow& row : kModuleMonitors)
    if (is_offered(advert, row.advert)) take_value(pages, row, sample);
  decode_cmis_auxiliary(pages, advert, sample);
}

void read_thresholds(const MonitorPages& pages, const ModulePage& advert, bool optical,
                     ModuleSample& sample) {
  if (!pages.limits.exists()) {
    sample.warnings.emplace_back("page 02h was not read: the module's limits are not known");
    return;
  }
  note_checksum(sample, "page 02h", pages.limits.checksum_ok(128, 254, 255));
  for (const MonitorRow& row : kModuleMonitors)
    if (is_offered(advert, row.advert)) take_limits(pages, row, sample);
  if (!optical) return;
  for (const LaneLimits& row : kLaneLimits) {
    const bool is_bias = row.limits == &ModuleThresholds::tx_bias_ma;
    const auto quantity = is_bias ? cmis_bias(advert) : std::optional(row.quantity);
    if (quantity && is_offered(advert, row.advert))
      sample.thresholds.*row.limits =
          read_limits(pages.limits, row.limits_at, *quantity, pages.ends, sample.warnings);
  }
}

}  // namespace

std::optional<ModuleQuantity> cmis_bias(const ModulePage& advert) {
  const unsigned code = (advert.byte(160).value_or(0) >> 3U) & 3U;
  if (code == 3) return std::nullopt;
  ModuleQuantity quantity = kBiasMa;
  quantity.coefficients[1] *= 1U << code;
  return quantity;
}

void decode_cmis(const ModuleImage& image, const ModuleHead& head, ModuleSample& sample) {
  const ModulePage lower = lower_page(image);
  const ModulePage id = upper_page(image, 0x00);
  const ModulePage advert = upper_page(image, 0x01);
  const bool known_revision = head.revision >= 0x30 && head.revision <= 0x5f;
  sample.management = "CMIS";
  if (known_revision)
    sample.management += fmt::format(" {}.{}", head.revision >> 4U, head.revision & 0x0fU);
  if (!known_revision && head.lower_page_usable)
    sample.warnings.push_back(
        fmt::format("CMIS revision {:02x}h is not one that exists", head.revision));
  const Medium medium = medium_of(lower, id, advert);
  sample.kind = medium.kind;
  read_page00(id, medium, sample);
  if (!head.lower_page_usable) return;
  sample.media_type = media_type_name(lower.byte(85).value_or(0));
  if (medium.optical) sample.fibre_face = fibre_face_name(lower.byte(61).value_or(0) & 3U);
  const CmisLanes lanes = cmis_lanes(image, medium.optical);
  read_applications(image, lanes, sample);
  if (is_loopback_plug(lower)) sample.type = "loopback plug";
  read_firmware(lower, sample);
  if (cmis_is_flat(image))
    return;  // lower page and 00h only: states, flags and monitors of a flat module mean nothing
  if (const std::uint8_t media = lower.byte(85).value_or(0); is_unsaid(media))
    sample.warnings.push_back(
        fmt::format("what the module is made of is not known: its media type is {:02x}h{}", media,
                    medium.optical ? "; it measures light, so it is taken for optical" : ""));
  read_state(lower, head, sample);
  if (!advert.exists()) {
    sample.warnings.emplace_back("page 01h was not read: what the module measures is not known");
    return;
  }
  sample.bank_count = cmis_bank_count(image);
  read_advert(advert, head, medium, sample);
  const MonitorPages pages{lower, upper_page(image, 0x02), kCmisFlags, true, kLimitEnds};
  read_module_monitors(pages, advert, sample);
  read_thresholds(pages, advert, medium.optical, sample);
  decode_cmis_lanes(image, lanes, medium.side(), sample);
  decode_cmis_other_flags(image, lanes, sample);
  decode_cmis_vdm(image, lanes, sample);
  decode_cmis_coherent(image, sample);
  forget_idle_statistics(sample);
}

}  // namespace linkhealth
