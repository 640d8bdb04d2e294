#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "probes/module/codes.h"
#include "probes/module/maps.h"
#include "probes/module/monitors.h"
#include "probes/module/other_flags.h"
#include "probes/module/values.h"

namespace linkhealth {

namespace {

constexpr unsigned kLanes = 4;
constexpr std::uint8_t kRevision2_10 = 0x08;  ///< and 2.8, 2.9 (table 6-4)

/// Byte 1 of the lower page (table 6-4). 0 is "not specified".
constexpr std::string_view kRevisions[] = {"SFF-8636",     "SFF-8436",     "SFF-8436",
                                           "SFF-8636 1.3", "SFF-8636 1.4", "SFF-8636 1.5",
                                           "SFF-8636 2.0", "SFF-8636 2.7", "SFF-8636 2.10"};

/// The upper half of byte 147.
enum : std::uint8_t { k850Vcsel = 0x00, kTechCopper = 0x0a, kTechActiveCopper = 0x0c };
/// Bits of byte 164, the fastest last (table 6-21).
constexpr std::string_view kInfiniBandRates[] = {"SDR", "DDR", "QDR", "FDR", "EDR", "HDR"};

struct Medium {
  bool copper = false;
  bool cable = false;
  std::string kind = "unknown";
};

/// Unknown while a byte that decides it is not there: a dump may break off.
Medium medium_of(const ModulePage& id) {
  if (!id.byte(147)) return {};
  const std::uint8_t technology = *id.byte(147) >> 4U;
  const std::uint8_t connector = id.byte(130).value_or(0);
  const std::uint8_t compliance = id.byte(192).value_or(0);
  const bool copper_bits = id.offers(131, 3) && !id.offers(131, 2) && !id.offers(131, 1);
  const bool optical_cable = is_active_optical_compliance(compliance) || connector == 0x0b;
  if (connector == 0x22 || is_base_t_compliance(compliance)) return {true, false, "unknown"};
  if (technology >= kTechActiveCopper || is_active_copper_compliance(compliance))
    return {true, true, "acc"};
  if (technology >= kTechCopper || connector == 0x21) return {true, true, "dac"};
  if (!optical_cable && (copper_bits || is_copper_compliance(compliance)))
    return {true, true, "dac"};
  if (!optical_cable && !id.byte(192)) return {};
  if (optical_cable || connector == 0x23) return {false, true, "aoc"};
  return {false, false, "optical"};
}

/// Some codes are of a family (SFF-8024 table 4-4): 29h of 400G-SR4 and of 100G-SR1. The connector
/// tells which it is.
std::string_view extended_name(const ModulePage& id, std::uint8_t code) {
  constexpr std::uint8_t kLc = 0x07, kMpo12 = 0x0c;
  constexpr std::uint8_t kParallel[] = {0x29, 0x36, 0x41, 0x42};
  const auto connector = id.byte(130);
  if (connector == kLc && std::ranges::find(kParallel, code) != std::end(kParallel))
    return extended_compliance_name(code, true);
  if (connector == kMpo12 && code == 0x2a) return "400G-DR4-2";
  return extended_compliance_name(code, false);
}

/// Byte 131 (table 6-17): four lanes of 10 Gb/s each.
struct Bit10G {
  std::uint8_t bit;
  std::string_view type;
};
constexpr Bit10G k10GBits[] = {{6, "4x10G-LRM"}, {5, "4x10G-LR"}, {4, "4x10G-SR"}};

/// A module that names no Ethernet has this: "InfiniBand EDR".
std::string infiniband_type(const ModulePage& id) {
  for (unsigned bit = std::size(kInfiniBandRates); bit-- > 0;)
    if (id.offers(164, bit)) return fmt::format("InfiniBand {}", kInfiniBandRates[bit]);
  return {};
}

std::string type_of(const ModulePage& id, const Medium& medium) {
  // Byte 192 counts also where bit 131.7 does not point at it: modules without a code have 0 there.
  const auto extended = id.byte(192);
  if (!extended) return {};
  if (const auto name = extended_name(id, *extended); !name.empty()) return std::string(name);
  if (id.offers(131, 3)) return "40G-CR4";
  for (const Bit10G& row : k10GBits)
    if (id.offers(131, row.bit)) return std::string(row.type);
  if (id.offers(131, 0) && medium.copper) return "40G active cable";
  if (id.offers(131, 0) || (medium.kind == "aoc" && id.offers(131, 2))) return "40G-AOC";
  if (id.offers(131, 2)) return "40G-SR4";
  if (id.offers(131, 1)) return "40G-LR4";
  return infiniband_type(id);
}

/// By the type's name; without one by the lengths: byte 142 is of single-mode fibre, 143 to 146 of
/// OM3, OM2, OM1 and OM4.
Fibre fibre_of(const ModulePage& id) {
  const Fibre extended = extended_compliance_fibre(id.byte(192).value_or(0));
  if (extended != Fibre::kUnknown) return extended;
  if (id.offers(131, 2) || id.offers(131, 4) || id.offers(131, 6)) return Fibre::kMultimode;
  if (id.offers(131, 1) || id.offers(131, 5)) return Fibre::kSingleMode;
  const auto states = [&](unsigned at) { return id.byte(at).value_or(0) != 0; };
  return fibre_of_lengths(states(142), states(143) || states(144) || states(145) || states(146));
}

std::string_view media_type_of(const ModulePage& id, const Medium& medium) {
  if (medium.copper) return "copper";
  if (medium.kind == "optical") return fibre_name(fibre_of(id));
  const bool short_wave = medium.kind == "aoc" && id.byte(147).value_or(0xff) >> 4U == k850Vcsel;
  return fibre_name(short_wave ? Fibre::kMultimode : Fibre::kUnknown);
}

/// Media lanes by the type's name: one wavelength or fibre for the …1 types, two for DWDM2, else
/// four.
std::uint32_t media_lanes_of(const std::string& type) {
  constexpr std::string_view kSingle[] = {"-DR",  "-FR1",    "-LR1",    "-SR1",
                                          "-VR1", "-LR1-20", "-ER1-30", "-ER1-40"};
  for (const std::string_view end : kSingle)
    if (type.ends_with(end)) return 1;
  if (type.starts_with("50G-")) return 1;
  return type.ends_with("-DWDM2") ? 2 : kLanes;
}

std::optional<double> reach_m(const ModulePage& id, ModuleWarnings& warnings) {
  LongestReach reach;
  reach.take(id.byte(142), 1000);
  reach.take(id.byte(143), 2);
  reach.take(id.byte(144), 1);
  reach.take(id.byte(145), 1);
  if (id.byte(147).value_or(0xff) >> 4U == k850Vcsel)
    reach.take(id.byte(146), 2);  // of OM4; of other lasers a cable's (6.3.12)
  if (id.byte(142) == 1)
    warnings.emplace_back(
        "whether the reach is less than 1 km is not known: its byte cannot say less");  // table
                                                                                        // 6-15
  return reach.metres(warnings);
}

std::optional<double> cable_length_m(const ModulePage& id, ModuleWarnings& warnings) {
  const std::uint8_t metres = id.byte(146).value_or(0);
  if (metres == 0xff) warn_too_long("cable", "254 m", warnings);
  return metres != 0 && metres != 0xff ? std::optional<double>(metres) : std::nullopt;
}

/// 6.2.9: any module may state its watts in byte 107, which came with revision 2.10. 0: it does
/// not.
std::optional<double> stated_power_w(const ModulePage& lower) {
  constexpr std::uint8_t kLeastTenths =
      10;  // 2.8 has the same code and nothing there: no module lives on less
  const std::uint8_t tenths = lower.byte(107).value_or(0);
  if (tenths < kLeastTenths || lower.byte(1).value_or(0) < kRevision2_10) return std::nullopt;
  return tenths / 10.0;
}

void read_power_class(const ModulePage& id, const ModulePage& lower, ModuleSample& sample) {
  constexpr double kClassW[] = {1.5, 2.0, 2.5, 3.5, 4.0, 4.5, 5.0};
  const auto ext = id.byte(129);
  if (!ext) return;
  const auto stated_w = stated_power_w(lower);
  // Reserved before revision 2.10, which older modules set; class 8 says its watts (6.3.2, table
  // 6-16).
  const bool has_class_8 = stated_w || !lower.exists();
  if ((*ext & 0x20U) != 0 && has_class_8) {
    sample.power_class = 8;
    sample.max_power_w = stated_w;
    return;
  }
  const unsigned high = *ext & 3U;
  sample.power_class = high != 0 ? 4 + high : (*ext >> 6U) + 1U;
  const double class_w = kClassW[*sample.power_class - 1];
  sample.max_power_w = std::min(class_w, stated_w.value_or(class_w));
}

/// Bytes 93 and 99 (tables 6-10 and 6-11). Passive cables have no such control. The pin LPMode may
/// be programmed to switch transmitters off instead, where 193.6 offers that.
void read_power_control(const ModulePage& lower, const ModulePage& id, ModuleSample& sample) {
  const auto by_software = lower.bit(93, 0);
  if (!by_software) return;
  const bool is_tx_disable = id.offers(193, 6) && lower.offers(99, 1);
  sample.low_power_pin_obeyed = !*by_software && !is_tx_disable;
  if (*by_software) sample.low_power_requested = lower.bit(93, 1);
  const std::uint32_t power_class = sample.power_class.value_or(0);
  const bool to_class_7 = lower.offers(93, 2);
  const bool to_class_8 = lower.offers(93, 3);
  if (power_class < 5 || to_class_8 || (power_class < 8 && to_class_7)) return;
  const double allowed_w = to_class_7 ? 5.0 : 3.5;
  if (sample.max_power_w.value_or(allowed_w + 1) > allowed_w) sample.allowed_power_w = allowed_w;
}

void read_copper(const ModulePage& id, ModuleSample& sample) {
  const auto add = [&](unsigned offset, double frequency_ghz) {
    if (const auto db = id.byte(offset); db && *db != 0 && *db != 0xff)
      sample.copper_attenuation.push_back({frequency_ghz, static_cast<double>(*db)});
  };
  constexpr double kFrequenciesGhz[] = {2.5, 5, 7, 12.9};
  for (unsigned i = 0; i < std::size(kFrequenciesGhz); ++i) add(186 + i, kFrequenciesGhz[i]);
  add(145, 25.78);  // of optics OM1's length
}

void read_page00(const ModulePage& id, const ModulePage& lower, const Medium& medium,
                 ModuleSample& sample) {
  read_identity(id, kSff8636Identity, sample);
  note_checksum(sample, "page 00h bytes 128-190", id.checksum_ok(128, 190, 191));
  note_checksum(sample, "page 00h bytes 192-222", id.checksum_ok(192, 222, 223));
  sample.kind = medium.kind;
  sample.type = type_of(id, medium);
  sample.connector = connector_name(id.byte(130).value_or(0));
  sample.encoding = encoding_name(id.byte(139).value_or(0), ModuleMap::kSff8636);
  if (const auto rate = id.byte(140); rate && *rate != 0)
    sample.signaling_rate_mbd = *rate != 0xff ? *rate * 100.0 : id.byte(222).value_or(0) * 250.0;
  if (sample.signaling_rate_mbd == 0.0) sample.signaling_rate_mbd.reset();
  if (medium.cable)
    sample.length_m = cable_length_m(id, sample.warnings);
  else
    sample.reach_m = reach_m(id, sample.warnings);
  read_power_class(id, lower, sample);
  if (!id.exists()) return;
  sample.host_lane_count = kLanes;
  sample.media_lane_count = media_lanes_of(sample.type);
  sample.media_type = media_type_of(id, medium);
  if (medium.copper) return read_copper(id, sample);
  if (const auto raw = id.u16(186); raw && *raw / 20 >= 600 && *raw / 20 <= 2000)
    sample.wavelength_nm = *raw / 20.0;
}

/// Values and flags on the lower page, limits on page 03h, advertised on page 00h.
constexpr MonitorRow kMonitors[] = {
    of_module(kTemperatureC, {22, 128, 6, 7}, {220, 5}, &ModuleThresholds::temperature_c,
              &ModuleSample::temperature_c, &ModuleSample::temperature_flags),
    of_module(kSupplyV, {26, 144, 7, 7}, {220, 4}, &ModuleThresholds::supply_v,
              &ModuleSample::supply_v, &ModuleSample::supply_flags),
    of_lane(kRxPowerMw, {34, 176, 9, 7}, {}, &ModuleThresholds::rx_power_mw,
            &ModuleLane::rx_power_mw, &ModuleLane::rx_power_flags),
    of_lane(kBiasMa, {42, 184, 11, 7}, {}, &ModuleThresholds::tx_bias_ma, &ModuleLane::tx_bias_ma,
            &ModuleLane::tx_bias_flags),
    of_lane(kTxPowerMw, {50, 192, 13, 7}, {220, 2}, &ModuleThresholds::tx_power_mw,
            &ModuleLane::tx_power_mw, &ModuleLane::tx_power_flags),
};

constexpr StateBit<ModuleLane> kLaneBits[] = {
    {&ModuleLane::rx_los, 3, 0, {}},
    {&ModuleLane::tx_los, 3, 4, {195, 1}},
    {&ModuleLane::tx_fault, 4, 0, {195, 3}},
    {&ModuleLane::tx_eq_fault, 4, 4, {193, 3}},
    {&ModuleLane::rx_lol, 5, 0, {194, 4}},
    {&ModuleLane::tx_lol, 5, 4, {194, 5}},
    {&ModuleLane::tx_disabled, 86, 0, {195, 4}},
};

/// Of the four host lanes; those of a module with fewer media lanes are no media lanes'.
constexpr StateBit<ModuleHostLane> kHostBits[] = {
    {&ModuleHostLane::tx_los, 3, 4, {195, 1}},
    {&ModuleHostLane::tx_eq_fault, 4, 4, {193, 3}},
    {&ModuleHostLane::tx_lol, 5, 4, {194, 5}},
};

/// All of them feed its one media lane, or each half of them one of two.
void read_host_lanes(const ModulePage& lower, const ModulePage& id, ModuleSample& sample) {
  const std::size_t media = sample.lanes.size();
  if (media == 0 || media == kLanes) return;
  sample.host_lanes.resize(kLanes);
  for (const auto& row : kHostBits) {
    if (!is_offered(id, row.advert)) continue;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      sample.host_lanes[lane].*row.field = lower.bit(row.at, row.bit + lane);
  }
  for (std::size_t lane = 0; lane < media; ++lane) {
    const auto share = std::span<const ModuleHostLane>(sample.host_lanes)
                           .subspan(lane * kLanes / media, kLanes / media);
    sample.lanes[lane].tx_los = any_says(share, &ModuleHostLane::tx_los);
    sample.lanes[lane].tx_eq_fault = any_says(share, &ModuleHostLane::tx_eq_fault);
    sample.lanes[lane].tx_lol = any_says(share, &ModuleHostLane::tx_lol);
  }
}

/// `measures`: light and bias are there, and valid.
ModuleLane read_lane(const MonitorPages& pages, const ModulePage& id, unsigned index, bool measures,
                     ModuleWarnings& warnings) {
  ModuleLane out;
  for (const auto& row : kLaneBits)
    if (is_offered(id, row.advert)) out.*row.field = pages.values.bit(row.at, row.bit + index);
  if (!measures) return out;
  for (const MonitorRow& row : kMonitors)
    if (row.of_lane() && is_offered(id, row.advert))
      take_lane_value(pages, row, index, index + 1, out, warnings);
  return out;
}

/// Table 6-4: all above are reserved.
bool is_reserved_revision(std::uint8_t revision) { return revision >= std::size(kRevisions); }

/// From revision 2.8 on a module says whether it measures this (page 00h byte 220); before, zero
/// means it does not. With a reserved revision neither rule is sure, so that only what is offered
/// is believed.
bool measures(const ModulePage& lower, const ModulePage& id, const MonitorRow& row, bool copper,
              ModuleWarnings& warnings) {
  const std::uint8_t revision = lower.byte(1).value_or(0);
  const bool offered = is_offered(id, row.advert);
  if (copper) return offered;
  const bool is_zero = lower.u16(row.at.value).value_or(0) == 0;
  if (is_reserved_revision(revision) && !offered && !is_zero)
    warnings.push_back(std::string(row.quantity.name) +
                       " is left out: a module of this revision may not measure it");
  return revision >= 8 ? offered : !is_zero;
}

void read_module_monitors(const MonitorPages& pages, const ModulePage& id, bool copper,
                          ModuleSample& sample) {
  for (const MonitorRow& row : kMonitors)
    if (!row.of_lane() && measures(pages.values, id, row, copper, sample.warnings))
      take_value(pages, row, sample);
}

/// Those of the temperature and the supply are there whether it measures them or not.
void read_thresholds(const MonitorPages& pages, const ModulePage& id, bool copper,
                     ModuleSample& sample) {
  if (!pages.limits.exists()) {
    sample.warnings.emplace_back("page 03h was not read: the module's limits are not known");
    return;
  }
  for (const MonitorRow& row : kMonitors)
    if (!row.of_lane() || (!copper && is_offered(id, row.advert))) take_limits(pages, row, sample);
}

/// Flags of lanes that a copper cable has not, by the first lane's bit. Of the powers and the bias
/// it is that of a high alarm, and the odd lane has the high half of a byte.
struct CopperFlag {
  std::string_view name;
  std::uint8_t at, bit;
  AdvertBit advert;
  bool of_active;  ///< also of an active cable, whose lanes have the other ones
};
constexpr CopperFlag kCopperFlags[] = {
    {"media_rx_los", 3, 0, {}, false},         {"host_tx_los", 3, 4, {195, 1}, false},
    {"media_tx_fault", 4, 0, {195, 3}, false}, {"host_tx_eq_fault", 4, 4, {193, 3}, false},
    {"media_rx_lol", 5, 0, {194, 4}, false},   {"host_tx_lol", 5, 4, {194, 5}, false},
    {"media_rx_power", 9, 7, {}, true},        {"media_tx_bias", 11, 7, {}, true},
    {"media_tx_power", 13, 7, {220, 2}, true},
};

void read_copper_flags(const ModulePage& lower, const ModulePage& id, bool active,
                       ModuleSample& sample) {
  for (const CopperFlag& row : kCopperFlags) {
    if (!is_offered(id, row.advert) || (active && !row.of_active)) continue;
    for (unsigned i = 0; i < kLanes; ++i) {
      if (row.of_active)
        take_other_flags(row.name, i + 1,
                         read_flags(lower, kSff8636Flags, row.at + i / 2, row.bit - 4U * (i % 2)),
                         sample);
      else
        take_other_flag(row.name, i + 1, lower.bit(row.at, row.bit + i), sample);
    }
  }
}

/// Bytes 6, 8 and 19 to 21, which are cleared by reading as all from 3 to 21 are (table 6-1).
void read_other_flags(const ModulePage& lower, const ModulePage& id, ModuleSample& sample) {
  if (id.offers(221, 4)) take_other_flag("initialization_complete", {}, lower.bit(6, 0), sample);
  if (id.offers(221, 1)) take_other_flag("tc_ready", {}, lower.bit(6, 1), sample);
  for (const unsigned byte : {8U, 19U, 20U, 21U}) take_makers_flags(lower, byte, sample);
}

}  // namespace

void decode_sff8636(const ModuleImage& image, const ModuleHead& head, ModuleSample& sample) {
  const ModulePage lower = lower_page(image);
  const ModulePage id = upper_page(image, 0x00);
  sample.management = is_reserved_revision(head.revision) ? "SFF-8636" : kRevisions[head.revision];
  if (is_reserved_revision(head.revision))
    sample.warnings.push_back(
        fmt::format("SFF-8636 revision {:02x}h is reserved: the memory map's version is not known",
                    head.revision));
  if (!id.exists()) {
    // Without page 00h we don't know whether this is copper, and a copper cable must not be given
    // light.
    sample.warnings.emplace_back("page 00h was not read: monitors are left out");
    return;
  }
  const Medium medium = medium_of(id);
  read_page00(id, lower, medium, sample);
  if (!head.lower_page_usable || !lower.byte(2)) return;
  if (medium.kind != "dac") read_power_control(lower, id, sample);
  sample.data_not_ready = lower.bit(2, 0);
  const bool ready = !sample.data_not_ready.value_or(false);
  if (!ready) sample.warnings.emplace_back("the module says that its readings are not valid yet");
  read_other_flags(lower, id, sample);
  if (medium.copper) read_copper_flags(lower, id, medium.kind == "acc", sample);
  const MonitorPages pages{lower, upper_page(image, 0x03), kSff8636Flags};
  if (ready) read_module_monitors(pages, id, medium.copper, sample);
  if (!medium.copper && medium.kind == "unknown") {
    sample.warnings.emplace_back(
        "page 00h was read in part: light is left out, it may be a copper cable");
    return;
  }
  // A repeater's receiver loses signal and lock as an optical one does; it has no power to measure.
  if (medium.copper && medium.kind != "acc") return;
  if (!medium.copper) sample.rx_power_is_average = id.bit(220, 3);
  const std::uint8_t not_there = lower.byte(113).value_or(0) & 0x0fU;
  for (unsigned lane = 0; lane < *sample.media_lane_count; ++lane) {
    const bool there = not_there == 0x0f || ((not_there >> lane) & 1U) == 0;
    sample.lanes.push_back(
        there && lower.byte(3)
            ? read_lane(pages, id, lane, ready && !medium.copper, sample.warnings)
            : ModuleLane{});
  }
  if (lower.byte(3)) read_host_lanes(lower, id, sample);
  if (lower.bit(2, 2).value_or(true)) return;  // flat: no page 03h, 20h or 21h
  read_thresholds(pages, id, medium.copper, sample);
  if (ready && id.offers(195, 0)) decode_sff8636_parameters(image, medium.copper, sample);
}

}  // namespace linkhealth
