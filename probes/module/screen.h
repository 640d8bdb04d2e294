// Takes out of an image what is not a module's memory though a read of it succeeded: a page of all
// ones, an advertisement page of all zeros, and a page that is only a copy of page 00h (CMIS falls
// back to it when an unsupported page is selected; drivers without banks answer bank 0 for every
// bank) or of the lower page. A page that was read in part is judged by what there is of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/module/codes.h"
#include "probes/module/image.h"

namespace linkhealth {

/// `image` without such pages. Each one that something is decoded from adds a sentence to `reasons`
/// when that is not null.
ModuleImage screened(const ModuleImage& image, std::vector<std::string>* reasons);

/// "page 11h of bank 1", "A2h", "the lower page".
std::string page_name(const ModulePageKey& key, ModuleMap map);

/// What is needed to choose a memory map.
struct ModuleHead {
  ModuleMap map = ModuleMap::kNone;
  std::uint8_t identifier = 0;
  std::uint8_t revision = 0;  ///< CMIS and SFF-8636: byte 1
  bool lower_page_usable =
      true;  ///< false: byte 0 says nothing and the map is known from page 00h's copy of it
};
/// From the lower page; where its identifier says nothing, from the copy in page 00h.
ModuleHead module_head(const ModuleImage& image);

/// Whether a page that is read may be missing, for nothing says that it is there: that is no sign
/// of a bad read.
bool may_be_missing(const ModulePageKey& key);
/// Whether an SFP has a laser that can be tuned, so that there is an A2h page 02h (A0h 65.6).
bool sfp_is_tunable(const ModuleImage& image);
/// CMIS: only the lower page and page 00h exist (byte 2 bit 7).
bool cmis_is_flat(const ModuleImage& image);
/// CMIS: how many banks of eight lanes (01h:142); 1 when not known.
std::uint8_t cmis_bank_count(const ModuleImage& image);
/// Whether its lasers can be tuned, so that there is a page 12h (01h:155.6).
bool cmis_is_tunable(const ModuleImage& image);
/// Whether it has network paths, which several data paths share, so that there are pages 16h and
/// 17h (01h:142.7).
bool cmis_has_network_paths(const ModuleImage& image);
/// CMIS: how many groups of VDM values (2Fh:128); 0 when VDM is not offered.
std::uint8_t vdm_group_count(const ModuleImage& image);

}  // namespace linkhealth
