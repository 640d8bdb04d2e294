#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "probes/module/codes.h"
#include "probes/module/decode.h"
#include "probes/module/values.h"

namespace linkhealth {

namespace {

constexpr unsigned kLanes = 4;
constexpr std::uint8_t kRevision2_10 = 0x08;  ///< and 2.8, 2.9 (table 6-4)

/// Byte 1 of the lower page (table 6-4); all above are reserved. 0 is "not specified".
constexpr std::string_view kRevisions[] = {"SFF-8636",     "SFF-8436",     "SFF-8436",
                                           "SFF-8636 1.3", "SFF-8636 1.4", "SFF-8636 1.5",
                                           "SFF-8636 2.0", "SFF-8636 2.7", "SFF-8636 2.10"};

// --- page 00h: identity

/// The upper half of byte 147.
enum : std::uint8_t { k850Vcsel = 0x00, kTechCopper = 0x0a, kTechActiveCopper = 0x0c };

/// Byte 137, the media of Fibre Channel (table 6-17). Used if nothing else indicates light:
/// technology 0 may also be an unwritten byte.
bool is_twisted_pair(const ModulePage& id) {
  constexpr unsigned kTwistedPair = 0x40, kGlass = 0x0f;
  const unsigned media = id.code(137);
  return (media & kTwistedPair) != 0 && (media & kGlass) == 0 && id.code(147) >> 4U == 0 &&
         (id.code(131) & 0x77U) == 0 && id.u16(186).value_or(0) == 0;
}

/// Unknown if a byte that decides it is missing: a dump may be truncated.
SffMedium medium_of(const ModulePage& id) {
  if (!id.byte(147)) return {};
  const std::uint8_t technology = *id.byte(147) >> 4U;
  const std::uint8_t connector = id.code(130);
  const Compliance compliance = extended_compliance(id.code(192));
  const bool copper_bits = id.offers(131, 3) && !id.offers(131, 2) && !id.offers(131, 1);
  const bool optical_cable = compliance.cable == Cable::kActiveOptical || connector == 0x0b;
  if (connector == 0x22 || compliance.cable == Cable::kBaseT || is_twisted_pair(id))
    return {true, false, "unknown"};
  if (technology >= kTechActiveCopper || compliance.cable == Cable::kActiveCopper)
    return {true, true, "acc"};
  if (technology >= kTechCopper || connector == 0x21) return {true, true, "dac"};
  if (!optical_cable && (copper_bits || compliance.is_copper())) return {true, true, "dac"};
  if (!optical_cable && !id.byte(192)) return {};
  if (optical_cable || connector == 0x23) return {false, true, "aoc"};
  return {false, false, "optical"};
}

/// Some codes are shared (SFF-8024 table 4-4): 29h means 400G-SR4 or 100G-SR1. The connector
/// distinguishes them.
std::string_view extended_name(const ModulePage& id, std::uint8_t code) {
  constexpr std::uint8_t kLc = 0x07, kMpo12 = 0x0c;
  constexpr std::uint8_t kParallel[] = {0x29, 0x36, 0x41, 0x42};
  const auto connector = id.byte(130);
  if (connector == kLc && std::ranges::find(kParallel, code) != std::end(kParallel))
    return extended_compliance(code).sfp;
  if (connector == kMpo12 && code == 0x2a) return "400G-DR4-2";
  return extended_compliance(code).qsfp;
}

/// "InfiniBand EDR", for a module without an Ethernet code. Byte 164 (table 6-21).
std::string infiniband_type(const ModulePage& id) {
  constexpr std::string_view kRates[] = {"SDR", "DDR", "QDR", "FDR", "EDR", "HDR"};
  for (unsigned bit = std::size(kRates); bit-- > 0;)
    if (id.offers(164, bit)) return fmt::format("InfiniBand {}", kRates[bit]);
  return {};
}

/// Byte 192 is used even if bit 131.7 does not point at it: modules without a code have 0 there.
/// Byte 131: table 6-17.
std::string type_of(const ModulePage& id, const SffMedium& medium) {
  const auto extended = id.byte(192);
  if (!extended) return {};
  if (const auto name = extended_name(id, *extended); !name.empty()) return std::string(name);
  if (id.offers(131, 3)) return "40G-CR4";
  if (id.offers(131, 6)) return "4x10G-LRM";
  if (id.offers(131, 5)) return "4x10G-LR";
  if (id.offers(131, 4)) return "4x10G-SR";
  if (id.offers(131, 0) && medium.copper) return "40G active cable";
  if (id.offers(131, 0) || (medium.kind == "aoc" && id.offers(131, 2))) return "40G-AOC";
  if (id.offers(131, 2)) return "40G-SR4";
  if (id.offers(131, 1)) return "40G-LR4";
  return infiniband_type(id);
}

bool has_850nm_vcsel(const ModulePage& id) {
  return id.byte(147).value_or(0xff) >> 4U == k850Vcsel;
}

/// From the type's name; otherwise from the lengths: byte 142 is for single-mode fibre, 143 to 146
/// for OM3, OM2, OM1 and OM4.
Fibre fibre_of(const ModulePage& id, const SffMedium& medium) {
  if (medium.kind == "aoc") return has_850nm_vcsel(id) ? Fibre::kMultimode : Fibre::kUnknown;
  const Fibre extended = extended_compliance(id.code(192)).fibre;
  if (extended != Fibre::kUnknown) return extended;
  if (id.offers(131, 2) || id.offers(131, 4) || id.offers(131, 6)) return Fibre::kMultimode;
  if (id.offers(131, 1) || id.offers(131, 5)) return Fibre::kSingleMode;
  const auto states = [&](unsigned at) { return id.code(at) != 0; };
  return fibre_of_lengths(states(142), states(143) || states(144) || states(145) || states(146));
}

/// From the type's name: one wavelength or fibre for the …1 types, otherwise four.
std::uint32_t media_lanes_of(const std::string& type) {
  constexpr std::string_view kSingle[] = {"-DR",  "-FR1",    "-LR1",    "-SR1",
                                          "-VR1", "-LR1-20", "-ER1-30", "-ER1-40"};
  const bool single =
      std::ranges::any_of(kSingle, [&type](std::string_view end) { return type.ends_with(end); });
  return single || type.starts_with("50G-") ? 1 : kLanes;
}

/// Byte 146 is the OM4 length for 850 nm lasers, otherwise a cable's length (6.3.12).
std::optional<double> reach_m(const ModulePage& id) {
  const double om4_step_m = has_850nm_vcsel(id) ? 2 : 0;
  return longest_m(id, {{142, 1000}, {143, 2}, {144, 1}, {145, 1}, {146, om4_step_m}});
}

/// 6.2.9: any module may state its watts in byte 107, which was added in revision 2.10. 0: not
/// stated. Revision 2.8 has the same code and an unused byte: no module runs on less than a watt.
std::optional<double> stated_power_w(const ModulePage& lower) {
  constexpr std::uint8_t kLeastTenths = 10;
  const std::uint8_t tenths = lower.code(107);
  if (tenths < kLeastTenths || lower.code(1) < kRevision2_10) return std::nullopt;
  return tenths / 10.0;
}

void read_power_class(const ModulePage& id, const ModulePage& lower, ModuleSample& sample) {
  constexpr double kClassW[] = {1.5, 2.0, 2.5, 3.5, 4.0, 4.5, 5.0};
  const auto ext = id.byte(129);
  if (!ext) return;
  const auto stated_w = stated_power_w(lower);
  // Reserved before revision 2.10, but set by some older modules; class 8 states its watts (6.3.2,
  // table 6-16).
  if ((*ext & 0x20U) != 0 && (stated_w || !lower.exists())) {
    sample.power_class = 8;
    sample.max_power_w = stated_w;
    return;
  }
  const unsigned high = *ext & 3U;
  sample.power_class = high != 0 ? 4 + high : (*ext >> 6U) + 1U;
  const double class_w = kClassW[*sample.power_class - 1];
  sample.max_power_w = std::min(class_w, stated_w.value_or(class_w));
}

/// Bytes 93 and 99 (tables 6-10 and 6-11). Passive cables have no such control. The LPMode pin may
/// be configured to switch transmitters off instead, if 193.6 offers that.
void read_power_control(const ModulePage& lower, const ModulePage& id, ModuleSample& sample) {
  const auto by_software = lower.bit(93, 0);
  if (!by_software) return;
  const bool pin_is_tx_disable = id.offers(193, 6) && lower.offers(99, 1);
  sample.low_pwr_allow_request_hw = !*by_software && !pin_is_tx_disable;
  if (*by_software) sample.low_pwr_request_sw = lower.bit(93, 1);
  const std::uint32_t power_class = sample.power_class.value_or(0);
  const bool to_class_7 = lower.offers(93, 2);
  const bool to_class_8 = lower.offers(93, 3);
  if (power_class < 5 || to_class_8 || (power_class < 8 && to_class_7)) return;
  const double allowed_w = to_class_7 ? 5.0 : 3.5;
  if (sample.max_power_w.value_or(allowed_w + 1) > allowed_w) sample.allowed_power_w = allowed_w;
}

void read_page00(const ModulePage& id, const ModulePage& lower, const SffMedium& medium,
                 ModuleSample& sample) {
  read_identity(id, kSff8636Identity, sample);
  note_checksum(sample, "page 00h bytes 128-190", id.checksum_ok(128, 190, 191));
  note_checksum(sample, "page 00h bytes 192-222", id.checksum_ok(192, 222, 223));
  sample.kind = medium.kind;
  sample.type = type_of(id, medium);
  sample.connector = connector_name(id.code(130));
  sample.media_lane_count = media_lanes_of(sample.type);
  sample.media_type = medium.copper ? "copper" : fibre_name(fibre_of(id, medium));
  if (medium.cable)
    sample.length_m = longest_m(id, {{146, 1}});
  else
    sample.reach_m = reach_m(id);
  read_power_class(id, lower, sample);
  // For copper, its attenuation at 2.5 and 5 GHz.
  if (const auto raw = id.u16(186); raw && !medium.copper && *raw >= 600 * 20 && *raw <= 2000 * 20)
    sample.wavelength_nm = *raw / 20.0;
}

// --- lower page: readings and states; page 03h: limits

constexpr Monitor<ModuleSample> kModuleMonitors[] = {{kTemperature, 22, 128, 6, 7, {220, 5}},
                                                     {kSupply, 26, 144, 7, 7, {220, 4}}};
constexpr Monitor<ModuleLane> kLaneMonitors[] = {{kRxPower, 34, 176, 9, 7, {}},
                                                 {kTxBias, 42, 184, 11, 7, {}},
                                                 {kTxPower, 50, 192, 13, 7, {220, 2}}};

constexpr StateBit<ModuleLane> kLaneBits[] = {
    {&ModuleLane::rx_los, 3, 0, {}},
    {&ModuleLane::tx_los, 3, 4, {195, 1}},
    {&ModuleLane::tx_fault, 4, 0, {195, 3}},
    {&ModuleLane::tx_eq_fault, 4, 4, {193, 3}},
    {&ModuleLane::rx_lol, 5, 0, {194, 4}},
    {&ModuleLane::tx_lol, 5, 4, {194, 5}},
    {&ModuleLane::tx_disabled, 86, 0, {195, 4}},
};
constexpr StateBit<ModuleHostLane> kHostBits[] = {
    {&ModuleHostLane::tx_los, 3, 4, {195, 1}},
    {&ModuleHostLane::tx_eq_fault, 4, 4, {193, 3}},
    {&ModuleHostLane::tx_lol, 5, 4, {194, 5}},
};

/// The four host lanes of a module with one media lane: all of them feed it.
void read_host_lanes(const ModulePage& lower, const ModulePage& id, ModuleSample& sample) {
  if (sample.lanes.size() != 1) return;
  const auto either = [](std::optional<bool>& all, const std::optional<bool>& one) {
    if (one) all = all.value_or(false) || *one;
  };
  ModuleLane& media = sample.lanes.front();
  media.tx_los = media.tx_eq_fault = media.tx_lol = std::nullopt;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    ModuleHostLane& host = sample.host_lanes.emplace_back();
    read_bits(kHostBits, lower, id, lane, host);
    either(media.tx_los, host.tx_los);
    either(media.tx_eq_fault, host.tx_eq_fault);
    either(media.tx_lol, host.tx_lol);
  }
}

/// From revision 2.8 on a module advertises whether it measures this (page 00h byte 220); before
/// that, zero means that it does not.
bool is_measured(const ModulePage& lower, const ModulePage& id, const Monitor<ModuleSample>& row,
                 bool copper) {
  const bool offered = row.advert.in(id);
  if (copper || lower.code(1) >= kRevision2_10) return offered;
  return lower.u16(row.value_at).value_or(0) != 0;
}

void read_lanes(const ModulePage& lower, const ModulePage& id, bool measures,
                ModuleSample& sample) {
  const unsigned not_there = lower.code(113) & 0x0fU;
  for (unsigned i = 0; i < *sample.media_lane_count; ++i) {
    ModuleLane& lane = sample.lanes.emplace_back();
    if (!lower.byte(3) || (not_there != 0x0f && (not_there >> i & 1U) != 0)) continue;
    read_bits(kLaneBits, lower, id, i, lane);
    for (const auto& row : kLaneMonitors)
      if (measures && row.advert.in(id))
        read_monitor(lower, kSff8636Flags, row, lane, sample.warnings, i, i + 1);
  }
  if (lower.byte(3)) read_host_lanes(lower, id, sample);
}

/// The limits of temperature and supply exist whether it measures them or not.
void read_thresholds(const ModulePage& limits, const ModulePage& id, bool copper,
                     ModuleSample& sample) {
  if (!limits.exists()) {
    sample.warnings.emplace_back("page 03h was not read: the module's limits are not known");
    return;
  }
  for (const auto& row : kModuleMonitors) read_monitor_limits(limits, row, sample);
  for (const auto& row : kLaneMonitors)
    if (!copper && row.advert.in(id)) read_monitor_limits(limits, row, sample);
}

}  // namespace

