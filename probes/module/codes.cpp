#include "probes/module/codes.h"

#include <algorithm>
#include <array>
#include <span>

namespace linkhealth {

namespace {

constexpr Fibre kMulti = Fibre::kMultimode, kSingle = Fibre::kSingleMode;

/// A row of a table, or one without a name.
template <typename Row>
Row find(std::span<const Row> table, std::uint8_t code) {
  const auto row = std::ranges::find(table, code, &Row::code);
  return row == table.end() ? Row{} : *row;
}

// Every row below was compared with the published text of SFF-8024 rev 4.13 (July 2025), table by
// table; the names are the short ones in common use. A number that a later revision redefined (1Eh
// to 21h of table 4-5) has its new meaning. Left out is what no RDMA card takes: Fibre Channel,
// OTN, CPRI, PCIe, PON, and electrical interfaces below 10 Gb/s.

struct Identifier {
  std::uint8_t code = 0;
  ModuleMap map = ModuleMap::kNone;
  std::string_view name;
  std::uint8_t lanes = 0;  ///< electrical lanes of its connector; 0: not limited here
};
// Table 4-1; the lanes follow the form factors' own specifications (SFF-8665, QSFP-DD, OSFP and
// OSFP-XD MSA, SFP-DD, DSFP, CDFP).
constexpr Identifier kIdentifiers[] = {
    {0x01, ModuleMap::kSff8472, "GBIC", 1},
    {0x02, ModuleMap::kSff8472, "soldered", 1},
    {0x03, ModuleMap::kSff8472, "SFP", 1},
    {0x0b, ModuleMap::kUnsupported, "DWDM-SFP", 1},
    {0x0c, ModuleMap::kUnsupported, "QSFP", 4},
    {0x0d, ModuleMap::kSff8636, "QSFP+", 4},
    {0x11, ModuleMap::kSff8636, "QSFP28", 4},
    {0x17, ModuleMap::kSff8636, "microQSFP", 4},
    {0x18, ModuleMap::kCmis, "QSFP-DD", 8},
    {0x19, ModuleMap::kCmis, "OSFP", 8},
    {0x1a, ModuleMap::kUnsupported, "SFP-DD", 2},
    {0x1b, ModuleMap::kCmis, "DSFP", 2},
    {0x1e, ModuleMap::kCmis, "QSFP (CMIS)", 4},
    {0x1f, ModuleMap::kCmis, "SFP-DD (CMIS)", 2},
    {0x20, ModuleMap::kCmis, "SFP (CMIS)", 1},
    {0x21, ModuleMap::kCmis, "OSFP-XD", 16},
    {0x22, ModuleMap::kCmis, "ELSFP"},
    {0x23, ModuleMap::kCmis, "CDFP x4", 4},
    {0x24, ModuleMap::kCmis, "CDFP x8", 8},
    {0x25, ModuleMap::kCmis, "CDFP x16", 16},
};

struct Code {
  std::uint8_t code = 0;
  std::string_view name;
};
// Table 4-3.
constexpr Code kConnectors[] = {
    {0x01, "SC"},     {0x07, "LC"},           {0x0b, "optical pigtail"},
    {0x0c, "MPO-12"}, {0x0d, "MPO 2x16"},     {0x21, "copper pigtail"},
    {0x22, "RJ45"},   {0x23, "none (cable)"}, {0x24, "MXC 2x16"},
    {0x25, "CS"},     {0x26, "SN"},           {0x27, "MPO 2x12"},
    {0x28, "MPO-16"},
};

// Table 4-5.
constexpr ModuleInterface kHostInterfaces[] = {
    {0x04, 1, "SFI"},
    {0x05, 1, "25GAUI C2M"},
    {0x06, 4, "XLAUI C2M"},
    {0x07, 4, "XLPPI"},
    {0x08, 2, "LAUI-2 C2M"},
    {0x09, 2, "50GAUI-2 C2M"},
    {0x0a, 1, "50GAUI-1 C2M"},
    {0x0b, 4, "CAUI-4 C2M"},
    {0x0c, 4, "100GAUI-4 C2M"},
    {0x0d, 2, "100GAUI-2 C2M"},
    {0x0e, 8, "200GAUI-8 C2M"},
    {0x0f, 4, "200GAUI-4 C2M"},
    {0x10, 16, "400GAUI-16 C2M"},
    {0x11, 8, "400GAUI-8 C2M"},
    {0x14, 1, "25G-CR CA-L"},
    {0x15, 1, "25G-CR CA-S"},
    {0x16, 1, "25G-CR CA-N"},
    {0x17, 4, "40G-CR4"},
    {0x18, 1, "50G-CR"},
    {0x1a, 4, "100G-CR4"},
    {0x1b, 2, "100G-CR2"},
    {0x1c, 4, "200G-CR4"},
    {0x1d, 8, "400G-CR8"},
    {0x1e, 1, "200G-CR1"},
    {0x1f, 2, "400G-CR2"},
    {0x20, 1, "100G LPO"},
    {0x21, 2, "200G LPO"},
    {0x22, 4, "400G LPO"},
    {0x23, 8, "800G LPO"},
    {0x2c, 0, "IB SDR"},
    {0x2d, 0, "IB DDR"},
    {0x2e, 0, "IB QDR"},
    {0x2f, 0, "IB FDR"},
    {0x30, 0, "IB EDR"},
    {0x31, 0, "IB HDR"},
    {0x32, 0, "IB NDR"},
    {0x41, 4, "CAUI-4 C2M, no FEC"},
    {0x42, 4, "CAUI-4 C2M, RS-FEC"},
    {0x43, 2, "50G-CR2, RS-FEC"},
    {0x44, 2, "50G-CR2, BASE-R FEC"},
    {0x45, 2, "50G-CR2, no FEC"},
    {0x46, 1, "100G-CR1"},
    {0x47, 2, "200G-CR2"},
    {0x48, 4, "400G-CR4"},
    {0x49, 8, "800G-CR8"},
    {0x4b, 1, "100GAUI-1-S C2M"},
    {0x4c, 1, "100GAUI-1-L C2M"},
    {0x4d, 2, "200GAUI-2-S C2M"},
    {0x4e, 2, "200GAUI-2-L C2M"},
    {0x4f, 4, "400GAUI-4-S C2M"},
    {0x50, 4, "400GAUI-4-L C2M"},
    {0x51, 8, "800GAUI-8-S C2M"},
    {0x52, 8, "800GAUI-8-L C2M"},
    {0x55, 16, "1.6TAUI-16-S C2M"},
    {0x56, 16, "1.6TAUI-16-L C2M"},
    {0x57, 4, "800G-CR4"},
    {0x58, 8, "1.6T-CR8"},
    {0x74, 0, "CEI-112G-LINEAR-PAM4"},
    {0x80, 1, "200GAUI-1"},
    {0x81, 2, "400GAUI-2"},
    {0x82, 4, "800GAUI-4"},
    {0x83, 8, "1.6TAUI-8"},
    {0xa0, 0, "IB XDR"},
};
// Table 4-6.
constexpr ModuleInterface kMultimode[] = {
    {0x02, 1, "10G-SR"},     {0x03, 1, "25G-SR"},      {0x04, 4, "40G-SR4"},
    {0x05, 4, "40G-SWDM4"},  {0x06, 2, "40G-BiDi"},    {0x07, 1, "50G-SR"},
    {0x08, 10, "100G-SR10"}, {0x09, 4, "100G-SR4"},    {0x0a, 4, "100G-SWDM4"},
    {0x0b, 2, "100G-BiDi"},  {0x0c, 2, "100G-SR2"},    {0x0d, 1, "100G-SR1"},
    {0x0e, 4, "200G-SR4"},   {0x0f, 16, "400G-SR16"},  {0x10, 8, "400G-SR8"},
    {0x11, 4, "400G-SR4"},   {0x12, 8, "800G-SR8"},    {0x1a, 8, "400G-SR4.2"},
    {0x1b, 2, "200G-SR2"},   {0x1d, 1, "100G-VR1"},    {0x1e, 2, "200G-VR2"},
    {0x1f, 4, "400G-VR4"},   {0x20, 8, "800G-VR8"},    {0x21, 8, "800G-VR4.2"},
    {0x22, 8, "800G-SR4.2"}, {0x23, 16, "1.6T-VR8.2"}, {0x24, 16, "1.6T-SR8.2"},
};
// Table 4-7. The "+" is OpenZR+ in any of its modulations and output ranges. 68h is listed as Open
// ROADM's 8e-DPO; but one published dump of an 800ZR module has it, and fboss reads it as ZR_800G.
constexpr ModuleInterface kSingleMode[] = {
    {0x04, 1, "10G-LR"},       {0x05, 1, "10G-ER"},       {0x06, 1, "10G-ZR"},
    {0x07, 1, "25G-LR"},       {0x08, 1, "25G-ER"},       {0x09, 4, "40G-LR4"},
    {0x0b, 1, "50G-FR"},       {0x0c, 1, "50G-LR"},       {0x0d, 4, "100G-LR4"},
    {0x0e, 4, "100G-ER4"},     {0x0f, 4, "100G-PSM4"},    {0x10, 4, "100G-CWDM4"},
    {0x11, 4, "100G-4WDM-10"}, {0x12, 4, "100G-4WDM-20"}, {0x13, 4, "100G-4WDM-40"},
    {0x14, 1, "100G-DR"},      {0x15, 1, "100G-FR1"},     {0x16, 1, "100G-LR1"},
    {0x17, 4, "200G-DR4"},     {0x18, 4, "200G-FR4"},     {0x19, 4, "200G-LR4"},
    {0x1a, 8, "400G-FR8"},     {0x1b, 8, "400G-LR8"},     {0x1c, 4, "400G-DR4"},
    {0x1d, 4, "400G-FR4"},     {0x1e, 4, "400G-LR4-10"},  {0x34, 4, "100G-CWDM4-OCP"},
    {0x35, 1, "400G-ZR+"},     {0x36, 1, "400G-ZR+"},     {0x37, 1, "400G-ZR+"},
    {0x38, 1, "10G-SR"},       {0x39, 1, "10G-LR"},       {0x3a, 1, "25G-SR"},
    {0x3b, 1, "25G-LR"},       {0x3c, 1, "10G-LR-BiDi"},  {0x3d, 1, "25G-LR-BiDi"},
    {0x3e, 1, "400G-ZR"},      {0x3f, 1, "400G-ZR"},      {0x41, 4, "200G-ER4"},
    {0x42, 8, "400G-ER8"},     {0x43, 4, "400G-LR4-6"},   {0x44, 1, "100G-ZR"},
    {0x46, 1, "400G-ZR+"},     {0x47, 1, "300G-ZR+"},     {0x48, 1, "200G-ZR+"},
    {0x49, 1, "100G-ZR+"},     {0x4a, 1, "100G-LR1-20"},  {0x4b, 1, "100G-ER1-30"},
    {0x4c, 1, "100G-ER1-40"},  {0x4d, 1, "400G-ZR"},      {0x4e, 1, "10G-BR"},
    {0x4f, 1, "25G-BR"},       {0x50, 1, "50G-BR"},       {0x55, 4, "400G-DR4-2"},
    {0x56, 8, "800G-DR8"},     {0x57, 8, "800G-DR8-2"},   {0x58, 1, "400G-ZR+"},
    {0x59, 1, "300G-ZR+"},     {0x5a, 1, "300G-ZR+"},     {0x5b, 1, "200G-ZR+"},
    {0x5c, 1, "200G-ZR+"},     {0x5d, 1, "100G-ZR+"},     {0x5e, 1, "100G-ZR+"},
    {0x68, 1, "800G-ZR"},      {0x6c, 1, "800G-ZR"},      {0x6d, 1, "800G-ZR"},
    {0x6e, 1, "800G-ZR"},      {0x6f, 4, "400G-ER4-30"},  {0x73, 1, "200G-DR1"},
    {0x74, 1, "200G-DR1-2"},   {0x75, 2, "400G-DR2"},     {0x76, 2, "400G-DR2-2"},
    {0x77, 4, "800G-DR4"},     {0x78, 4, "800G-DR4-2"},   {0x79, 4, "800G-FR4-500"},
    {0x7a, 4, "800G-FR4"},     {0x7b, 4, "800G-LR4"},     {0x7c, 1, "800G-LR1"},
    {0x7d, 1, "800G-ER1-20"},  {0x7e, 1, "800G-ER1"},     {0x7f, 8, "1.6T-DR8"},
    {0x80, 8, "1.6T-DR8-2"},   {0x8f, 1, "100G-DR1 LPO"}, {0x90, 2, "200G-DR2 LPO"},
    {0x91, 4, "400G-DR4 LPO"}, {0x92, 8, "800G-DR8 LPO"},
};
// Table 4-10: twisted pair, four pairs each.
constexpr ModuleInterface kBaseT[] = {{1, 4, "1000BASE-T"}, {2, 4, "2.5GBASE-T"},
                                      {3, 4, "5GBASE-T"},   {4, 4, "10GBASE-T"},
                                      {5, 4, "25GBASE-T"},  {6, 4, "40GBASE-T"}};

constexpr Fibre kNoFibre = Fibre::kUnknown;
constexpr Cable kDac = Cable::kPassiveCopper, kAcc = Cable::kActiveCopper,
                kAoc = Cable::kActiveOptical, kPair = Cable::kBaseT;
// Table 4-4.
constexpr Compliance kCompliance[] = {
    {0x01, "100G-AOC", "25G-AOC", kNoFibre, kAoc},
    {0x02, "100G-SR4", "25G-SR", kMulti},
    {0x03, "100G-LR4", "25G-LR", kSingle},
    {0x04, "100G-ER4", "25G-ER", kSingle},
    {0x05, "100G-SR10", "", kMulti},
    {0x06, "100G-CWDM4", "", kSingle},
    {0x07, "100G-PSM4", "", kSingle},
    {0x08, "100G-ACC", "25G-ACC", kNoFibre, kAcc},
    {0x0b, "100G-CR4", "25G-CR", kNoFibre, kDac},
    {0x0c, "25G-CR", "25G-CR", kNoFibre, kDac},
    {0x0d, "25G-CR", "25G-CR", kNoFibre, kDac},
    {0x10, "40G-ER4", "", kSingle},
    {0x11, "4x10G-SR", "", kMulti},
    {0x12, "40G-PSM4", "", kSingle},
    {0x16, "10G-T", "10G-T", kNoFibre, kPair},
    {0x17, "100G-CLR4", "", kSingle},
    {0x18, "100G-AOC", "25G-AOC", kNoFibre, kAoc},
    {0x19, "100G-ACC", "25G-ACC", kNoFibre, kAcc},
    {0x1a, "100G-DWDM2", "", kSingle},
    {0x1b, "100G-1550 WDM", "", kSingle},
    {0x1c, "10G-T", "10G-T", kNoFibre, kPair},
    {0x1d, "5G-T", "5G-T", kNoFibre, kPair},
    {0x1e, "2.5G-T", "2.5G-T", kNoFibre, kPair},
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
    {0x2c, "100G-LR1-20", "100G-LR1-20", kSingle},
    {0x2d, "100G-ER1-30", "100G-ER1-30", kSingle},
    {0x2e, "100G-ER1-40", "100G-ER1-40", kSingle},
    {0x2f, "100G-LR1-20", "100G-LR1-20", kSingle},
    {0x30, "200G-ACC", "50G-ACC", kNoFibre, kAcc},
    {0x31, "200G-AOC", "50G-AOC", kNoFibre, kAoc},
    {0x32, "200G-ACC", "50G-ACC", kNoFibre, kAcc},
    {0x33, "200G-AOC", "50G-AOC", kNoFibre, kAoc},
    {0x34, "100G-ER1-30", "100G-ER1-30", kSingle},
    {0x35, "100G-ER1-40", "100G-ER1-40", kSingle},
    {0x36, "400G-VR4", "100G-VR1", kMulti},
    {0x37, "", "10G-BR", kSingle},
    {0x38, "", "25G-BR", kSingle},
    {0x39, "", "50G-BR", kSingle},
    {0x3a, "100G-VR1", "100G-VR1", kMulti},
    {0x3f, "400G-CR4", "100G-CR1", kNoFibre, kDac},
    {0x40, "200G-CR4", "50G-CR", kNoFibre, kDac},
    {0x41, "200G-SR4", "50G-SR", kMulti},
    {0x42, "200G-DR4", "50G-FR", kSingle},
    {0x43, "200G-FR4", "", kSingle},
    {0x44, "200G-PSM4", "", kSingle},
    {0x45, "50G-LR", "50G-LR", kSingle},
    {0x46, "200G-LR4", "", kSingle},
    {0x47, "400G-DR4", "", kSingle},
    {0x48, "400G-FR4", "", kSingle},
    {0x49, "400G-LR4-6", "", kSingle},
    {0x4a, "50G-ER", "50G-ER", kSingle},
    {0x4b, "400G-LR4-10", "", kSingle},
    {0x4c, "400G-ZR", "", kSingle},
};

constexpr std::array<std::string_view, 6> kMediaTypes = {"",       "multimode",    "single-mode",
                                                         "copper", "active cable", "BASE-T"};
// CMIS 5.4 tables 8-6, 8-16 and 8-93.
constexpr std::array<std::string_view, 8> kModuleStates = {
    "", "ModuleLowPwr", "ModulePwrUp", "ModuleReady", "ModulePwrDn", "ModuleFault", "", ""};
constexpr std::array<std::string_view, 7> kFaultCauses = {"",
                                                          "TEC runaway",
                                                          "data memory corrupted",
                                                          "program memory corrupted",
                                                          "transmitter fault",
                                                          "receiver fault",
                                                          "temperature fault"};
constexpr std::array<std::string_view, 8> kDataPathStates = {"unknown",   "Deactivated", "Init",
                                                             "Deinit",    "Activated",   "TxTurnOn",
                                                             "TxTurnOff", "Initialized"};

}  // namespace

ModuleMap module_map(std::uint8_t identifier) {
  if (identifier == 0xff || identifier == 0) return ModuleMap::kNone;
  if (identifier >= 0x80) return ModuleMap::kVendor;
  const Identifier row = find<Identifier>(kIdentifiers, identifier);
  return row.name.empty() ? ModuleMap::kUnsupported : row.map;
}

std::string_view form_factor_name(std::uint8_t identifier) {
  return find<Identifier>(kIdentifiers, identifier).name;
}

unsigned form_factor_lanes(std::uint8_t identifier) {
  return find<Identifier>(kIdentifiers, identifier).lanes;
}

std::string_view connector_name(std::uint8_t code) { return find<Code>(kConnectors, code).name; }

ModuleInterface host_interface(std::uint8_t code) {
  return find<ModuleInterface>(kHostInterfaces, code);
}

ModuleInterface media_interface(std::uint8_t media_type, std::uint8_t code) {
  if (media_type == 1) return find<ModuleInterface>(kMultimode, code);
  if (media_type == 2) return find<ModuleInterface>(kSingleMode, code);
  return media_type == 5 ? find<ModuleInterface>(kBaseT, code) : ModuleInterface{};
}

Compliance extended_compliance(std::uint8_t code) { return find<Compliance>(kCompliance, code); }

Fibre fibre_of_lengths(bool single_mode, bool multimode) {
  if (single_mode == multimode) return Fibre::kUnknown;
  return single_mode ? Fibre::kSingleMode : Fibre::kMultimode;
}

std::string_view media_type_name(std::uint8_t media_type) {
  return media_type < kMediaTypes.size() ? kMediaTypes[media_type] : std::string_view{};
}

std::string_view fibre_name(Fibre fibre) {
  return media_type_name(static_cast<std::uint8_t>(fibre));
}

std::string_view fibre_face_name(std::uint8_t code) {
  return code == 1 ? "UPC" : code == 2 ? "APC" : "";
}

std::string_view module_state_name(std::uint8_t state) { return kModuleStates[state & 7U]; }

std::string_view fault_cause_name(std::uint8_t cause) {
  if (cause < kFaultCauses.size()) return kFaultCauses[cause];
  return cause >= 32 && cause <= 63 ? "vendor-specific fault code" : "unknown fault code";
}

std::string_view data_path_state_name(std::uint8_t state) {
  return state < kDataPathStates.size() ? kDataPathStates[state] : kDataPathStates[0];
}

}  // namespace linkhealth
