#include "probes/module/codes.h"

#include <algorithm>
#include <array>
#include <span>

namespace linkhealth {

namespace {

struct Code {
  std::uint8_t code;
  std::string_view name;
};

std::string_view find(std::span<const Code> table, std::uint8_t code) {
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const Code& c) { return c.code == code; });
  return row == table.end() ? std::string_view{} : row->name;
}

struct Identifier {
  std::uint8_t code;
  ModuleMap map;
  std::string_view name;
};

// Every row below was compared with the published text of SFF-8024 rev 4.13 (July 2025), table by
// table; the names are the short ones of the trade. A number that a later revision gave a new
// meaning (1Eh to 21h of table 4-5) has the new one. What the tables list and no network card takes
// (PCIe, OTN, CPRI at the host, PON) is left out.

// Table 4-1.
constexpr Identifier kIdentifiers[] = {
    {0x01, ModuleMap::kSff8472, "GBIC"},        {0x02, ModuleMap::kSff8472, "soldered"},
    {0x03, ModuleMap::kSff8472, "SFP"},         {0x0b, ModuleMap::kIdentityOnly, "DWDM-SFP"},
    {0x0c, ModuleMap::kIdentityOnly, "QSFP"},   {0x0d, ModuleMap::kSff8636, "QSFP+"},
    {0x11, ModuleMap::kSff8636, "QSFP28"},      {0x17, ModuleMap::kSff8636, "microQSFP"},
    {0x18, ModuleMap::kCmis, "QSFP-DD"},        {0x19, ModuleMap::kCmis, "OSFP"},
    {0x1a, ModuleMap::kIdentityOnly, "SFP-DD"}, {0x1b, ModuleMap::kCmis, "DSFP"},
    {0x1e, ModuleMap::kCmis, "QSFP (CMIS)"},    {0x1f, ModuleMap::kCmis, "SFP-DD (CMIS)"},
    {0x20, ModuleMap::kCmis, "SFP (CMIS)"},     {0x21, ModuleMap::kCmis, "OSFP-XD"},
    {0x22, ModuleMap::kCmis, "ELSFP"},          {0x23, ModuleMap::kCmis, "CDFP x4"},
    {0x24, ModuleMap::kCmis, "CDFP x8"},        {0x25, ModuleMap::kCmis, "CDFP x16"},
};

// Table 4-3.
constexpr Code kConnectors[] = {
    {0x01, "SC"},
    {0x02, "FC copper 1"},
    {0x03, "FC copper 2"},
    {0x04, "BNC/TNC"},
    {0x05, "FC coax"},
    {0x06, "Fiberjack"},
    {0x07, "LC"},
    {0x08, "MT-RJ"},
    {0x09, "MU"},
    {0x0a, "SG"},
    {0x0b, "optical pigtail"},
    {0x0c, "MPO-12"},
    {0x0d, "MPO 2x16"},
    {0x20, "HSSDC II"},
    {0x21, "copper pigtail"},
    {0x22, "RJ45"},
    {0x23, "none (cable)"},
    {0x24, "MXC 2x16"},
    {0x25, "CS"},
    {0x26, "SN"},
    {0x27, "MPO 2x12"},
    {0x28, "MPO-16"},
};

