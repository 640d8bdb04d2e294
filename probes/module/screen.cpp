#include "probes/module/screen.h"

#include <fmt/format.h>

#include <algorithm>

namespace linkhealth {

namespace {

/// What was read of half a page. Dumps have it whole; the plan reads of most pages only what is
/// decoded.
struct Part {
  const ModuleImage::Half& half;

  [[nodiscard]] bool is_whole() const { return half.present.all(); }
  /// Whether `is` holds for each byte that was read, from the one at `first` on; it is given the
  /// byte and its place.
  template <typename Predicate>
  [[nodiscard]] bool all(Predicate is, std::size_t first = 0) const {
    for (std::size_t at = first; at < half.bytes.size(); ++at)
      if (half.present.test(at) && !is(half.bytes.at(at), at)) return false;
    return true;
  }
  [[nodiscard]] bool all_are(std::uint8_t value, std::size_t first = 0) const {
    return all([value](std::uint8_t byte, std::size_t) { return byte == value; }, first);
  }
};

/// Bytes that are enough to judge a page by. The shortest that must be judged are the controls of
/// 10h and what stays of 2Fh between two rounds, both of 16. Less may be all ones by right: 13h:128
/// alone, the three bytes of flags of 33h (44h is read whole to judge these), the four of 14h that
/// come before the ratios are asked for.
constexpr std::size_t kEnoughBytes = 16;
/// Zeros are nonsense only where there are very many. All that the plan reads of an SFP's A2h:
/// limits, calibration, readings, states and flags; without readings the limits alone may not be
/// written.
constexpr std::size_t kEnoughZeros = 120;

/// The lower page is judged only whole, as it is read first: what is forgotten of it before each
/// round is no reason to see it otherwise.
bool can_be_judged(const ModulePageKey& key, const Part& part) {
  if (key.i2c_address == kModuleAddressA0 && !key.upper) return part.is_whole();
  return part.half.present.count() >= kEnoughBytes;
}

/// Pages where a module that works cannot have 128 zeros: identity, advertisements, limits, lane
/// states.
bool zeros_are_nonsense(const ModulePageKey& key) {
  if (key.i2c_address == kModuleAddressA2) return !key.upper;
  return !key.upper || key.page <= 0x03 || key.page == 0x11;
}

/// Pages of a bank that differ from those of bank 0 where there is light: they hold states and
/// readings. Descriptors and limits name a lane of their bank and are mostly the same.
bool holds_readings(const ModulePageKey& key) {
  return key.page == 0x11 || key.page == 0x14 || (key.page >= 0x24 && key.page <= 0x27);
}

/// The readings of eight lanes with light are never the same as those of eight others. Without
/// light they are: all lanes of a module that is switched off say the same.
bool driver_ignores_bank(const ModuleImage& image, std::uint8_t bank) {
  constexpr unsigned kReadings = 154,
                     kReadingsLength = 48;  // 11h: power sent, bias, power received
  const auto one = upper_page(image, 0x11).raw(kReadings, kReadingsLength);
  const auto other = upper_page(image, 0x11, bank).raw(kReadings, kReadingsLength);
  const auto is_light = [](char byte) {
    return byte != 0 && byte != 1;
  };  // 0.1 uW: a receiver without light
  return one && one == other && std::any_of(one->begin(), one->end(), is_light);
}

/// SFF-8472's upper half of A0h is the maker's own, whatever is in it.
bool is_makers_own(const ModuleImage& image, const ModulePageKey& key) {
  return key.i2c_address == kModuleAddressA0 && key.upper && key.page == 0 && key.bank == 0 &&
         module_map(lower_page(image).byte(0).value_or(0)) == ModuleMap::kSff8472;
}

/// Bytes that make a page known again: not zero, not ones and not the blanks of a text.
bool is_telling(std::uint8_t byte) { return byte != 0x00 && byte != 0xff && byte != 0x20; }
constexpr int kEnoughTelling = 4;  ///< by chance they are the same once in 2^32 times

/// Bytes of page 11h that a read clears: of two reads of one page the second has others there.
bool is_latched(const ModulePageKey& key, std::size_t at) {
  constexpr std::size_t kFirst = 134 - 128, kLast = 153 - 128;
  return key.upper && key.page == 0x11 && at >= kFirst && at <= kLast;
}

/// Each byte that was read, but for latched ones of `of`, is the same on the other page.
bool is_same(const Part& part, const ModuleImage::Half& other, const ModulePageKey& of) {
  return part.all([&](std::uint8_t byte, std::size_t at) {
    return is_latched(of, at) || (other.present.test(at) && byte == other.bytes.at(at));
  });
}

/// A part of another page must have bytes that are its own: a vendor's name that is blank is like
/// controls that nobody has set.
bool is_copy(const ModuleImage& image, const Part& part, const ModulePageKey& of) {
  const ModuleImage::Half* other = image.half(of);
  if (other == nullptr || other == &part.half || !is_same(part, *other, of)) return false;
  int telling = 0;
  for (std::size_t at = 0; at < part.half.bytes.size(); ++at)
    if (part.half.present.test(at) && is_telling(part.half.bytes.at(at))) ++telling;
  return part.is_whole() || telling >= kEnoughTelling;
}

/// Of CMIS's lower page what tells a module and never moves: the identifier, the media type and the
/// first application (CMIS 5.4 tables 8-21 and 8-24), and the revision's first digit. Later
/// applications may be others at another time, and one of two dumps has a copy that says 5.1 in a
/// module that says 5.0.
constexpr std::size_t kLowerConstants[] = {0, 85, 86, 87, 88, 89};
constexpr std::size_t kRevisionAt = 1, kPageSelectAt = 127;

/// Some modules answer a page with the lower one as it stood, the page's own number in its last
/// byte. Of a page of which not all of the constants were read nothing is said: without them any
/// flags may be so.
bool is_lower_page(const ModuleImage& image, const ModulePageKey& key, const Part& part) {
  const ModuleImage::Half* lower = image.half({kModuleAddressA0, 0, 0, false});
  if (lower == nullptr) return false;
  const auto has = [&](std::size_t at) {
    return part.half.present.test(at) && lower->present.test(at);
  };
  const auto is_like_lower = [&](std::size_t at) {
    return has(at) && part.half.bytes.at(at) == lower->bytes.at(at);
  };
  const auto tells = [&](std::size_t at) { return is_telling(part.half.bytes.at(at)); };
  const bool same_revision = has(kRevisionAt) && part.half.bytes.at(kRevisionAt) >> 4U ==
                                                     lower->bytes.at(kRevisionAt) >> 4U;
  const bool selects_itself =
      !part.half.present.test(kPageSelectAt) || part.half.bytes.at(kPageSelectAt) == key.page;
  return same_revision && selects_itself && std::ranges::all_of(kLowerConstants, is_like_lower) &&
         std::ranges::count_if(kLowerConstants, tells) >= kEnoughTelling;
}

std::string why_not_memory(const ModuleImage& image, const ModulePageKey& key, const Part& part) {
  if (is_makers_own(image, key) || !can_be_judged(key, part)) return {};
  if (part.all_are(0xff)) return "is all ones: nobody answered";
  const bool all_zeros = part.all_are(0x00);
  if (zeros_are_nonsense(key) && all_zeros && part.half.present.count() >= kEnoughZeros)
    return "is all zeros";
  // No map has a lower page of ones alone, whatever form factor its first byte names: the bus
  // floated behind it.
  if (key.i2c_address == kModuleAddressA0 && !key.upper && part.all_are(0xff, 1))
    return "is all ones behind its first byte: nobody answered";
  if (key.i2c_address != kModuleAddressA0 || !key.upper) return {};
  if (is_copy(image, part, {kModuleAddressA0, 0, 0, true}))
    return "is a copy of page 00h: the module does not have it";
  if (module_head(image).map == ModuleMap::kCmis && is_lower_page(image, key, part))
    return "is a copy of the lower page";
  if (key.bank != 0 && holds_readings(key) && !all_zeros &&
      is_copy(image, part, {kModuleAddressA0, 0, key.page, true}) &&
      driver_ignores_bank(image, key.bank))
    return "is a copy of bank 0: the driver ignores the bank";
  return {};
}

/// Whether anything is decoded from a page. Of those of the user, of applications that we don't
/// read and of monitors that an SFP says it does not have, nobody needs to hear that they are
/// empty: mostly they are.
bool is_decoded(const ModuleImage& image, ModuleMap map, const ModulePageKey& key) {
  switch (map) {
    case ModuleMap::kSff8472:
      if (key == kTunablePage) return sfp_is_tunable(image);
      return !key.upper && (key.i2c_address == kModuleAddressA0 || lower_page(image).offers(92, 6));
    case ModuleMap::kSff8636:
      return !key.upper || key.page == 0x00 || key.page == 0x03 || key.page == 0x20 ||
             key.page == 0x21;
    case ModuleMap::kCmis:
      return !key.upper || (key.page != 0x03 && !may_be_missing(key));
    default:
      return true;
  }
}

/// A maker's own identifier: taken for CMIS when the revision is one and page 00h repeats the
/// identifier.
bool looks_like_cmis(const ModuleImage& image, std::uint8_t identifier, std::uint8_t revision) {
  return revision >= 0x30 && revision <= 0x5f && upper_page(image, 0).byte(128) == identifier;
}

}  // namespace

std::string page_name(const ModulePageKey& key, ModuleMap map) {
  if (key.i2c_address == kModuleAddressA2 && key.page != 0)
    return fmt::format("A2h page {:02x}h", key.page);
  if (key.i2c_address == kModuleAddressA2) return key.upper ? "A2h, upper half" : "A2h";
  if (map == ModuleMap::kSff8472) return key.upper ? "A0h, upper half" : "A0h";
  if (!key.upper) return "the lower page";
  return key.bank == 0 ? fmt::format("page {:02x}h", key.page)
                       : fmt::format("page {:02x}h of bank {}", key.page, key.bank);
}

ModuleImage screened(const ModuleImage& image, std::vector<std::string>* reasons) {
  ModuleImage out = image;
  const ModuleMap map = module_head(image).map;
  for (const ModulePageKey& key : image.keys()) {
    const std::string why = why_not_memory(image, key, {*image.half(key)});
    if (why.empty()) continue;
    out.drop(key);
    if (reasons != nullptr && is_decoded(image, map, key))
      reasons->push_back(page_name(key, map) + " " + why + ": left out");
  }
  return out;
}

ModuleHead module_head(const ModuleImage& image) {
  ModuleHead head;
  const ModulePage lower = lower_page(image);
  head.identifier = lower.byte(0).value_or(0);
  head.revision = lower.byte(1).value_or(0);
  head.map = module_map(head.identifier);
  if (head.map == ModuleMap::kVendor && looks_like_cmis(image, head.identifier, head.revision))
    head.map = ModuleMap::kCmis;
  if (head.map != ModuleMap::kNone) return head;
  const std::uint8_t copy = upper_page(image, 0).byte(128).value_or(0);
  const ModuleMap map = module_map(copy);
  if (map == ModuleMap::kSff8636 || map == ModuleMap::kCmis) return {map, copy, 0, false};
  return head;
}

/// C-CMIS: that pages 30h to 4Fh are "(partially) supported" is all that CMIS has of them (5.4
/// table 8-47).
bool may_be_missing(const ModulePageKey& key) {
  constexpr std::uint8_t kOfferedFlagsPage = 0x44;
  return key.i2c_address == kModuleAddressA0 && key.upper && key.page == kOfferedFlagsPage;
}

bool sfp_is_tunable(const ModuleImage& image) { return lower_page(image).offers(65, 6); }

bool cmis_is_flat(const ModuleImage& image) { return lower_page(image).bit(2, 7).value_or(true); }

bool cmis_is_tunable(const ModuleImage& image) {
  return !cmis_is_flat(image) && upper_page(image, 0x01).offers(155, 6);
}

bool cmis_has_network_paths(const ModuleImage& image) {
  constexpr std::uint8_t kCmis5_1 = 0x51;  // the bit was reserved before
  return !cmis_is_flat(image) && lower_page(image).byte(1).value_or(0) >= kCmis5_1 &&
         upper_page(image, 0x01).offers(142, 7);
}

std::uint8_t cmis_bank_count(const ModuleImage& image) {
  const ModulePage advert = upper_page(image, 0x01);
  switch (advert.byte(142).value_or(0) & 3U) {
    case 1:
      return 2;
    case 2:
      return 4;
    case 3:
      // Bits 4 to 0: how many more than bank 0 (CMIS 5.4 table 8-58). 16 banks are more than any
      // form factor has.
      return std::min<std::uint8_t>((advert.byte(174).value_or(0) & 0x1fU) + 1, 16);
    default:
      return 1;
  }
}

std::uint8_t vdm_group_count(const ModuleImage& image) {
  if (cmis_is_flat(image) || !upper_page(image, 0x01).offers(142, 6)) return 0;
  const auto control = upper_page(image, 0x2f).byte(128);
  return control ? static_cast<std::uint8_t>((*control & 3U) + 1) : std::uint8_t{0};
}

}  // namespace linkhealth
