#include "probes/kernel_record.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr std::size_t kMaxText = 1000;
constexpr std::uint64_t kMaxMicroseconds = 1'000'000'000'000'000;  // 31 years

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

/// The kernel writes control bytes, bytes above 126 and the backslash as \xNN.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x') {
      const auto high = hex_digit(text[i + 2]);
      const auto low = hex_digit(text[i + 3]);
      if (high && low) {
        out.push_back(static_cast<char>(*high * 16 + *low));
        i += 3;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

std::string clean(std::string_view text) { return printable(unescaped(text.substr(0, kMaxText))); }

bool is_word_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-' || c == '.';
}

/// "0000:1b:00.0" at the start of `text`; a domain has four digits, or eight behind some bridges
/// (vmd: "10000").
std::size_t pci_address_length(std::string_view text) {
  std::size_t domain = 0;
  while (domain < text.size() && domain < 8 && hex_digit(text[domain])) ++domain;
  if (domain < 4 || text.size() < domain + 8) return 0;
  const auto hex = [&](std::size_t at) { return hex_digit(text[domain + at]).has_value(); };
  const bool fits = text[domain] == ':' && hex(1) && hex(2) && text[domain + 3] == ':' && hex(4) &&
                    hex(5) && text[domain + 6] == '.' && text[domain + 7] >= '0' &&
                    text[domain + 7] <= '7';
  return fits ? domain + 8 : 0;
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
  record.level = static_cast<std::uint32_t>(*prefix % 8);
  record.facility = static_cast<std::uint32_t>(*prefix / 8);
  record.sequence = *sequence;
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
