#include "probes/module/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "probes/module/values.h"

namespace linkhealth {

namespace {

using Half = ModuleImage::Half;

/// Whether `is(byte, place)` holds for each byte that was read, from `first` on.
template <typename Predicate>
bool all_bytes(const Half& half, Predicate is, std::size_t first = 0) {
  for (std::size_t at = first; at < half.bytes.size(); ++at)
    if (half.present.test(at) && !is(half.bytes.at(at), at)) return false;
  return true;
}
bool all_are(const Half& half, std::uint8_t value, std::size_t first = 0) {
  return all_bytes(
      half, [value](std::uint8_t byte, std::size_t) { return byte == value; }, first);
}

/// A dump may be truncated, and a read may be short: fewer bytes than this prove nothing.
constexpr std::size_t kEnoughBytes = 16;
/// Zeros are implausible only if there are many.
constexpr std::size_t kEnoughZeros = 120;

/// Pages in which a working module cannot have 128 zeros: identity, advertisements, limits, lane
/// states, an SFP's readings.
bool zeros_are_nonsense(const ModulePageKey& key) {
  if (key.i2c_address == kModuleAddressA2) return !key.upper;
  return !key.upper || key.page <= 0x03 || key.page == 0x11;
}

/// SFF-8472 leaves the upper half of A0h to the vendor.
bool is_vendors_own(const ModuleImage& image, const ModulePageKey& key) {
  return key == upper_key(0) && module_head(image).map == ModuleMap::kSff8472;
}

/// Whether each byte that was read is the same on the other page, and at least four of them are not
/// zero, ones or blanks: by chance that happens once in 2^32 times.
bool is_copy(const Half& half, const Half* of) {
  if (of == nullptr || of == &half) return false;
  int distinctive = 0;
  return all_bytes(half,
                   [&](std::uint8_t byte, std::size_t at) {
                     if (byte != 0x00 && byte != 0xff && byte != 0x20) ++distinctive;
                     return of->present.test(at) && of->bytes.at(at) == byte;
                   }) &&
         distinctive >= 4;
}

/// Some modules answer an unsupported page with an earlier copy of the lower one, with the page's
/// number in its last byte. In CMIS's lower page these never change: the identifier, the media type
/// and the first application (CMIS 5.4 tables 8-21 and 8-24), and the major revision (one dump has
/// a copy with 5.1 in a module with 5.0).
bool is_copy_of_lower_page(const ModuleImage& image, const ModulePageKey& key) {
  const ModulePage lower = lower_page(image), page(image, key);
  const auto is_like_lower = [&](unsigned at) {
    const auto byte = lower.byte(at);
    return byte && page.byte(128 + at) == byte;
  };
  constexpr unsigned kConstants[] = {0, 85, 86, 87, 88, 89};
  return lower.code(86) != 0 && page.code(129) >> 4U == lower.code(1) >> 4U &&
         page.byte(255) == key.page && std::ranges::all_of(kConstants, is_like_lower);
}

/// Eight lanes with light never have the same readings as eight others. Without light they do: all
/// lanes of a module that is switched off read the same.
bool driver_ignores_bank(const ModuleImage& image, std::uint8_t bank) {
  constexpr unsigned kReadings = 154, kLength = 48;  // 11h: Tx power, bias, Rx power
  const auto one = upper_page(image, 0x11).raw(kReadings, kLength);
  const auto other = upper_page(image, 0x11, bank).raw(kReadings, kLength);
  // 1, or 0.1 uW, is a receiver without light.
  return one && one == other &&
         std::ranges::any_of(*one, [](char byte) { return byte != 0 && byte != 1; });
}

bool is_wrong(const ModulePage& page, unsigned first, unsigned last, unsigned at) {
  return page.checksum_ok(first, last, at) == false;
}

/// The bytes where a module has its names are not text. Blanks prove nothing: an optical engine
/// next to the ASIC may have no names.
bool has_no_text(const ModulePage& page,
                 std::initializer_list<std::pair<unsigned, unsigned>> texts) {
  ModuleWarnings not_text;
  return std::ranges::all_of(
             texts,
             [&](const auto& text) {
               return read_text(page, text.first, text.second, "", not_text).empty();
             }) &&
         !not_text.empty();
}

/// Page 00h or A0h with only wrong checksums and no names: the bytes are not a module's identity. A
/// driver answered A0h with A2h (bnxt, 2025); only the first byte was the module's.
bool is_no_identity(const ModuleImage& image, const ModulePageKey& key) {
  const ModulePage page(image, key);
  const ModuleMap map = module_head(image).map;
  if (map == ModuleMap::kSff8472 && key == kLowerPage)
    return is_wrong(page, 0, 62, 63) && is_wrong(page, 64, 94, 95) &&
           has_no_text(page, {{20, 16}, {40, 16}, {68, 16}});
  if (key != upper_key(0)) return false;
  if (map == ModuleMap::kSff8636)
    return is_wrong(page, 128, 190, 191) && is_wrong(page, 192, 222, 223) &&
           has_no_text(page, {{148, 16}, {168, 16}, {196, 16}});
  return map == ModuleMap::kCmis && is_wrong(page, 128, 221, 222) &&
         has_no_text(page, {{129, 16}, {148, 16}, {166, 16}});
}

/// SFF-8472: limits and calibration, the part of A2h that never changes, with its sum in byte 95.
constexpr unsigned kA2Constants = 96;

/// Plausible limits of this quantity: alarms at least `least` apart.
bool has_limits(const ModulePage& page, unsigned at, const ModuleQuantity& quantity, double least) {
  ModuleWarnings ignored;
  const Limits limits = read_limits(page, at, quantity, ignored);
  const double low = limits.low_alarm.value_or(quantity.min - 1);
  const double high = limits.high_alarm.value_or(quantity.max + 1);
  return low >= quantity.min && high <= quantity.max && high - low >= least;
}
bool has_value(const ModulePage& page, unsigned at, const ModuleQuantity& quantity) {
  ModuleWarnings ignored;
  return read_value(page, at, quantity, 0, ignored).has_value();
}

/// Some drivers answer A2h with A0h (mqnic, AS5712), others with the A0h of another cage: its bytes
/// 0 and 1 would be a temperature limit of 1 to 12 C. A floating bus returns random bits; checksum,
/// limits and the readings of temperature and supply are then never all right.
std::string why_not_a2(const ModuleImage& image) {
  const ModulePage a0 = lower_page(image), a2 = a2_page(image);
  if (const auto constants = a2.raw(0, kA2Constants);
      constants && constants == a0.raw(0, kA2Constants))
    return "is a copy of A0h: the module does not have it";
  if (!is_wrong(a2, 0, 94, 95)) return {};
  if (a2.u16(0) == a0.u16(0)) return "is an A0h: no readings";
  const bool external = a0.offers(92, 4);  // raw values
  // No module has a smaller range; an estimate.
  constexpr double kLeastC = 10, kLeastV = 0.1;
  const bool possible =
      has_limits(a2, 0, kTemperature.quantity, kLeastC) ||
      has_limits(a2, 8, kSupply.quantity, kLeastV) ||
      (has_value(a2, 96, kTemperature.quantity) && has_value(a2, 98, kSupply.quantity));
  if (external || possible) return {};
  return "has a wrong checksum, impossible limits and impossible readings";
}

/// "" for a page that may be the module's memory.
std::string why_not_memory(const ModuleImage& image, const ModulePageKey& key) {
  const Half& half = *image.half(key);
  const bool is_lower = key == kLowerPage;
  if (is_vendors_own(image, key)) return {};
  if (is_lower ? !half.present.all() : half.present.count() < kEnoughBytes) return {};
  if (all_are(half, 0xff)) return "is all ones: no answer";
  if (zeros_are_nonsense(key) && all_are(half, 0x00) && half.present.count() >= kEnoughZeros)
    return "is all zeros";
  // No memory map has such a page.
  if (is_lower && all_are(half, 0xff, 1)) return "is all ones behind its first byte: no answer";
  if (is_no_identity(image, key)) return "has wrong checksums and no text (read it again)";
  if (key == kA2Page && module_head(image).map == ModuleMap::kSff8472) return why_not_a2(image);
  if (key.i2c_address != kModuleAddressA0 || is_lower) return {};
  if (is_copy(half, image.half(upper_key(0))))
    return "is a copy of page 00h: the module does not have it";
  if (module_head(image).map == ModuleMap::kCmis && is_copy_of_lower_page(image, key))
    return "is a copy of the lower page";
  if (key.bank != 0 && driver_ignores_bank(image, key.bank))
    return "is a copy of bank 0: the driver ignores the bank";
  return {};
}

/// Empty pages that are not decoded (user data, applications, monitors that an SFP does not
/// advertise) are not reported.
bool is_decoded(const ModuleImage& image, ModuleMap map, const ModulePageKey& key) {
  switch (map) {
    case ModuleMap::kSff8472:
      return !key.upper && (key == kLowerPage || lower_page(image).offers(92, 6));
    case ModuleMap::kSff8636:
      return !key.upper || key.page == 0x00 || key.page == 0x03;
    case ModuleMap::kCmis:
      return !key.upper || key.page <= 0x02 || key.page == 0x10 || key.page == 0x11 ||
             key.page == 0x13 || (key.page >= 0x20 && key.page <= 0x27) || key.page == 0x2f;
    default:
      return true;
  }
}

/// INF-8074's DWDM-SFP: some are SFF-8472 modules, as their checksums prove.
bool looks_like_sff8472(const ModulePage& lower) {
  constexpr std::uint8_t kDwdmSfp = 0x0b;
  return lower.byte(0) == kDwdmSfp && lower.checksum_ok(0, 62, 63) == true &&
         lower.checksum_ok(64, 94, 95) == true;
}

/// A vendor's own identifier: treated as CMIS if the revision is valid and page 00h repeats it.
bool looks_like_cmis(const ModuleImage& image, const ModuleHead& head) {
  return head.revision >= 0x30 && head.revision <= 0x5f &&
         upper_page(image, 0).byte(128) == head.identifier;
}

}  // namespace

std::string page_name(const ModulePageKey& key, ModuleMap map) {
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
    const std::string why = why_not_memory(image, key);
    if (why.empty()) continue;
    out.forget(key);
    if (reasons != nullptr && is_decoded(image, map, key))
      reasons->push_back(page_name(key, map) + " " + why + ": left out");
  }
  return out;
}

