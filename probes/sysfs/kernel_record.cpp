#include "probes/sysfs/kernel_record.h"

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr std::size_t kMaxText = 1000;
constexpr std::uint64_t kMaxMicroseconds = 1'000'000'000'000'000;  // 31 years

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

/// The kernel writes control bytes, bytes above 126 and the backslash as \xNN.
std::string unescaped(std::string_view text) {
  std::string out;
  for (; !text.empty(); text.remove_prefix(1)) {
    const bool escaped =
        text.size() > 3 && text.starts_with("\\x") && is_hex(text[2]) && is_hex(text[3]);
    if (!escaped) {
      out.push_back(text.front());
      continue;
    }
    const auto code = parse_hex_or_decimal("0x" + std::string(text.substr(2, 2)));
    out.push_back(static_cast<char>(code.value_or(0)));
    text.remove_prefix(3);
  }
  return out;
}

std::string clean(std::string_view text) { return printable(unescaped(text.substr(0, kMaxText))); }

bool is_word_byte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

/// The length of "0000:1b:00.0" at the start of `text`, or 0; a domain has four digits, or up to
/// eight behind some bridges (vmd: "10000").
std::size_t pci_address_length(std::string_view text) {
  constexpr std::string_view kAfterDomain = ":hh:hh.d";
  std::size_t domain = 0;
  while (domain < std::min<std::size_t>(text.size(), 8) && is_hex(text[domain])) ++domain;
  if (domain < 4 || text.size() < domain + kAfterDomain.size()) return 0;
  for (std::size_t i = 0; i < kAfterDomain.size(); ++i) {
    const char c = text[domain + i];
    const bool fits = kAfterDomain[i] == 'h'   ? is_hex(c)
                      : kAfterDomain[i] == 'd' ? c >= '0' && c <= '7'
                                               : c == kAfterDomain[i];
    if (!fits) return 0;
  }
  return domain + kAfterDomain.size();
}

}  // namespace

Result<KernelRecord> parse_kernel_record(std::string_view bytes) {
  const Error bad{"not a record of the kernel log", EBADMSG};
  const auto semicolon = bytes.find(';');
  if (semicolon == std::string_view::npos) return bad;
  // "prefix,sequence,microseconds,flags[,more…]": newer kernels append fields.
  const auto fields = split(bytes.substr(0, semicolon), ',');
  if (fields.size() < 4) return bad;
  const auto prefix = parse_u64(fields[0]);
  const auto sequence = parse_u64(fields[1]);
  const auto microseconds = parse_u64(fields[2]);
  if (!prefix || *prefix > 0xffff || !sequence || !microseconds || *microseconds > kMaxMicroseconds)
    return bad;
  KernelRecord record;
  record.facility = static_cast<std::uint32_t>(*prefix / 8);
  record.t = SteadyTime(Milliseconds(*microseconds / 1000));
  const auto lines = split(bytes.substr(semicolon + 1), '\n');
  record.text = clean(lines.front());
  for (const std::string_view line : lines)
    if (line.starts_with(" DEVICE=")) record.device = clean(line.substr(8));
  return record;
}

std::vector<std::string> pci_addresses_in(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && is_word_byte(text[i - 1])) continue;
    const std::size_t length = pci_address_length(text.substr(i));
    if (length == 0) continue;
    found.emplace_back(text.substr(i, length));
    i += length - 1;
  }
  return found;
}

bool has_word(std::string_view text, std::string_view name) {
  if (name.empty()) return false;
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word_byte(text[at - 1])) &&
        (end == text.size() || !is_word_byte(text[end])))
      return true;
  }
  return false;
}

}  // namespace linkhealth
