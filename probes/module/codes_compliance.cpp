// The extended compliance codes of SFF-8024 rev 4.13: as in codes.cpp.
#include <algorithm>
#include <initializer_list>

#include "probes/module/codes.h"

namespace linkhealth {

namespace {

constexpr Fibre kMulti = Fibre::kMultimode, kSingle = Fibre::kSingleMode;

struct Compliance {
  std::uint8_t code;
  std::string_view qsfp;
  std::string_view sfp;
  Fibre fibre = Fibre::kUnknown;  ///< unknown of cables
};

// SFF-8024 table 4-4. One code stands for the whole family: the lanes of the form factor choose the
// member.
constexpr Compliance kCompliance[] = {
    {0x01, "100G-AOC", "25G-AOC"},
    {0x02, "100G-SR4", "25G-SR", kMulti},
    {0x03, "100G-LR4", "25G-LR", kSingle},
    {0x04, "100G-ER4", "25G-ER", kSingle},
    {0x05, "100G-SR10", "", kMulti},
    {0x06, "100G-CWDM4", "", kSingle},
    {0x07, "100G-PSM4", "", kSingle},
    {0x08, "100G-ACC", "25G-ACC"},
    {0x0b, "100G-CR4", "25G-CR"},
    {0x0c, "25G-CR", "25G-CR"},
    {0x0d, "25G-CR", "25G-CR"},
    {0x10, "40G-ER4", "", kSingle},
    {0x11, "4x10G-SR", "", kMulti},
    {0x12, "40G-PSM4", "", kSingle},
    {0x16, "10G-T", "10G-T"},
    {0x17, "100G-CLR4", "", kSingle},
    {0x18, "100G-AOC", "25G-AOC"},
    {0x19, "100G-ACC", "25G-ACC"},
    {0x1a, "100G-DWDM2", "", kSingle},
    {0x1b, "100G-1550 WDM", "", kSingle},
    {0x1c, "10G-T", "10G-T"},
    {0x1d, "5G-T", "5G-T"},
    {0x1e, "2.5G-T", "2.5G-T"},
    {0x1f, "40G-SWDM4", "", kMulti},
    {0x20, "100G-SWDM4", "", kMulti},
    {0x21, "100G-BiDi", "", kMulti},
    {0x22, "100G-4WDM-10", "", kSingle},
    {0x23, "100G-4WDM-20", "", kSingle},
    {0x24, "100G-4WDM-40", "", kSingle},
    {0x25, "100G-DR", "100G-DR", kSingle},
    {0x26, "100G-FR1", "100G-FR1", kSingle},
    {0x27, "100G-LR1", "100G-LR1", kSingle},
    {0x28, "100G-SR1", "100G-SR1", kMulti},
    {0x29, "400G-SR4", "100G-SR1", kMulti},
    {0x2a, "100G-FR1", "100G-FR1", kSingle},
    {0x2b, "100G-LR1", "100G-LR1", kSingle},
    {0x30, "200G-ACC", "50G-ACC"},
    {0x31, "200G-AOC", "50G-AOC"},
    {0x32, "200G-ACC", "50G-ACC"},
    {0x33, "200G-AOC", "50G-AOC"},
    {0x3f, "400G-CR4", "100G-CR1"},
    {0x40, "200G-CR4", "50G-CR"},
    {0x41, "200G-SR4", "50G-SR", kMulti},
    {0x42, "200G-DR4", "50G-FR", kSingle},
    {0x43, "200G-FR4", "", kSingle},
    {0x44, "200G-PSM4", "", kSingle},
    {0x45, "50G-LR", "50G-LR", kSingle},
    {0x46, "200G-LR4", "", kSingle},
    {0x47, "400G-DR4", "", kSingle},
    {0x48, "400G-FR4", "", kSingle},
    {0x49, "400G-LR4-6", "", kSingle},
    {0x2c, "100G-LR1-20", "100G-LR1-20", kSingle},
    {0x2d, "100G-ER1-30", "100G-ER1-30", kSingle},
    {0x2e, "100G-ER1-40", "100G-ER1-40", kSingle},
    {0x2f, "100G-LR1-20", "100G-LR1-20", kSingle},
    {0x34, "100G-ER1-30", "100G-ER1-30", kSingle},
    {0x35, "100G-ER1-40", "100G-ER1-40", kSingle},
    {0x36, "400G-VR4", "100G-VR1", kMulti},
    {0x37, "", "10G-BR", kSingle},
    {0x38, "", "25G-BR", kSingle},
    {0x39, "", "50G-BR", kSingle},
    {0x3a, "100G-VR1", "100G-VR1", kMulti},
    {0x4a, "50G-ER", "50G-ER", kSingle},
    {0x4b, "400G-LR4-10", "", kSingle},
    {0x4c, "400G-ZR", "", kSingle},
};

bool any_of(std::initializer_list<std::uint8_t> codes, std::uint8_t code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

}  // namespace

std::string_view extended_compliance_name(std::uint8_t code, bool sfp) {
  for (const Compliance& row : kCompliance)
    if (row.code == code) return sfp ? row.sfp : row.qsfp;
  return {};
}

Fibre extended_compliance_fibre(std::uint8_t code) {
  for (const Compliance& row : kCompliance)
    if (row.code == code) return row.fibre;
  return Fibre::kUnknown;
}

Fibre fibre_of_lengths(bool single_mode, bool multimode) {
  if (single_mode == multimode) return Fibre::kUnknown;
  return single_mode ? Fibre::kSingleMode : Fibre::kMultimode;
}

Fibre fibre_by_wavelength(std::optional<double> wavelength_nm) {
  constexpr double kCutOffNm = 1260;
  return wavelength_nm && *wavelength_nm < kCutOffNm ? Fibre::kMultimode : Fibre::kUnknown;
}

bool is_copper_compliance(std::uint8_t code) {
  return any_of({0x0b, 0x0c, 0x0d, 0x3f, 0x40}, code) || is_active_copper_compliance(code);
}
bool is_base_t_compliance(std::uint8_t code) { return any_of({0x16, 0x1c, 0x1d, 0x1e}, code); }
bool is_active_copper_compliance(std::uint8_t code) {
  return any_of({0x08, 0x19, 0x30, 0x32}, code);
}
bool is_active_optical_compliance(std::uint8_t code) {
  return any_of({0x01, 0x18, 0x31, 0x33}, code);
}

}  // namespace linkhealth
