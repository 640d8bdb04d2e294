#include "probes/module/sff8472_medium.h"

#include <algorithm>
#include <initializer_list>

#include "probes/module/codes.h"

namespace linkhealth {

namespace {

struct Bit {
  std::uint8_t byte, bit;
  std::string_view type;
  Fibre fibre = Fibre::kUnknown;
};
// Bytes 3 to 8: the first that is set names the module, fastest first.
constexpr Bit kComplianceBits[] = {{3, 7, "10G-ER", Fibre::kSingleMode},
                                   {3, 6, "10G-LRM", Fibre::kMultimode},
                                   {3, 5, "10G-LR", Fibre::kSingleMode},
                                   {3, 4, "10G-SR", Fibre::kMultimode},
                                   {6, 3, "1000BASE-T"},
                                   {6, 2, "1G-CX"},
                                   {6, 1, "1G-LX", Fibre::kSingleMode},
                                   {6, 0, "1G-SX", Fibre::kMultimode},
                                   {6, 6, "BASE-BX10", Fibre::kSingleMode},
                                   {6, 4, "100BASE-LX10", Fibre::kSingleMode},
                                   {6, 5, "100BASE-FX", Fibre::kMultimode}};

/// Table 5-3, note 3: of BX10 the signaling rate says which it is.
std::string_view named_by_rate(std::string_view type, double rate_mbd) {
  if (type != "BASE-BX10" || rate_mbd <= 0) return type;
  return rate_mbd >= 1000 ? "1G-BX10" : "100BASE-BX10";
}

Fibre fibre_by_name(const ModulePage& a0) {
  const Fibre extended = extended_compliance_fibre(a0.byte(36).value_or(0));
  if (extended != Fibre::kUnknown) return extended;
  for (const Bit& row : kComplianceBits)
    if (a0.offers(row.byte, row.bit)) return row.fibre;
  return Fibre::kUnknown;
}

/// Bytes 14 and 15 are lengths of single-mode fibre, 16 to 19 of OM2, OM1, OM4 and OM3.
Fibre fibre_by_length(const ModulePage& a0) {
  const auto any = [&](std::initializer_list<unsigned> offsets) {
    return std::ranges::any_of(offsets, [&](unsigned at) { return a0.byte(at).value_or(0) != 0; });
  };
  return fibre_of_lengths(any({14, 15}), any({16, 17, 18, 19}));
}

/// Byte 8: what a cable says of itself.
constexpr unsigned kPassiveCableBit = 2, kActiveCableBit = 3;

/// Byte 3 has a bit of 10G over fibre, and none for copper.
bool claims_light(const ModulePage& a0) { return (a0.byte(3).value_or(0) & 0xf0U) != 0; }

/// Byte 8.3 has active cables of both kinds. Copper has bits where light has its wavelength.
bool is_active_copper(const ModulePage& a0) {
  if (a0.byte(2) == 0x21 || is_copper_compliance(a0.byte(36).value_or(0))) return true;
  return !claims_light(a0) && !sfp_wavelength_nm(a0);
}

}  // namespace

/// Of a cable, byte 60 holds bits of copper and byte 61 is reserved: 0400h is no wavelength.
std::optional<double> sfp_wavelength_nm(const ModulePage& a0) {
  const auto nm = a0.u16(60);
  if (!nm || *nm < 600 || *nm > 2000 || a0.offers(8, kPassiveCableBit)) return std::nullopt;
  if (a0.offers(8, kActiveCableBit) && (*nm & 0xffU) == 0) return std::nullopt;
  return *nm;
}

SfpMedium sfp_medium(const ModulePage& a0) {
  const std::uint8_t connector = a0.byte(2).value_or(0);
  const std::uint8_t compliance = a0.byte(36).value_or(0);
  const bool optical_cable = is_active_optical_compliance(compliance) || connector == 0x0b;
  if (a0.offers(8, kPassiveCableBit)) return {true, true, "dac"};
  if (optical_cable) return {false, true, "aoc"};
  if (a0.offers(8, kActiveCableBit))
    return is_active_copper(a0) ? SfpMedium{true, true, "acc"} : SfpMedium{false, true, "aoc"};
  if (connector == 0x22 || a0.offers(6, 3) || is_base_t_compliance(compliance))
    return {true, false, "unknown"};
  if (is_active_copper_compliance(compliance)) return {true, true, "acc"};
  if (connector == 0x21 || is_copper_compliance(compliance)) return {true, true, "dac"};
  const bool wavelength = a0.u16(60).value_or(0) >= 600;
  if (connector == 0x23)
    return wavelength ? SfpMedium{false, true, "aoc"} : SfpMedium{false, true, "unknown"};
  if (wavelength || connector == 0x01 || connector == 0x07 || connector == 0x0c)
    return {false, false, "optical"};
  return {};
}

std::string_view sfp_media_type(const ModulePage& a0, const SfpMedium& medium) {
  if (medium.copper) return medium.cable ? "copper" : "BASE-T";
  if (medium.kind == "aoc") return fibre_name(fibre_by_wavelength(sfp_wavelength_nm(a0)));
  if (medium.kind != "optical") return {};
  const Fibre named = fibre_by_name(a0);
  return fibre_name(named != Fibre::kUnknown ? named : fibre_by_length(a0));
}

std::string sfp_type(const ModulePage& a0, const SfpMedium& medium,
                     std::optional<double> rate_mbd) {
  if (const auto name = extended_compliance_name(a0.byte(36).value_or(0), true); !name.empty())
    return std::string(name);
  // There is no bit for cables at 10 Gb/s: most of copper set that of 1000BASE-CX, of fibre that of
  // 10G-SR.
  const bool copper = medium.kind == "dac" || medium.kind == "acc";
  if ((copper || medium.kind == "aoc") && rate_mbd.value_or(0) >= 9900)
    return std::string(*rate_mbd >= 25000 ? "25G-" : "10G-") + (copper ? "CR" : "AOC");
  for (const Bit& row : kComplianceBits)
    if (a0.offers(row.byte, row.bit))
      return std::string(named_by_rate(row.type, rate_mbd.value_or(0)));
  return {};
}

}  // namespace linkhealth
