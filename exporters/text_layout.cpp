#include "exporters/text_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace linkhealth {

namespace {

/// Bytes of the well-formed UTF-8 character at the front of `text`; 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                                                           : 0;
  if (length == 0 || length > text.size())
    return 0;  // four bytes: none of ours, and of no certain width
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) >= 0xa0) return 0;
  return length;
}

/// Letters of which it is certain that a terminal draws them one column wide: Latin, Greek,
/// Cyrillic, punctuation, arrows, mathematics, boxes and shapes. No C1 controls, no zero-width, no
/// bidirectional overrides.
bool one_column(char32_t point) {
  if (point < 0xa0 || point == 0xad) return false;
  if (point < 0x300 || (point >= 0x370 && point < 0x483)) return true;
  if (point >= 0x2010 && point < 0x2028) return true;
  return (point >= 0x2030 && point < 0x2060) || (point >= 0x2070 && point < 0x20d0) ||
         (point >= 0x2190 && point < 0x2800);
}

char32_t decode(std::string_view character) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(character[i]));
  };
  if (character.size() == 2) return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
  return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kAscii = {{{"°", ""},
                                                                                   {"µ", "u"},
                                                                                   {"·", "-"},
                                                                                   {"–", "-"},
                                                                                   {"—", "-"},
                                                                                   {"…", "..."},
                                                                                   {"→", "->"},
                                                                                   {"≥", ">="},
                                                                                   {"≤", "<="},
                                                                                   {"─", "-"},
                                                                                   {"━", "-"},
                                                                                   {"▶", ">"},
                                                                                   {"▲", "!"},
                                                                                   {"’", "'"},
                                                                                   {"±", "+-"}}};

std::string_view ascii_twin(std::string_view character) {
  for (const auto& [sign, twin] : kAscii)
    if (sign == character) return twin;
  return "?";
}