ModuleHead module_head(const ModuleImage& image) {
  ModuleHead head;
  const ModulePage lower = lower_page(image);
  head.identifier = lower.code(0);
  head.revision = lower.code(1);
  head.map = module_map(head.identifier);
  if (head.map == ModuleMap::kVendor && looks_like_cmis(image, head)) head.map = ModuleMap::kCmis;
  if (looks_like_sff8472(lower)) head.map = ModuleMap::kSff8472;
  if (head.map != ModuleMap::kNone) return head;
  const std::uint8_t copy = upper_page(image, 0).code(128);
  const ModuleMap map = module_map(copy);
  if (map == ModuleMap::kSff8636 || map == ModuleMap::kCmis) return {map, copy, 0, false};
  return head;
}

bool cmis_is_flat(const ModuleImage& image) { return lower_page(image).bit(2, 7).value_or(true); }

namespace {
std::uint8_t advertised_banks(const ModulePage& advert) {
  switch (advert.code(142) & 3U) {
    case 1:
      return 2;
    case 2:
      return 4;
    case 3:
      // Bits 4 to 0: banks after bank 0 (CMIS 5.4 table 8-58). 16 banks exceed every form factor.
      return std::min<std::uint8_t>((advert.code(174) & 0x1fU) + 1, 16);
    default:
      return 1;
  }
}
}  // namespace

std::uint8_t cmis_bank_count(const ModuleImage& image) {
  constexpr unsigned kLanesPerBank = 8;
  const std::uint8_t banks = advertised_banks(upper_page(image, 0x01));
  const unsigned lanes = form_factor_lanes(module_head(image).identifier);
  if (lanes == 0) return banks;
  return static_cast<std::uint8_t>(std::min<unsigned>(banks, std::max(1U, lanes / kLanesPerBank)));
}

std::uint8_t vdm_group_count(const ModuleImage& image) {
  if (cmis_is_flat(image) || !upper_page(image, 0x01).offers(142, 6)) return 0;
  const auto control = upper_page(image, 0x2f).byte(128);
  return control ? static_cast<std::uint8_t>((*control & 3U) + 1) : std::uint8_t{0};
}

}  // namespace linkhealth