// Table 4-5.
constexpr Code kHostInterfaces[] = {
    {0x01, "1G-CX"},
    {0x02, "XAUI"},
    {0x03, "XFI"},
    {0x04, "SFI"},
    {0x05, "25GAUI C2M"},
    {0x06, "XLAUI C2M"},
    {0x07, "XLPPI"},
    {0x08, "LAUI-2 C2M"},
    {0x09, "50GAUI-2 C2M"},
    {0x0a, "50GAUI-1 C2M"},
    {0x0b, "CAUI-4 C2M"},
    {0x0c, "100GAUI-4 C2M"},
    {0x0d, "100GAUI-2 C2M"},
    {0x0e, "200GAUI-8 C2M"},
    {0x0f, "200GAUI-4 C2M"},
    {0x10, "400GAUI-16 C2M"},
    {0x11, "400GAUI-8 C2M"},
    {0x13, "10G-CX4"},
    {0x14, "25G-CR CA-L"},
    {0x15, "25G-CR CA-S"},
    {0x16, "25G-CR CA-N"},
    {0x17, "40G-CR4"},
    {0x18, "50G-CR"},
    {0x19, "100G-CR10"},
    {0x1a, "100G-CR4"},
    {0x1b, "100G-CR2"},
    {0x1c, "200G-CR4"},
    {0x1d, "400G-CR8"},
    {0x1e, "200G-CR1"},
    {0x1f, "400G-CR2"},
    {0x20, "100G LPO"},
    {0x21, "200G LPO"},
    {0x22, "400G LPO"},
    {0x23, "800G LPO"},
    {0x25, "8GFC"},
    {0x26, "10GFC"},
    {0x27, "16GFC"},
    {0x28, "32GFC"},
    {0x29, "64GFC"},
    {0x2a, "128GFC (4 lanes)"},
    {0x2b, "256GFC (4 lanes)"},
    {0x2c, "IB SDR"},
    {0x2d, "IB DDR"},
    {0x2e, "IB QDR"},
    {0x2f, "IB FDR"},
    {0x30, "IB EDR"},
    {0x31, "IB HDR"},
    {0x32, "IB NDR"},
    {0x41, "CAUI-4 C2M, no FEC"},
    {0x42, "CAUI-4 C2M, RS-FEC"},
    {0x43, "50G-CR2, RS-FEC"},
    {0x44, "50G-CR2, BASE-R FEC"},
    {0x45, "50G-CR2, no FEC"},
    {0x46, "100G-CR1"},
    {0x47, "200G-CR2"},
    {0x48, "400G-CR4"},
    {0x49, "800G-CR8"},
    {0x4a, "128GFC"},
    {0x4b, "100GAUI-1-S C2M"},
    {0x4c, "100GAUI-1-L C2M"},
    {0x4d, "200GAUI-2-S C2M"},
    {0x4e, "200GAUI-2-L C2M"},
    {0x4f, "400GAUI-4-S C2M"},
    {0x50, "400GAUI-4-L C2M"},
    {0x51, "800GAUI-8-S C2M"},
    {0x52, "800GAUI-8-L C2M"},
    {0x55, "1.6TAUI-16-S C2M"},
    {0x56, "1.6TAUI-16-L C2M"},
    {0x57, "800G-CR4"},
    {0x58, "1.6T-CR8"},
    {0x74, "CEI-112G-LINEAR-PAM4"},
    {0x80, "200GAUI-1"},
    {0x81, "400GAUI-2"},
    {0x82, "800GAUI-4"},
    {0x83, "1.6TAUI-8"},
    {0x90, "EEI-100G-RTLR-1-S"},
    {0x91, "EEI-100G-RTLR-1-L"},
    {0x92, "EEI-200G-RTLR-2-S"},
    {0x93, "EEI-200G-RTLR-2-L"},
    {0x94, "EEI-400G-RTLR-4-S"},
    {0x95, "EEI-400G-RTLR-4-L"},
    {0x96, "EEI-800G-RTLR-8-S"},
    {0x97, "EEI-800G-RTLR-8-L"},
    {0xa0, "IB XDR"},
};

