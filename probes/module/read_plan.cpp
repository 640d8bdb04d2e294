#include "probes/module/read_plan.h"

#include <algorithm>

#include "probes/module/maps.h"
#include "probes/module/screen.h"

namespace linkhealth {

namespace {

using Requests = std::vector<ModulePageRequest>;

constexpr std::uint8_t kUpper = 128;
constexpr ModulePageRequest kLowerPage{kModuleAddressA0, 0, 0, 0, 128};
// Parts that move, in as few firmware accesses as hold them (mlx5 reads 48 bytes at a time).
constexpr ModulePageRequest kSff8472Monitors{kModuleAddressA2, 0, 0, 96, 24};
/// SFF-8690: from what it can do to its latched status.
constexpr ModulePageRequest kSff8690Tuning{kModuleAddressA2, 0, 0x02, kUpper, 45};
constexpr ModulePageRequest kSff8636Monitors{kModuleAddressA0, 0, 0, 0, 96};
constexpr ModulePageRequest kCmisMonitors{kModuleAddressA0, 0, 0, 0, 48};
// The first bytes say which map it is: they are read again but never forgotten.
constexpr ModulePageRequest kSff8636Moving{kModuleAddressA0, 0, 0, 3, 93};
constexpr ModulePageRequest kCmisMoving{kModuleAddressA0, 0, 0, 3, 45};

ModulePageRequest upper(std::uint8_t page, std::uint8_t bank = 0, std::uint8_t offset = kUpper,
                        std::uint8_t length = 128) {
  return {kModuleAddressA0, bank, page, offset, length};
}

constexpr ModulePageRequest kVdmControl{kModuleAddressA0, 0, 0x2f, kUpper, 18};
constexpr std::uint8_t kVdmFlagsPerGroup = 32;
/// C-CMIS pages of statistics, as far as they are decoded.
constexpr ModulePageRequest kCoherentFec{kModuleAddressA0, 0, 0x34, kUpper, 60};
constexpr ModulePageRequest kCoherentLink{kModuleAddressA0, 0, 0x35, kUpper, 84};
/// … and of flags, with what the module says to have of them: that whole, so that the copy of
/// another page shows.
constexpr ModulePageRequest kCoherentFlags{kModuleAddressA0, 0, 0x33, kUpper, 3};
constexpr ModulePageRequest kCoherentFlagsOffered{kModuleAddressA0, 0, 0x44, kUpper, 128};
/// Page 13h: whether lanes are looped one by one, and from the pattern generators to the loopbacks.
constexpr std::uint8_t kDiagnosticsPage = 0x13, kTestsOffset = 144, kTestsLength = 40;
/// SFF-8636 page 20h: flags to values (masks between them), and what the parameters are.
constexpr ModulePageRequest kParameterValues{kModuleAddressA0, 0, 0x20, kUpper, 72};
constexpr ModulePageRequest kParameterKinds{kModuleAddressA0, 0, 0x20, 200, 48};

bool sff8472_has_monitors(const ModuleImage& image) {
  const ModulePage a0 = lower_page(image);
  return a0.offers(92, 6) &&
         !a0.offers(92, 2);  // 92.2: the address must be changed first, which we cannot
}

bool sff8636_is_passive_copper(const ModuleImage& image) {
  const auto technology = upper_page(image, 0).byte(147);
  return technology && (*technology >> 4U) >= 0x0a && (*technology >> 4U) <= 0x0b;
}

void sff8472_reads(const ModuleImage& image, ReadScope scope, Requests& out) {
  if (!sff8472_has_monitors(image)) return;
  if (scope == ReadScope::kIdentity) return out.push_back({kModuleAddressA2, 0, 0, 0, 96});
  out.push_back(kSff8472Monitors);
  if (sfp_is_tunable(image)) out.push_back(kSff8690Tuning);
}

void sff8636_reads(const ModuleImage& image, const ModuleHead& head, ReadScope scope,
                   Requests& out) {
  const ModulePage identity = upper_page(image, 0);
  out.push_back(upper(0x00));
  if (!identity.exists() || !head.lower_page_usable) return;
  const bool copper = sff8636_is_passive_copper(image);
  const bool paged = !lower_page(image).bit(2, 2).value_or(true) && !copper;
  const bool parameters = paged && identity.offers(195, 0);
  if (scope == ReadScope::kIdentity) {
    if (paged) out.push_back(upper(0x03));
    if (parameters) out.insert(out.end(), {kParameterKinds, upper(0x21)});
    return;
  }
  if (parameters) out.push_back(kParameterValues);
  if (!copper || identity.offers(220, 5) || identity.offers(220, 4)) {
    out.push_back(kSff8636Monitors);
  }
}

ModulePageRequest vdm_flags(std::uint8_t group, std::uint8_t bank) {
  return upper(0x2c, bank, static_cast<std::uint8_t>(kUpper + kVdmFlagsPerGroup * group),
               kVdmFlagsPerGroup);
}

bool has_descriptor(const ModuleImage& image, std::uint8_t group, std::uint8_t bank) {
  const ModulePage page = upper_page(image, static_cast<std::uint8_t>(0x20 + group), bank);
  for (unsigned i = 0; i < 64; ++i)
    if (page.byte(kUpper + 2 * i + 1).value_or(0) != 0) return true;
  return false;
}

void cmis_identity_reads(const ModuleImage& image, Requests& out) {
  out.push_back(upper(0x00));
  if (cmis_is_flat(image)) return;
  out.push_back(upper(0x01));
  const ModulePage advert = upper_page(image, 0x01);
  if (!advert.exists()) return;
  out.push_back(upper(0x02));
  if (advert.offers(142, 4)) out.push_back(kCoherentFlagsOffered);
  for (std::uint8_t bank = 0; advert.offers(142, 5) && bank < cmis_bank_count(image); ++bank)
    out.push_back(upper(kDiagnosticsPage, bank, kUpper, 1));
  if (!advert.offers(142, 6)) return;
  out.push_back(kVdmControl);
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    for (std::uint8_t group = 0; group < vdm_group_count(image); ++group) {
      out.push_back(upper(static_cast<std::uint8_t>(0x20 + group), bank));
      if (has_descriptor(image, group, bank))
        out.push_back(upper(static_cast<std::uint8_t>(0x28 + group), bank));
    }
}

/// Between the two, 14h:132 to 149 are flags of pattern tests: a read clears them, and whoever
/// tests the line wants them. What the ratios' place holds is what was selected.
void diagnostics_reads(const ModuleImage& image, std::uint8_t bank, Requests& out) {
  out.push_back(upper(0x14, bank, kUpper, 4));
  if (upper_page(image, 0x14, bank).byte(kUpper) == kRatiosSelected)
    out.push_back(upper(0x14, bank, 192, 64));
}

/// What is of lanes is asked for after their states: of a bank that does not answer these nothing
/// else is understood, and its flags stay in the module.
void cmis_lane_reads(const ModuleImage& image, std::uint8_t bank, Requests& out) {
  out.push_back(upper(0x11, bank));
  out.push_back(upper(0x10, bank, kUpper, 16));
  const bool known = upper_page(image, 0x11, bank).exists();
  if (known && cmis_is_tunable(image))
    out.push_back(upper(0x12, bank, 168, 71));  // from the frequencies to the flags
  if (known && cmis_has_network_paths(image))
    out.push_back(upper(0x17, bank));  // whole: a copy of another page shows
  const bool diagnostics = upper_page(image, 0x01).offers(142, 5);
  const std::uint8_t groups = vdm_group_count(image);
  if (diagnostics) out.push_back(upper(kDiagnosticsPage, bank, kTestsOffset, kTestsLength));
  if (diagnostics && groups == 0) diagnostics_reads(image, bank, out);
  for (std::uint8_t group = 0; group < groups && (known || bank == 0); ++group) {
    if (!has_descriptor(image, group, bank)) continue;
    out.push_back(upper(static_cast<std::uint8_t>(0x24 + group), bank));
    out.push_back(vdm_flags(group, bank));
  }
}

void coherent_reads(const ModuleImage& image, Requests& out) {
  if (!upper_page(image, 0x01).offers(142, 4)) return;
  out.insert(out.end(), {kCoherentFec, kCoherentLink});
  const ModulePage offered = upper_page(image, 0x44);
  if (offered.byte(kUpper).value_or(0) != 0 || offered.byte(kUpper + 1).value_or(0) != 0)
    out.push_back(kCoherentFlags);
}

void cmis_reads(const ModuleImage& image, const ModuleHead& head, ReadScope scope, Requests& out) {
  if (!head.lower_page_usable) {
    out.push_back(upper(0x00));
    return;
  }
  if (scope == ReadScope::kIdentity) return cmis_identity_reads(image, out);
  if (cmis_is_flat(image)) return;
  out.push_back(kCmisMonitors);
  if (vdm_group_count(image) != 0) out.push_back(kVdmControl);
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    cmis_lane_reads(image, bank, out);
  coherent_reads(image, out);
}

bool moves(const ModulePageKey& key) {
  if (!key.upper) return false;
  if (key.i2c_address == kModuleAddressA2) return key == kTunablePage;
  const std::uint8_t page = key.page;
  return (page >= 0x10 && page <= 0x14) || page == 0x17 || (page >= 0x24 && page <= 0x27) ||
         page == 0x2c || (page >= 0x33 && page <= 0x35);
}

}  // namespace

std::vector<ModulePageRequest> next_reads(const ModuleImage& raw, ReadScope scope) {
  // The monitors of the lower page were forgotten on purpose, so "the whole lower page" is asked
  // for only while the bytes that never move are not there.
  constexpr ModulePageRequest kLowerRest{kModuleAddressA0, 0, 0, 96, 32};
  if (!raw.answered(kLowerRest) && !raw.answered(kLowerPage)) return {kLowerPage};
  const ModuleImage image = screened(raw, nullptr);
  if (!lower_page(image).exists()) return {};
  ModuleHead head = module_head(image);
  Requests wanted;
  switch (head.map) {
    case ModuleMap::kSff8472:
      sff8472_reads(image, scope, wanted);
      break;
    case ModuleMap::kSff8636:
      sff8636_reads(image, head, scope, wanted);
      break;
    case ModuleMap::kCmis:
      cmis_reads(image, head, scope, wanted);
      break;
    case ModuleMap::kNone:  // the lower page has bytes, only no identifier: page 00h may repeat it
    case ModuleMap::kVendor:  // CMIS when page 00h repeats the identifier
      wanted.push_back(upper(0x00));
      break;
    case ModuleMap::kIdentityOnly:  // the others are said all of by the lower page, or nothing is
                                    // known of them
      if (head.identifier == kQsfpInf8438) wanted.push_back(upper(0x00));
      break;
  }
  std::erase_if(wanted, [&](const ModulePageRequest& request) { return raw.answered(request); });
  return wanted;
}

ModuleImage without_monitors(const ModuleImage& image) {
  ModuleImage out = image;
  const ModuleMap map = module_head(image).map;
  if (map == ModuleMap::kSff8472) {
    out.forget(kSff8472Monitors);
    if (ModulePage(image, kTunablePage).exists()) out.forget(kSff8690Tuning);
  }
  if (map == ModuleMap::kSff8636) {
    out.forget(kSff8636Moving);
    if (upper_page(image, 0x20).byte(kUpper)) out.forget(kParameterValues);
  }
  if (map != ModuleMap::kCmis) return out;
  out.forget(kCmisMoving);
  if (image.answered(kVdmControl) && upper_page(image, 0x2f).exists())
    out.forget({kModuleAddressA0, 0, 0x2f, 144, 2});
  for (const ModulePageKey& key : image.keys()) {
    if (!moves(key)) continue;
    if (key.page != kDiagnosticsPage)
      out.forget(upper(key.page, key.bank));
    else if (ModulePage(image, key).byte(kTestsOffset))  // what did not answer is not asked anew
      out.forget(upper(key.page, key.bank, kTestsOffset, kTestsLength));
  }
  return out;
}

ModuleImage without_limits(const ModuleImage& image) {
  ModuleImage out = image;
  if (module_head(image).map != ModuleMap::kCmis) return out;
  for (const ModulePageKey& key : image.keys())
    if (key.upper && (key.page == 0x02 || (key.page >= 0x28 && key.page <= 0x2b)))
      out.forget(upper(key.page, key.bank));
  return out;
}

std::optional<ModulePageRequest> proof_request(const ModuleImage& raw) {
  const ModuleImage image = screened(raw, nullptr);
  if (!lower_page(image).byte(0)) return std::nullopt;
  constexpr ModulePageRequest kFirstBytes{kModuleAddressA0, 0, 0, 0, 2};
  ModulePageRequest numbers = kFirstBytes;
  switch (module_head(image).map) {  // from the part number to the end of the serial number
    case ModuleMap::kSff8472:
      numbers = {kModuleAddressA0, 0, 0, 40, 44};
      break;
    case ModuleMap::kSff8636:
      numbers = upper(0x00, 0, 168, 44);
      break;
    case ModuleMap::kCmis:
      numbers = upper(0x00, 0, 148, 34);
      break;
    case ModuleMap::kNone:
    case ModuleMap::kVendor:
    case ModuleMap::kIdentityOnly:
      break;  // where its numbers are is not known, and what else is there may move
  }
  const ModulePage page(
      image, {numbers.i2c_address, numbers.bank, numbers.page, numbers.offset >= kUpper});
  return page.raw(numbers.offset, numbers.length) ? numbers : kFirstBytes;
}

std::string why_nothing_known(const ModuleImage& raw) {
  std::vector<std::string> reasons;
  const ModuleImage image = screened(raw, &reasons);
  if (lower_page(image).exists())
    return module_head(image).map == ModuleMap::kNone ? "no data: no identifier" : "";
  if (!lower_page(raw).exists() || reasons.empty()) return "no data";
  return "no data: " + reasons.front().substr(0, reasons.front().rfind(':'));
}

bool identity_is_doubtful(const ModuleImage& image) {
  const ModuleImage kept = screened(image, nullptr);
  const auto is_kept = [&kept](const ModulePageKey& key) { return ModulePage(kept, key).exists(); };
  return std::ranges::any_of(image.keys(), [&](const ModulePageKey& key) {
    return !moves(key) && !may_be_missing(key) && !is_kept(key);
  });
}

}  // namespace linkhealth
