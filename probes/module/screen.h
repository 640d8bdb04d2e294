// Removes from an image what is not a module's memory although its read succeeded: a page of all
// ones, an advertisement of all zeros, a page that only copies page 00h (CMIS selects it for an
// unsupported page), the lower page, or bank 0 (drivers that ignore the bank), an identity with
// wrong checksums and no names, and an A2h that is an A0h or contradicts itself. The only code that
// doubts whole pages. Also determines an image's memory map and what CMIS advertises.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/module/codes.h"
#include "probes/module/image.h"

namespace linkhealth {

/// `image` without such pages. For each one that is decoded, adds a sentence to `reasons` (unless
/// null).
ModuleImage screened(const ModuleImage& image, std::vector<std::string>* reasons);

/// "page 11h of bank 1", "A2h", "the lower page".
std::string page_name(const ModulePageKey& key, ModuleMap map);

/// What is needed to select a memory map.
struct ModuleHead {
  ModuleMap map = ModuleMap::kNone;
  std::uint8_t identifier = 0;
  std::uint8_t revision = 0;      ///< CMIS and SFF-8636: byte 1
  bool lower_page_usable = true;  ///< false: only page 00h's copy of the identifier shows the map
};
ModuleHead module_head(const ModuleImage& image);

/// CMIS: only the lower page and page 00h exist (byte 2 bit 7).
bool cmis_is_flat(const ModuleImage& image);
/// CMIS: banks of eight lanes (01h:142), limited to the form factor's lanes; 1 if unknown.
std::uint8_t cmis_bank_count(const ModuleImage& image);
/// CMIS: groups of VDM values (2Fh:128); 0 when VDM is not offered.
std::uint8_t vdm_group_count(const ModuleImage& image);

}  // namespace linkhealth