// Table 4-6.
constexpr Code kMultimode[] = {
    {0x01, "10G-SW"},
    {0x02, "10G-SR"},
    {0x03, "25G-SR"},
    {0x04, "40G-SR4"},
    {0x05, "40G-SWDM4"},
    {0x06, "40G-BiDi"},
    {0x07, "50G-SR"},
    {0x08, "100G-SR10"},
    {0x09, "100G-SR4"},
    {0x0a, "100G-SWDM4"},
    {0x0b, "100G-BiDi"},
    {0x0c, "100G-SR2"},
    {0x0d, "100G-SR1"},
    {0x0e, "200G-SR4"},
    {0x0f, "400G-SR16"},
    {0x10, "400G-SR8"},
    {0x11, "400G-SR4"},
    {0x12, "800G-SR8"},
    {0x1a, "400G-SR4.2"},
    {0x1b, "200G-SR2"},
    {0x1d, "100G-VR1"},
    {0x1e, "200G-VR2"},
    {0x1f, "400G-VR4"},
    {0x20, "800G-VR8"},
    {0x21, "800G-VR4.2"},
    {0x22, "800G-SR4.2"},
    {0x23, "1.6T-VR8.2"},
    {0x24, "1.6T-SR8.2"},
    {0x13, "8GFC"},
    {0x14, "10GFC"},
    {0x15, "16GFC"},
    {0x16, "32GFC"},
    {0x17, "64GFC"},
    {0x1c, "128GFC"},
    {0x18, "128GFC (4 lanes)"},
    {0x19, "256GFC (4 lanes)"},
};

// Table 4-7. The "+" is OpenZR+ in any of its modulations and output ranges. 68h is Open ROADM's
// 8e-DPO there; one published dump of an 800ZR module has it, and fboss reads it as ZR_800G.
constexpr Code kSingleMode[] = {
    {0x01, "10G-LW"},         {0x02, "10G-EW"},       {0x03, "10G-ZW"},
    {0x04, "10G-LR"},         {0x05, "10G-ER"},       {0x06, "10G-ZR"},
    {0x07, "25G-LR"},         {0x08, "25G-ER"},       {0x09, "40G-LR4"},
    {0x0a, "40G-FR"},         {0x0b, "50G-FR"},       {0x0c, "50G-LR"},
    {0x0d, "100G-LR4"},       {0x0e, "100G-ER4"},     {0x0f, "100G-PSM4"},
    {0x10, "100G-CWDM4"},     {0x11, "100G-4WDM-10"}, {0x12, "100G-4WDM-20"},
    {0x13, "100G-4WDM-40"},   {0x14, "100G-DR"},      {0x15, "100G-FR1"},
    {0x16, "100G-LR1"},       {0x17, "200G-DR4"},     {0x18, "200G-FR4"},
    {0x19, "200G-LR4"},       {0x1a, "400G-FR8"},     {0x1b, "400G-LR8"},
    {0x1c, "400G-DR4"},       {0x1d, "400G-FR4"},     {0x1e, "400G-LR4-10"},
    {0x34, "100G-CWDM4-OCP"}, {0x38, "10G-SR"},       {0x39, "10G-LR"},
    {0x3a, "25G-SR"},         {0x3b, "25G-LR"},       {0x3c, "10G-LR-BiDi"},
    {0x3d, "25G-LR-BiDi"},    {0x3e, "400G-ZR"},      {0x3f, "400G-ZR"},
    {0x43, "400G-LR4-6"},     {0x46, "400G-ZR+"},     {0x47, "300G-ZR+"},
    {0x48, "200G-ZR+"},       {0x49, "100G-ZR+"},     {0x55, "400G-DR4-2"},
    {0x56, "800G-DR8"},       {0x57, "800G-DR8-2"},   {0x73, "200G-DR1"},
    {0x75, "400G-DR2"},       {0x77, "800G-DR4"},     {0x1f, "8GFC"},
    {0x20, "10GFC"},          {0x21, "16GFC"},        {0x22, "32GFC"},
    {0x23, "64GFC"},          {0x45, "128GFC"},       {0x24, "128GFC PSM4"},
    {0x26, "128GFC CWDM4"},   {0x35, "400G-ZR+"},     {0x36, "400G-ZR+"},
    {0x37, "400G-ZR+"},       {0x58, "400G-ZR+"},     {0x59, "300G-ZR+"},
    {0x5a, "300G-ZR+"},       {0x5b, "200G-ZR+"},     {0x5c, "200G-ZR+"},
    {0x5d, "100G-ZR+"},       {0x5e, "100G-ZR+"},     {0x40, "50G-ER"},
    {0x41, "200G-ER4"},       {0x42, "400G-ER8"},     {0x44, "100G-ZR"},
    {0x4a, "100G-LR1-20"},    {0x4b, "100G-ER1-30"},  {0x4c, "100G-ER1-40"},
    {0x4d, "400G-ZR"},        {0x4e, "10G-BR"},       {0x4f, "25G-BR"},
    {0x50, "50G-BR"},         {0x68, "800G-ZR"},      {0x6c, "800G-ZR"},
    {0x6d, "800G-ZR"},        {0x6e, "800G-ZR"},      {0x6f, "400G-ER4-30"},
    {0x74, "200G-DR1-2"},     {0x76, "400G-DR2-2"},   {0x78, "800G-DR4-2"},
    {0x79, "800G-FR4-500"},   {0x7a, "800G-FR4"},     {0x7b, "800G-LR4"},
    {0x7c, "800G-LR1"},       {0x7d, "800G-ER1-20"},  {0x7e, "800G-ER1"},
    {0x7f, "1.6T-DR8"},       {0x80, "1.6T-DR8-2"},   {0x8f, "100G-DR1 LPO"},
    {0x90, "200G-DR2 LPO"},   {0x91, "400G-DR4 LPO"}, {0x92, "800G-DR8 LPO"},
};

