#include "probes/module/read_plan.h"

#include <algorithm>

#include "probes/module/screen.h"

namespace linkhealth {

namespace {

using Keys = std::vector<ModulePageKey>;

void add_sff8472(const ModuleImage& image, Keys& out) {
  const ModulePage a0 = lower_page(image);
  // 92.2: the address must be changed first, which the kernel does not do.
  if (a0.offers(92, 6) && !a0.offers(92, 2)) out.push_back(kA2Page);
}

void add_sff8636(const ModuleImage& image, const ModuleHead& head, Keys& out) {
  out.push_back(upper_key(0x00));
  const auto technology = upper_page(image, 0).byte(147);
  if (!technology || !head.lower_page_usable) return;
  const bool passive_copper = *technology >> 4U == 0x0a || *technology >> 4U == 0x0b;
  const bool flat = lower_page(image).bit(2, 2).value_or(true);
  if (!flat && !passive_copper) out.push_back(upper_key(0x03));
}

bool has_descriptor(const ModuleImage& image, std::uint8_t group, std::uint8_t bank) {
  const ModulePage page = upper_page(image, static_cast<std::uint8_t>(0x20 + group), bank);
  for (unsigned i = 0; i < 64; ++i)
    if (page.code(129 + 2 * i) != 0) return true;
  return false;
}

void add_cmis(const ModuleImage& image, const ModuleHead& head, Keys& out) {
  out.push_back(upper_key(0x00));
  if (!head.lower_page_usable || cmis_is_flat(image)) return;
  out.push_back(upper_key(0x01));
  const ModulePage advert = upper_page(image, 0x01);
  if (!advert.exists()) return;
  out.push_back(upper_key(0x02));
  if (advert.offers(142, 6)) out.push_back(upper_key(0x2f));
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank) {
    for (const std::uint8_t page : {std::uint8_t{0x11}, std::uint8_t{0x10}})
      out.push_back(upper_key(page, bank));
    if (advert.offers(142, 5)) out.push_back(upper_key(0x13, bank));
    for (std::uint8_t group = 0; group < vdm_group_count(image); ++group) {
      out.push_back(upper_key(static_cast<std::uint8_t>(0x20 + group), bank));
      if (has_descriptor(image, group, bank))
        out.push_back(upper_key(static_cast<std::uint8_t>(0x24 + group), bank));
    }
  }
}

bool changes(ModuleMap map, const ModulePageKey& key) {
  if (map == ModuleMap::kSff8472) return key == kA2Page;
  if (map == ModuleMap::kSff8636) return key == kLowerPage;
  if (map != ModuleMap::kCmis) return false;
  return key == kLowerPage || key.page == 0x10 || key.page == 0x11 || key.page == 0x13 ||
         (key.page >= 0x24 && key.page <= 0x27) || key.page == 0x2f;
}

}  // namespace

Keys next_reads(const ModuleImage& raw) {
  if (!raw.answered(kLowerPage)) return {kLowerPage};
  const ModuleImage image = screened(raw, nullptr);
  if (!lower_page(image).exists()) return {};
  const ModuleHead head = module_head(image);
  Keys wanted;
  switch (head.map) {
    case ModuleMap::kSff8472:
      add_sff8472(image, wanted);
      break;
    case ModuleMap::kSff8636:
      add_sff8636(image, head, wanted);
      break;
    case ModuleMap::kCmis:
      add_cmis(image, head, wanted);
      break;
    case ModuleMap::kNone:    // the lower page has bytes, but no identifier: page 00h may repeat it
    case ModuleMap::kVendor:  // CMIS if page 00h repeats the identifier
      wanted.push_back(upper_key(0x00));
      break;
    case ModuleMap::kUnsupported:
      break;
  }
  std::erase_if(wanted, [&](const ModulePageKey& key) { return raw.answered(key); });
  return wanted;
}

ModuleImage without_monitors(const ModuleImage& image) {
  ModuleImage out = image;
  const ModuleMap map = module_head(image).map;
  for (const ModulePageKey& key : image.keys())
    if (changes(map, key)) out.forget(key);
  return out;
}

std::optional<ModulePageRequest> identity_request(const ModuleImage& raw) {
  const ModuleImage image = screened(raw, nullptr);
  if (!lower_page(image).byte(0)) return std::nullopt;
  constexpr ModulePageRequest kFirstBytes{kModuleAddressA0, 0, 0, 0, 2};
  ModulePageRequest numbers = kFirstBytes;
  // From the part number to the end of the serial number.
  const ModuleMap map = module_head(image).map;
  if (map == ModuleMap::kSff8472) numbers = {kModuleAddressA0, 0, 0, 40, 44};
  if (map == ModuleMap::kSff8636) numbers = {kModuleAddressA0, 0, 0, 168, 44};
  if (map == ModuleMap::kCmis) numbers = {kModuleAddressA0, 0, 0, 148, 34};
  const ModulePage page(image, numbers.key());
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
  const ModuleMap map = module_head(image).map;
  const ModuleImage kept = screened(image, nullptr);
  return std::ranges::any_of(image.keys(), [&](const ModulePageKey& key) {
    return key.bank == 0 && !changes(map, key) && kept.half(key) == nullptr;
  });
}

}  // namespace linkhealth
