#include "probes/module/dump_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "probes/module/codes.h"
#include "probes/module/screen.h"

namespace linkhealth {

namespace {

constexpr std::size_t kHalf = 128;
constexpr std::size_t kMaxLinear = 1024;
constexpr std::size_t kMaxFile = 1U << 20U;
using RawBytes = std::vector<std::uint8_t>;

std::optional<std::uint8_t> hex_byte(std::string_view text) {
  if (text.size() != 2) return std::nullopt;
  const auto value = parse_hex_or_decimal("0x" + std::string(text));
  return value ? std::optional(static_cast<std::uint8_t>(*value)) : std::nullopt;
}

std::optional<RawBytes> hex_bytes(std::string_view text) {
  RawBytes out;
  if (text.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto byte = hex_byte(text.substr(i, 2));
    if (!byte) return std::nullopt;
    out.push_back(*byte);
  }
  return out;
}

void store_half(ModuleImage& image, const ModulePageKey& key, std::span<const std::uint8_t> bytes) {
  const std::size_t count = std::min(bytes.size(), kHalf);
  if (count == 0) return;
  image.store({key.i2c_address, key.bank, key.page,
               static_cast<std::uint8_t>(key.upper ? kHalf : 0), static_cast<std::uint8_t>(count)},
              bytes.first(count));
}

/// 256 bytes: the lower and the upper half.
void store_both(ModuleImage& image, std::uint8_t address, std::span<const std::uint8_t> bytes) {
  store_half(image, {address, 0, 0, false}, bytes);
  if (bytes.size() > kHalf) store_half(image, {address, 0, 0, true}, bytes.subspan(kHalf));
}

/// "11" or "11.1": page and bank.
std::optional<ModulePageKey> page_key(std::string_view name) {
  const auto parts = split(name, '.');
  const auto page = hex_byte(parts[0]);
  const auto bank = parts.size() == 2 ? parse_u64(parts[1]) : std::optional<std::uint64_t>(0);
  if (!page || !bank || *bank > 255 || parts.size() > 2) return std::nullopt;
  return upper_key(*page, static_cast<std::uint8_t>(*bank));
}

Result<void> store_named(ModuleImage& image, const std::string& name, const RawBytes& bytes) {
  const bool sfp = name == "a0" || name == "a2";
  if (bytes.size() > (sfp ? 2 * kHalf : kHalf))
    return Error{fmt::format("page \"{}\" has {} bytes: a page has {}", printable(name),
                             bytes.size(), sfp ? 2 * kHalf : kHalf)};
  if (sfp) {
    store_both(image, name == "a0" ? kModuleAddressA0 : kModuleAddressA2, bytes);
  } else if (name == "lower") {
    store_half(image, kLowerPage, bytes);
  } else if (const auto key = page_key(name)) {
    store_half(image, *key, bytes);
  } else {
    return Error{fmt::format("\"{}\" is no page: \"a0\", \"a2\", \"lower\" or two hex digits",
                             printable(name))};
  }
  return {};
}

std::size_t bytes_in(const ModuleImage& image, const ModulePageKey& key) {
  const ModuleImage::Half* half = image.half(key);
  return half == nullptr ? 0 : half->present.count();
}

/// Only the identifier distinguishes a module's memory from arbitrary bytes.
Result<void> check_is_module(const ModuleImage& image) {
  const std::size_t lower = bytes_in(image, kLowerPage), page00 = bytes_in(image, upper_key(0));
  if (lower == 0 && page00 == 0) return Error{"neither the lower page nor page 00h is in it"};
  if (lower < kHalf && page00 < kHalf)
    return Error{fmt::format("only {} of the {} bytes of the lower page", lower, kHalf)};
  std::vector<std::string> reasons;
  const ModuleHead head = module_head(screened(image, &reasons));
  const bool known = !form_factor_name(head.identifier).empty() || head.map == ModuleMap::kCmis;
  if (known) return {};
  std::string why =
      reasons.empty()
          ? fmt::format("its first byte, {:02x}h, names no form factor", lower_page(image).code(0))
          : reasons.front().substr(0, reasons.front().rfind(": left out"));
  return Error{why + ": not a module's memory"};
}

Result<ModuleImage> parse_json(std::string_view content) {
  // Deeply nested brackets would exhaust the stack of the library's destructor: a dump has two
  // levels.
  const auto depth_ok = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    return depth < 8;
  };
  const auto json = nlohmann::json::parse(content, depth_ok, false);
  if (json.is_discarded()) return Error{"not valid JSON"};
  if (!json.is_object() || !json.contains("pages") || !json["pages"].is_object())
    return Error{"JSON without a \"pages\" object: not a module dump"};
  ModuleImage image;
  for (const auto& [name, value] : json["pages"].items()) {
    const auto bytes =
        value.is_string() ? hex_bytes(value.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes)
      return Error{fmt::format("page \"{}\" is not a string of hex digits", printable(name))};
    if (auto stored = store_named(image, name, *bytes); !stored) return stored.error();
  }
  if (image.empty()) return Error{"\"pages\" is empty: no module memory in it"};
  if (const auto module = check_is_module(image); !module) return module.error();
  return image;
}

/// The kernel's linear image (ethtool's get_module_eeprom): SFP A0h then A2h; QSFP and CMIS the
/// lower page, then 00h and more pages of 128 bytes, which SFF-8636 numbers 01, 02, 03 and CMIS 01,
/// 02, 10, 11.
Result<ModuleImage> from_linear(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kHalf)
    return Error{fmt::format("only {} bytes: a module's memory has at least 128", bytes.size())};
  if (bytes.size() > kMaxLinear)
    return Error{
        fmt::format("{} bytes: more than any module's memory image, so not one", bytes.size())};
  ModuleImage image;
  store_both(image, kModuleAddressA0, bytes.first(std::min(bytes.size(), 2 * kHalf)));
  if (const auto module = check_is_module(image); !module) return module.error();
  if (bytes.size() <= 2 * kHalf) return image;
  const auto rest = bytes.subspan(2 * kHalf);
  const ModuleMap map = module_head(image).map;
  if (map == ModuleMap::kSff8472) {
    store_both(image, kModuleAddressA2, rest.first(std::min(rest.size(), 2 * kHalf)));
    return image;
  }
  constexpr std::uint8_t kSff8636Pages[] = {0x01, 0x02, 0x03};
  constexpr std::uint8_t kCmisPages[] = {0x01, 0x02, 0x10, 0x11};
  const std::span<const std::uint8_t> pages = map == ModuleMap::kCmis
                                                  ? std::span<const std::uint8_t>(kCmisPages)
                                                  : std::span<const std::uint8_t>(kSff8636Pages);
  for (std::size_t i = 0; i < pages.size() && rest.size() > i * kHalf; ++i)
    store_half(image, upper_key(pages[i]), rest.subspan(i * kHalf));
  return image;
}