// Table 4-10.
constexpr Code kBaseT[] = {{1, "1000BASE-T"}, {2, "2.5GBASE-T"}, {3, "5GBASE-T"},
                           {4, "10GBASE-T"},  {5, "25GBASE-T"},  {6, "40GBASE-T"}};

// Table 4-2.
constexpr Code kEncodings[] = {
    {1, "8B/10B"}, {2, "4B/5B"}, {3, "NRZ"}, {7, "256B/257B"}, {8, "PAM4"}};

constexpr std::array<std::string_view, 6> kMediaTypes = {"",       "multimode",    "single-mode",
                                                         "copper", "active cable", "BASE-T"};
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
  if (identifier == 0xff) return ModuleMap::kNone;
  if (identifier >= 0x80) return ModuleMap::kVendor;
  for (const Identifier& row : kIdentifiers)
    if (row.code == identifier) return row.map;
  return identifier == 0 ? ModuleMap::kNone : ModuleMap::kIdentityOnly;
}

std::string_view form_factor_name(std::uint8_t identifier) {
  for (const Identifier& row : kIdentifiers)
    if (row.code == identifier) return row.name;
  return {};
}

std::string_view connector_name(std::uint8_t code) { return find(kConnectors, code); }

std::string_view encoding_name(std::uint8_t code, ModuleMap map) {
  const bool sfp = map == ModuleMap::kSff8472;
  if (code == 4) return sfp ? "Manchester" : "SONET scrambled";
  if (code == 5) return sfp ? "SONET scrambled" : "64B/66B";
  if (code == 6) return sfp ? "64B/66B" : "Manchester";
  return find(kEncodings, code);
}

std::string_view host_interface_name(std::uint8_t code) { return find(kHostInterfaces, code); }

std::string_view media_interface_name(std::uint8_t media_type, std::uint8_t code) {
  if (media_type == 1) return find(kMultimode, code);
  if (media_type == 2) return find(kSingleMode, code);
  if (media_type == 5) return find(kBaseT, code);
  return {};
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
  return cause >= 32 && cause <= 63 ? "maker's own fault code" : "unknown fault code";
}

std::string_view data_path_state_name(std::uint8_t state) {
  return state < kDataPathStates.size() ? kDataPathStates[state] : kDataPathStates[0];
}

}  // namespace linkhealth
