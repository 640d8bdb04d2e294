#include <algorithm>
#include <initializer_list>
#include <string>

#include "probes/module/codes.h"
#include "probes/module/decode.h"
#include "probes/module/values.h"

namespace linkhealth {

namespace {

/// Byte 94.
constexpr std::string_view kRevisions[] = {"",     "9.3",  "9.5",  "10.2", "10.4", "11.0",
                                           "11.3", "11.4", "12.3", "12.4", "12.5"};
/// Its code for 12.0 and later (linux: include/linux/sfp.h).
constexpr std::uint8_t kRevision12_0 = 8;

// --- what the signal travels over

struct ComplianceBit {
  std::uint8_t byte, bit;
  std::string_view type;
  Fibre fibre = Fibre::kUnknown;
};
/// Table 5-3, bytes 3 to 6: the first one set names the module, fastest first.
constexpr ComplianceBit kComplianceBits[] = {
    {3, 7, "10G-ER", Fibre::kSingleMode},
    {3, 6, "10G-LRM", Fibre::kMultimode},
    {3, 5, "10G-LR", Fibre::kSingleMode},
    {3, 4, "10G-SR", Fibre::kMultimode},
    {6, 3, "1000BASE-T"},
    {6, 2, "1G-CX"},
    {6, 1, "1G-LX", Fibre::kSingleMode},
    {6, 0, "1G-SX", Fibre::kMultimode},
};
/// Byte 8.
constexpr unsigned kPassiveCableBit = 2, kActiveCableBit = 3;

/// Bytes 60 and 61. For a cable, byte 60 holds copper bits and byte 61 is reserved: 0400h is not a
/// wavelength.
std::optional<double> wavelength_nm(const ModulePage& a0) {
  const auto nm = a0.u16(60);
  if (!nm || *nm < 600 || *nm > 2000 || a0.offers(8, kPassiveCableBit)) return std::nullopt;
  if (a0.offers(8, kActiveCableBit) && (*nm & 0xffU) == 0) return std::nullopt;
  return *nm;
}

/// Byte 8.3 means active cables of both kinds. Byte 3 has bits for 10G over fibre, none for copper.
bool is_active_copper(const ModulePage& a0) {
  if (a0.byte(2) == 0x21 || extended_compliance(a0.code(36)).is_copper()) return true;
  return (a0.code(3) & 0xf0U) == 0 && !wavelength_nm(a0);
}

/// Byte 9, the media of Fibre Channel (table 5-3): bits 7 to 4 mean wire; 3, 2 and 0 fibre.
/// 2.5GBASE-T modules indicate copper nowhere else.
constexpr unsigned kFcWire = 0xf0, kFcTwistedPair = 0x40, kFcGlass = 0x0d;
bool is_wire(const ModulePage& a0) {
  const bool ethernet_on_glass = (a0.code(3) & 0xf0U) != 0 || (a0.code(6) & 0x03U) != 0;
  return (a0.code(9) & kFcWire) != 0 && (a0.code(9) & kFcGlass) == 0 && !ethernet_on_glass &&
         !wavelength_nm(a0) && extended_compliance(a0.code(36)).fibre == Fibre::kUnknown;
}

SffMedium medium_of(const ModulePage& a0) {
  const std::uint8_t connector = a0.code(2);
  const Compliance compliance = extended_compliance(a0.code(36));
  if (a0.offers(8, kPassiveCableBit)) return {true, true, "dac"};
  if (compliance.cable == Cable::kActiveOptical || connector == 0x0b) return {false, true, "aoc"};
  if (a0.offers(8, kActiveCableBit))
    return is_active_copper(a0) ? SffMedium{true, true, "acc"} : SffMedium{false, true, "aoc"};
  if (connector == 0x22 || a0.offers(6, 3) || compliance.cable == Cable::kBaseT)
    return {true, false, "unknown"};
  if (compliance.cable == Cable::kActiveCopper) return {true, true, "acc"};
  if (is_wire(a0) && connector != 0x23)
    return (a0.code(9) & kFcTwistedPair) != 0 ? SffMedium{true, false, "unknown"}
                                              : SffMedium{true, true, "dac"};
  if (connector == 0x21 || compliance.is_copper()) return {true, true, "dac"};
  const bool wavelength = a0.u16(60).value_or(0) >= 600;
  if (connector == 0x23)
    return wavelength ? SffMedium{false, true, "aoc"} : SffMedium{false, true, "unknown"};
  if (wavelength || connector == 0x01 || connector == 0x07 || connector == 0x0c)
    return {false, false, "optical"};
  return {};
}

Fibre fibre_of(const ModulePage& a0) {
  if (const Fibre named = extended_compliance(a0.code(36)).fibre; named != Fibre::kUnknown)
    return named;
  for (const ComplianceBit& row : kComplianceBits)
    if (a0.offers(row.byte, row.bit) && row.fibre != Fibre::kUnknown) return row.fibre;
  // Bytes 14 and 15 are lengths of single-mode fibre, 16 to 19 of OM2, OM1, OM4 and OM3.
  const auto any = [&](std::initializer_list<unsigned> offsets) {
    return std::ranges::any_of(offsets, [&](unsigned at) { return a0.code(at) != 0; });
  };
  return fibre_of_lengths(any({14, 15}), any({16, 17, 18, 19}));
}

std::string_view media_type_of(const ModulePage& a0, const SffMedium& medium) {
  if (medium.copper) return medium.cable ? "copper" : "BASE-T";
  // Single-mode fibre is not used below 1260 nm (ITU-T G.652).
  if (medium.kind == "aoc")
    return wavelength_nm(a0).value_or(1260) < 1260 ? fibre_name(Fibre::kMultimode) : "";
  return medium.kind == "optical" ? fibre_name(fibre_of(a0)) : "";
}

/// Byte 12 in 100 MBd, or byte 66 in 250 MBd; 0 if neither is set.
double signaling_rate_mbd(const ModulePage& a0) {
  return a0.code(12) != 0xff ? a0.code(12) * 100.0 : a0.code(66) * 250.0;
}

std::string type_of(const ModulePage& a0, const SffMedium& medium) {
  if (const auto name = extended_compliance(a0.code(36)).sfp; !name.empty())
    return std::string(name);
  // There is no bit for cables at 10 Gb/s: most copper ones set that of 1000BASE-CX, optical ones
  // that of 10G-SR.
  const bool copper = medium.kind == "dac" || medium.kind == "acc";
  const double rate_mbd = signaling_rate_mbd(a0);
  if ((copper || medium.kind == "aoc") && rate_mbd >= 9900)
    return std::string(rate_mbd >= 25000 ? "25G-" : "10G-") + (copper ? "CR" : "AOC");
  for (const ComplianceBit& row : kComplianceBits)
    if (a0.offers(row.byte, row.bit)) return std::string(row.type);
  return {};
}

/// Byte 18, or for other lengths a mantissa with a multiplier in byte 19 (table 6-1).
std::optional<double> cable_length_m(const ModulePage& a0) {
  constexpr double kTenths[] = {1, 10, 100, 1000};
  const std::uint8_t metres = a0.code(18), extended = a0.code(19);
  if (metres != 0 && metres != 0xff) return metres;
  if (extended == 0 || extended == 0xff) return std::nullopt;
  return kTenths[extended >> 6U] * (extended & 0x3f) / 10;
}

/// SFF-8472 12.4.3 table 8-3: power level 4 has its watts in A2h, at a place where externally
/// calibrated modules have a constant (table 9-11).
std::optional<double> power_w(const ModulePage& a0, const ModulePage& a2) {
  const auto options = a0.byte(64);
  if (!options) return std::nullopt;
  if ((*options & 0x40U) != 0) {
    const std::uint8_t tenths = a0.offers(92, 4) ? std::uint8_t{0} : a2.code(66);
    return tenths != 0 && tenths != 0xff ? std::optional(tenths / 10.0) : std::nullopt;
  }
  if ((*options & 0x20U) != 0) return 2.0;
  return (*options & 0x02U) != 0 ? 1.5 : 1.0;
}

// --- A2h: a module measures all of these or none (A0h 92.6)

constexpr Monitor<ModuleSample> kModuleMonitors[] = {{kTemperature, 96, 0, 112, 7, {}},
                                                     {kSupply, 98, 8, 112, 5, {}}};
constexpr Monitor<ModuleLane> kLaneMonitors[] = {{kTxBias, 100, 16, 112, 3, {}},
                                                 {kTxPower, 102, 24, 112, 1, {}},
                                                 {kRxPower, 104, 32, 113, 7, {}}};

/// Live states, not latched.
ModuleLane read_states(const ModulePage& a0, const ModulePage& a2) {
  ModuleLane lane;
  if (a0.offers(93, 5)) lane.tx_fault = a2.bit(110, 2);
  // Byte 65 gives the level that means a loss; a module that sets both has no signal (linux:
  // drivers/net/phy/sfp.c).
  const bool inverted = a0.offers(65, 2);
  if (const auto los = a2.bit(110, 1); los && a0.offers(93, 4) && !(inverted && a0.offers(65, 1)))
    lane.rx_los = *los != inverted;
  if (const auto status = a2.byte(110); status && a0.offers(93, 6))
    lane.tx_disabled = (*status & 0xc0U) != 0;
  // Revision 11.9b moved these bits from byte 115 to 119.
  if (a0.offers(64, 3) && a0.code(94) >= kRevision12_0) {
    lane.rx_lol = a2.bit(119, 0);
    lane.tx_lol = a2.bit(119, 1);
  }
  return lane;
}

/// Why a module with monitors has none here; "": it has.
std::string_view why_not_measured(const ModulePage& a0, const ModulePage& a2) {
  if (a0.offers(92, 2))
    return "its monitors need a change of the bus address, which the kernel does not make";
  if (!a2.exists()) return "A2h was not read: light, limits and flags are not known";
  // Modules of 1 and 2 Gb/s; SFF-8431 requires internal calibration for faster ones.
  const bool external = a0.offers(92, 4) && !a0.offers(92, 5);
  return external ? "externally calibrated: its readings are left out" : "";
}

void read_diagnostics(const ModulePage& a0, const ModulePage& a2, const SffMedium& medium,
                      ModuleSample& sample) {
  // Vendors of passive cables copy an optic's layout, although there is nothing to measure.
  if (!a0.offers(92, 6) || medium.kind == "dac") return;
  if (const auto why = why_not_measured(a0, a2); !why.empty()) {
    sample.warnings.emplace_back(why);
    return;
  }
  ModuleWarnings& warnings = sample.warnings;
  note_checksum(sample, "A2h", a2.checksum_ok(0, 94, 95));
  for (const auto& row : kModuleMonitors) read_monitor_limits(a2, row, sample);
  const bool has_states = a2.byte(110) != 0xff;  // nothing answered: such a byte is impossible
  if (has_states) sample.data_not_ready = a2.bit(110, 0);
  const bool ready = sample.data_not_ready != true;
  if (!ready) warnings.emplace_back("the module declares its readings invalid (data not ready)");
  // Some modules leave these bytes unwritten. High and low alarms of all values are never set
  // together.
  const bool has_flags = a0.offers(93, 7) && !a2.are_ones(112, 113);
  for (const auto& row : kModuleMonitors) {
    if (ready) read_monitor(a2, kSff8472Flags, row, sample, warnings);
    if (!has_flags) sample.*row.field.flags = {};
  }
  if ((medium.copper && medium.kind != "acc") || !a2.u16(96)) return;
  ModuleLane& lane = sample.lanes.emplace_back(has_states ? read_states(a0, a2) : ModuleLane{});
  // The receiver of an active copper cable loses its signal like an optical one; it has no power to
  // measure.
  if (medium.copper) return;
  sample.rx_power_is_average = a0.bit(92, 3);
  for (const auto& row : kLaneMonitors) {
    read_monitor_limits(a2, row, sample);
    if (ready) read_monitor(a2, kSff8472Flags, row, lane, warnings);
    if (!has_flags) lane.*row.field.flags = {};
  }
}

}  // namespace

void decode_sff8472(const ModuleImage& image, ModuleSample& sample) {
  const ModulePage a0 = lower_page(image);
  const ModulePage a2 = a2_page(image);
  const std::uint8_t revision = a0.code(94);
  sample.management = "SFF-8472";
  if (revision > 0 && revision < std::size(kRevisions))
    sample.management += " " + std::string(kRevisions[revision]);
  const SffMedium medium = medium_of(a0);
  sample.kind = medium.kind;
  sample.media_type = media_type_of(a0, medium);
  sample.connector = connector_name(a0.code(2));
  sample.type = type_of(a0, medium);
  read_identity(a0, kSff8472Identity, sample);
  note_checksum(sample, "A0h bytes 0-62", a0.checksum_ok(0, 62, 63));
  note_checksum(sample, "A0h bytes 64-94", a0.checksum_ok(64, 94, 95));
  if (medium.cable)
    sample.length_m = cable_length_m(a0);
  else if (!medium.copper)
    sample.reach_m = longest_m(a0, {{14, 1000}, {15, 100}, {16, 10}, {17, 10}, {18, 10}, {19, 10}});
  if (!medium.copper) sample.wavelength_nm = wavelength_nm(a0);
  sample.max_power_w = power_w(a0, a2);
  sample.media_lane_count = 1;
  read_diagnostics(a0, a2, medium, sample);
}

}  // namespace linkhealth