/// Text copied from a terminal may have blanks or tabs.
std::vector<std::string_view> split_blanks(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string_view> words;
  for (std::size_t end = 0, at = 0;
       (at = line.find_first_not_of(kBlanks, end)) != std::string_view::npos;) {
    end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
  }
  return words;
}

/// "0x0010:" of ethtool, "00000010" of hexdump and sfputil, "00000010:" of xxd.
std::optional<std::uint64_t> dump_offset(std::string_view word) {
  if (word.ends_with(':')) word.remove_suffix(1);
  if (word.starts_with("0x")) return parse_hex_or_decimal(word);
  constexpr std::size_t kDigits = 8;
  const bool is_hex = word.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  return word.size() == kDigits && is_hex ? parse_hex_or_decimal("0x" + std::string(word))
                                          : std::nullopt;
}

/// The bytes of a line after its offset. hexdump and xxd also print text, after 16 bytes or a bar;
/// xxd groups two bytes.
Result<RawBytes> line_bytes(std::string_view line, std::string_view offset, unsigned number) {
  constexpr std::size_t kMost = 16;
  const bool is_ethtool = offset.starts_with("0x");
  RawBytes out;
  for (const std::string_view word :
       split_blanks(line.substr(offset.size(), line.find('|') - offset.size()))) {
    const auto bytes = is_ethtool && word.size() != 2 ? std::nullopt : hex_bytes(word);
    if (!bytes)
      return Error{
          fmt::format("line {}: \"{}\" is no hex byte", number, printable(word.substr(0, 20)))};
    out.insert(out.end(), bytes->begin(), bytes->end());
    if (!is_ethtool && out.size() >= kMost) break;
  }
  return out;
}