std::string paint(std::string_view text, std::string_view code, const TextStyle& style) {
  if (!style.colour || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace

std::string clean_text(std::string_view text, bool ascii) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    text.remove_prefix(character.size());
    if (character.size() == 1)
      out += length == 1 && character[0] >= 0x20 && character[0] != 0x7f ? character[0] : '?';
    else if (!one_column(decode(character)))
      out += '?';
    else
      out += ascii ? ascii_twin(character) : character;
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string pad_right(std::string_view text, std::size_t width) {
  std::string out(text);
  const std::size_t columns = display_width(text);
  if (columns < width) out.append(width - columns, ' ');
  return out;
}

std::string cut(std::string_view text, std::size_t width, bool ascii) {
  if (display_width(text) <= width) return std::string(text);
  const std::string_view tail = ascii ? "..." : "…";
  if (width <= display_width(tail)) return std::string(width, '.');
  std::size_t room = width - display_width(tail);
  std::size_t end = 0;
  while (end < text.size()) {
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (starts && room-- == 0) break;
    ++end;
  }
  return std::string(trim(text.substr(0, end))) + std::string(tail);
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width)
      lines.push_back(std::exchange(line, {}));
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string duration_words(Milliseconds duration) {
  const double seconds = std::max(0.0, in_seconds(duration));
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  if (seconds < 120) return fmt::format("{:.0f} s", std::floor(seconds));
  if (seconds < 120 * 60) return fmt::format("{:.0f} min", std::floor(seconds / 60));
  if (seconds < 48 * 3600) return fmt::format("{:.0f} h", std::floor(seconds / 3600));
  return fmt::format("{:.0f} d", std::floor(seconds / 86400));
}

std::string instant_words(WallTime time) {
  std::string text = format_rfc3339(std::chrono::floor<std::chrono::seconds>(time));
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text;
}

std::string ago_words(WallTime then, WallTime now) {
  if (then > now) return instant_words(then);
  return fmt::format("{} ago ({})", duration_words(now - then), instant_words(then));
}

std::string ber_words(double ratio) { return ratio == 0 ? "0" : fmt::format("{:.1e}", ratio); }

std::string number_words(double value, std::string_view unit) {
  if (std::isinf(value))
    return value < 0 && unit == "dBm" ? "no light" : value < 0 ? "-inf" : "inf";
  if (unit == "dBm") return fmt::format("{:+.1f}", value);
  if (unit == "dB") return fmt::format("{:.1f}", value);
  const double size = std::fabs(value);
  if (value == std::floor(value) && size < 1e15) return fmt::format("{:.0f}", value);
  if (size < 1e-3 || size >= 1e15) return fmt::format("{:.1e}", value);
  return size >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string quantity_words(double value, std::string_view unit) {
  std::string number = number_words(value, unit);
  if (unit.empty() || number == "no light") return number;
  if (unit == "%") return number + "%";
  return fmt::format("{} {}", number, unit == "C" || unit == "degC" ? "°C" : unit);
}

std::string confidence_words(double confidence) {
  if (confidence >= 0.995) return ">99%";
  return confidence < 0.01 ? "<1%" : fmt::format("{:.0f}%", confidence * 100);
}

std::string speed_words(std::uint32_t speed_mbps) {
  if (speed_mbps < 1000) return fmt::format("{}M", speed_mbps);
  return speed_mbps % 1000 == 0 ? fmt::format("{}G", speed_mbps / 1000)
                                : fmt::format("{:.1f}G", speed_mbps / 1000.0);
}

std::string name_words(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kTradeWords = {
      {{"rx", "Rx"},
       {"tx", "Tx"},
       {"ber", "BER"},
       {"fec", "FEC"},
       {"los", "LOS"},
       {"lol", "LOL"},
       {"nic", "NIC"},
       {"pcie", "PCIe"},
       {"cdr", "CDR"},
       {"snr", "SNR"},
       {"aer", "AER"},
       {"crc", "CRC"}}};
  std::string words;
  for (const std::string_view part : split(name, '_')) {
    if (!words.empty()) words += words.ends_with("pre") || words.ends_with("post") ? '-' : ' ';
    const auto* const found = std::find_if(kTradeWords.begin(), kTradeWords.end(),
                                           [&](const auto& row) { return row.first == part; });
    words += found == kTradeWords.end() ? part : found->second;
  }
  return words;
}

std::string health_words(const PortReport& port) {
  std::string text = name_words(to_string(port.health));
  if (!port.note.empty()) text += ": " + port.note;
  if (port.health != Health::kUnknown || port.gaps.empty()) return text;
  // What leaves a whole port unknown; other gaps stand beside it.
  constexpr std::string_view kGrounds[] = {"rdma_device", "link", "counters", "inventory"};
  const Gap* gap = &port.gaps.front();
  for (const std::string_view probe : kGrounds) {
    const auto at = std::ranges::find(port.gaps, probe, &Gap::probe);
    if (at == port.gaps.end()) continue;
    gap = &*at;
    break;
  }
  return text + (gap->probe == kGrounds[0] ? ": " : fmt::format(": can't read {}: ", gap->probe)) +
         gap->reason;
}

std::optional<double> dbm_from_mw(double power_mw) {
  if (!(power_mw > 0)) return std::nullopt;
  return 10 * std::log10(power_mw);
}

std::string health_sign(Health health, bool ascii) {
  switch (health) {
    case Health::kHealthy:
      return ascii ? "ok" : "●";
    case Health::kAtRisk:
      return ascii ? "~" : "◆";
    case Health::kDegraded:
      return ascii ? "!" : "▲";
    case Health::kDown:
      return ascii ? "X" : "✖";
    case Health::kUnknown:
      return "?";
    case Health::kExempt:
      return ascii ? "o" : "○";
  }
  return "?";
}

std::string paint_health(std::string_view text, Health health, const TextStyle& style) {
  switch (health) {
    case Health::kHealthy:
      return paint(text, "32", style);
    case Health::kAtRisk:
    case Health::kDegraded:
      return paint(text, "1;33", style);
    case Health::kDown:
      return paint(text, "1;31", style);
    case Health::kUnknown:
      return paint(text, "35", style);
    case Health::kExempt:
      return paint(text, "2", style);
  }
  return std::string(text);
}

std::string paint_bold(std::string_view text, const TextStyle& style) {
  return paint(text, "1", style);
}
std::string paint_faint(std::string_view text, const TextStyle& style) {
  return paint(text, "2", style);
}

}  // namespace linkhealth