void decode_sff8636(const ModuleImage& image, const ModuleHead& head, ModuleSample& sample) {
  const ModulePage lower = lower_page(image);
  const ModulePage id = upper_page(image, 0x00);
  const bool reserved = head.revision >= std::size(kRevisions);
  sample.management = reserved ? "SFF-8636" : kRevisions[head.revision];
  if (reserved)
    sample.warnings.push_back(
        fmt::format("SFF-8636 revision {:02x}h is reserved: the memory map's version is not known",
                    head.revision));
  if (!id.exists()) {
    // Only page 00h distinguishes copper from light, and a copper cable has no light.
    sample.warnings.emplace_back("page 00h was not read: monitors are left out");
    return;
  }
  const SffMedium medium = medium_of(id);
  read_page00(id, lower, medium, sample);
  if (!head.lower_page_usable || !lower.byte(2)) return;
  if (medium.kind != "dac") read_power_control(lower, id, sample);
  sample.data_not_ready = lower.bit(2, 0);
  const bool ready = sample.data_not_ready != true;
  if (!ready)
    sample.warnings.emplace_back("the module declares its readings invalid (data not ready)");
  for (const auto& row : kModuleMonitors)
    if (ready && is_measured(lower, id, row, medium.copper))
      read_monitor(lower, kSff8636Flags, row, sample, sample.warnings);
  if (!medium.copper && medium.kind == "unknown") {
    sample.warnings.emplace_back(
        "page 00h was read in part: light is left out, it may be a copper cable");
    return;
  }
  // The receivers of an active copper cable lose signal and lock like optical ones; they have no
  // power to measure.
  if (medium.copper && medium.kind != "acc") return;
  if (!medium.copper) sample.rx_power_is_average = id.bit(220, 3);
  read_lanes(lower, id, ready && !medium.copper, sample);
  if (!lower.bit(2, 2).value_or(true))
    read_thresholds(upper_page(image, 0x03), id, medium.copper, sample);
}

}  // namespace linkhealth