/// Lines of `0x0000:  0d 00 02 …`, skipping a heading ("Offset  Values", dashes) and anything that
/// a shell or a driver wrote before it; or of `hexdump -C`, in which a line of "*" repeats the
/// previous one.
Result<ModuleImage> parse_hex_text(std::string_view content) {
  RawBytes bytes, last;
  unsigned number = 0;
  bool repeats = false;
  for (std::string_view line : split(content, '\n')) {
    ++number;
    line = trim(line);
    if (line.empty() || line.starts_with("Offset") || line.starts_with("---")) continue;
    const auto words = split_blanks(line);
    const auto offset = dump_offset(words.front());
    if (!offset && bytes.empty()) continue;
    repeats = repeats || line == "*";
    if (line == "*") continue;
    if (!offset)
      return Error{fmt::format("line {}: not a line of `ethtool -m DEV hex on`", number)};
    while (repeats && !last.empty() && bytes.size() < std::min<std::uint64_t>(*offset, kMaxLinear))
      bytes.insert(bytes.end(), last.begin(), last.end());
    repeats = false;
    if (*offset != bytes.size())
      return Error{
          fmt::format("line {}: offset {} where {} should follow", number, *offset, bytes.size())};
    const auto more = line_bytes(line, words.front(), number);
    if (!more) return more.error();
    if (!more->empty()) last = *more;
    bytes.insert(bytes.end(), more->begin(), more->end());
  }
  return from_linear(bytes);
}

/// "Lower page 0h", "Upper page 11h", "A0h dump" and "A2h dump" of SONiC's `sfputil`: offsets in a
/// page begin with 0, in an upper half with 80h.
struct SfputilPart {
  ModulePageKey key;  ///< of the first half
  bool both = false;  ///< 256 bytes
};
std::optional<SfputilPart> sfputil_heading(std::string_view line) {
  if (line == "A0h dump") return SfputilPart{{kModuleAddressA0, 0, 0, false}, true};
  if (line == "A2h dump") return SfputilPart{{kModuleAddressA2, 0, 0, false}, true};
  if (line == "Lower page 0h") return SfputilPart{kLowerPage, false};
  constexpr std::string_view kUpper = "Upper page ";
  if (!line.starts_with(kUpper) || !line.ends_with('h')) return std::nullopt;
  const std::string_view digits = line.substr(kUpper.size(), line.size() - kUpper.size() - 1);
  const auto page = parse_hex_or_decimal("0x" + std::string(digits));
  if (!page || *page > 0xff) return std::nullopt;
  return SfputilPart{upper_key(static_cast<std::uint8_t>(*page)), false};
}

constexpr std::string_view kSfputil = "EEPROM hexdump for port";
Result<ModuleImage> parse_sfputil(std::string_view content) {
  ModuleImage image;
  std::optional<SfputilPart> part;
  RawBytes bytes;
  const auto store = [&] {
    if (!part) return;
    if (part->both)
      store_both(image, part->key.i2c_address, bytes);
    else
      store_half(image, part->key, bytes);
    bytes.clear();
  };
  unsigned number = 0, ports = 0;
  for (std::string_view line : split(content, '\n')) {
    ++number;
    line = trim(line);
    if (line.starts_with(kSfputil) && ++ports > 1)
      return Error{fmt::format("line {}: a second port: give one port's dump", number)};
    if (const auto next = sfputil_heading(line)) {
      store();
      part = next;
      continue;
    }
    const auto words = split_blanks(line);
    const auto offset = words.empty() ? std::nullopt : dump_offset(words.front());
    if (!offset || !part) continue;
    const std::size_t expected = bytes.size() + (part->key.upper ? kHalf : 0);
    if (*offset != expected)
      return Error{
          fmt::format("line {}: offset {} where {} should follow", number, *offset, expected)};
    const auto more = line_bytes(line, words.front(), number);
    if (!more) return more.error();
    bytes.insert(bytes.end(), more->begin(), more->end());
  }
  store();
  if (image.empty()) return Error{"no page of a module in it"};
  if (const auto module = check_is_module(image); !module) return module.error();
  return image;
}

bool has_dump_line(std::string_view content) {
  return std::ranges::any_of(split(content, '\n'), [](std::string_view line) {
    const auto words = split_blanks(trim(line));
    return !words.empty() && dump_offset(words.front());
  });
}

bool is_text(std::string_view content) {
  return std::all_of(content.begin(), content.end(), [](char c) {
    return (c >= 0x20 && c <= 0x7e) || c == '\n' || c == '\r' || c == '\t';
  });
}

/// Distinguishes JSON, which is UTF-8 without zero bytes, from a module's memory, which has some.
std::optional<std::string_view> json_text(std::string_view content) {
  const std::string_view text = trim(content);
  return text.starts_with("{") && text.find('\0') == std::string_view::npos ? std::optional(text)
                                                                            : std::nullopt;
}

/// Editors put a mark before UTF-8. No module's memory begins with its first byte.
std::string_view without_byte_order_mark(std::string_view content) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return content.starts_with(kMark) ? content.substr(kMark.size()) : content;
}

}  // namespace

Result<ModuleImage> parse_module_dump(std::string_view content) {
  content = without_byte_order_mark(content);
  if (content.empty()) return Error{"the file is empty"};
  if (const auto json = json_text(content)) return parse_json(*json);
  if (is_text(content)) {
    if (content.find(kSfputil) != std::string_view::npos) return parse_sfputil(content);
    if (has_dump_line(content)) return parse_hex_text(content);
    return Error{
        "not a module dump: neither the JSON of a dump, nor `ethtool -m DEV hex on`, nor `ethtool "
        "-m DEV raw on`, nor `hexdump -C` of it, nor `sfputil show eeprom-hexdump`"};
  }
  return from_linear({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
}

Result<ModuleImage> read_module_dump(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (!file) return errno_error(path, errno);
  std::string content(kMaxFile + 1, '\0');
  content.resize(std::fread(content.data(), 1, content.size(), file.get()));
  if (std::ferror(file.get()) != 0) return errno_error(path, errno);
  if (content.size() > kMaxFile) return Error{path + ": larger than 1 MiB: not a module dump"};
  auto image = parse_module_dump(content);
  if (!image) return Error{path + ": " + image.error().message, image.error().errnum};
  return image;
}

std::vector<std::string> pages_cut_off(const ModuleImage& image) {
  std::vector<std::string> cuts;
  const ModuleMap map = module_head(image).map;
  for (const ModulePageKey& key : image.keys()) {
    const unsigned base = key.upper ? kHalf : 0;
    unsigned there = 0;
    while (there < kHalf && image.byte(key, base + there)) ++there;
    if (there < kHalf)
      cuts.push_back(fmt::format("{} ends after {} of {} bytes: the rest is not known",
                                 page_name(key, map), there, kHalf));
  }
  return cuts;
}

}  // namespace linkhealth
