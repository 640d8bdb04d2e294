#include "exporters/text/text_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace linkhealth {

namespace {

/// Characters that every terminal draws in one column: Latin, Greek, Cyrillic, punctuation, arrows,
/// mathematics, boxes and shapes; no C1 controls, zero-width characters or bidirectional overrides.
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

constexpr std::pair<std::string_view, std::string_view> kAscii[] = {
    {"°", ""},    {"µ", "u"},  {"·", "-"},  {"–", "-"},  {"—", "-"},
    {"…", "..."}, {"→", "->"}, {"≥", ">="}, {"≤", "<="}, {"─", "-"},
    {"━", "-"},   {"▶", ">"},  {"▲", "!"},  {"’", "'"},  {"±", "+-"}};

std::string_view ascii_equivalent(std::string_view character) {
  for (const auto& [sign, ascii] : kAscii)
    if (sign == character) return ascii;
  return "?";
}

struct Look {
  std::string_view sign, ascii_sign, colour;
};
/// In the order of Health. Colours as parameters of ECMA-48 SGR.
constexpr std::array<Look, 6> kLooks = {{{"●", "ok", "32"},
                                         {"◆", "~", "1;33"},
                                         {"▲", "!", "1;33"},
                                         {"✖", "X", "1;31"},
                                         {"?", "?", "35"},
                                         {"○", "o", "2"}}};
const Look& look_of(Health health) { return kLooks.at(static_cast<std::size_t>(health)); }

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
    else if (character.size() > 3 || !one_column(decode(character)))
      out += '?';
    else
      out += ascii ? ascii_equivalent(character) : character;
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

std::string paragraph(std::string_view head, std::size_t indent, std::string_view text,
                      std::size_t width) {
  std::string out;
  for (const std::string& line : wrap(text, width > indent + 20 ? width - indent : 20))
    out += (out.empty() ? std::string(head) : std::string(indent, ' ')) + line + "\n";
  return out;
}

std::vector<std::string> align_columns(std::vector<std::vector<std::string>> rows,
                                       std::size_t indent, std::size_t width, bool ascii) {
  constexpr std::size_t kNarrowest = 12;
  std::vector<std::size_t> widths(rows.empty() ? 0 : rows.front().size());
  for (auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = clean_text(row[i], ascii);
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  std::size_t total = indent;
  for (const std::size_t each : widths) total += each + 2;
  total -= std::min<std::size_t>(total, 2);
  for (std::size_t i = widths.size(); i-- > 1 && total > width;) {
    const std::size_t spare = widths[i] > kNarrowest ? widths[i] - kNarrowest : 0;
    const std::size_t less = std::min(spare, total - width);
    widths[i] -= less;
    total -= less;
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i)
      line += pad_right(cut(row[i], widths[i], ascii), widths[i]) + "  ";
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::size_t usable_width(const TextStyle& style) {
  return static_cast<std::size_t>(std::clamp(style.width_columns, 40, 1000));
}

std::string join_parts(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : std::string(separator)) + part;
  return text;
}

std::string capitalize(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string count_of(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : noun.ends_with('s') ? "es" : "s");
}

std::string format_duration(Milliseconds duration) {
  const double seconds = std::max(0.0, in_seconds(duration));
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  if (seconds < 120) return fmt::format("{:.0f} s", std::floor(seconds));
  if (seconds < 120 * 60) return fmt::format("{:.0f} min", std::floor(seconds / 60));
  if (seconds < 48 * 3600) return fmt::format("{:.0f} h", std::floor(seconds / 3600));
  return fmt::format("{:.0f} d", std::floor(seconds / 86400));
}

std::string format_instant(WallTime time) {
  std::string text = format_rfc3339(std::chrono::floor<std::chrono::seconds>(time));
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text;
}

std::string format_ago(WallTime then, WallTime now) {
  if (then > now) return format_instant(then);
  return fmt::format("{} ago ({})", format_duration(now - then), format_instant(then));
}

std::string format_lasting(WallTime since, WallTime now) {
  const std::string begin = "since " + format_instant(since);
  return since > now ? begin : fmt::format("for {}, {}", format_duration(now - since), begin);
}

std::string format_ber(double ratio) { return ratio == 0 ? "0" : fmt::format("{:.1e}", ratio); }

std::string format_quantity_value(double value, std::string_view unit) {
  if (std::isinf(value))
    return value < 0 && unit == "dBm" ? "no light" : value < 0 ? "-inf" : "inf";
  const bool is_power = unit == "dBm" || unit == "dB";
  if (value == 0 || (is_power && std::fabs(value) < 0.05)) value = 0;  // not "-0.0"
  if (unit == "dBm") return fmt::format("{:+.1f}", value);
  if (unit == "dB") return fmt::format("{:.1f}", value);
  if (unit == "Mb/s" && value >= 0) return format_speed(static_cast<std::uint32_t>(value));
  const double size = std::fabs(value);
  if (value == std::floor(value) && size < 1e15) return fmt::format("{:.0f}", value);
  if (unit == "C" || unit == "degC") return fmt::format("{:.1f}", value);
  if (size < 1e-3 || size >= 1e15) return fmt::format("{:.1e}", value);
  return size >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string format_quantity(double value, std::string_view unit) {
  std::string number = format_quantity_value(value, unit);
  if (unit.empty() || unit == "Mb/s" || number == "no light") return number;
  if (unit == "%") return number + "%";
  return fmt::format("{} {}", number, unit == "C" || unit == "degC" ? "°C" : unit);
}

bool is_link_read(const PortReport& port) {
  return port.health != Health::kUnknown ||
         std::ranges::none_of(port.gaps, [](const Gap& gap) { return gap.probe == "link"; });
}

std::string format_confidence(double confidence) {
  if (confidence >= 0.995) return ">99%";
  return confidence < 0.01 ? "<1%" : fmt::format("{:.0f}%", confidence * 100);
}

std::string format_speed(std::uint32_t speed_mbps) {
  if (speed_mbps < 1000) return fmt::format("{}M", speed_mbps);
  return speed_mbps % 1000 == 0 ? fmt::format("{}G", speed_mbps / 1000)
                                : fmt::format("{:.1f}G", speed_mbps / 1000.0);
}

std::string format_name(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kTradeWords[] = {
      {"rx", "Rx"},   {"tx", "Tx"},     {"ber", "BER"},    {"fec", "FEC"}, {"los", "LOS"},
      {"lol", "LOL"}, {"nic", "NIC"},   {"cdr", "CDR"},    {"snr", "SNR"}, {"aer", "AER"},
      {"crc", "CRC"}, {"pcie", "PCIe"}, {"fiber", "fibre"}};
  if (name == "monitor_blind") return "port unreadable";  // as in its runbook
  std::string words;
  for (const std::string_view part : split(name, '_')) {
    if (!words.empty()) words += words.ends_with("pre") || words.ends_with("post") ? '-' : ' ';
    const auto* const found =
        std::ranges::find(kTradeWords, part, &std::pair<std::string_view, std::string_view>::first);
    words += found == std::end(kTradeWords) ? part : found->second;
  }
  return words;
}

std::string_view format_state(FaultState state) {
  return state == FaultState::kProving ? "verifying" : to_string(state);
}

std::string format_headline(const FaultReport& fault) {
  const auto one = [](const std::string& name, End end, double confidence) {
    const bool has_end = end == End::kFar && !name.starts_with("far_");
    const bool has_twin = name == "bad_module" || name == "failing_transmitter";  // at the far end
    return fmt::format("{}{}{} ({})", has_end ? "far " : "", format_name(name),
                       has_twin && end == End::kLocal ? " at this end" : "",
                       format_confidence(confidence));
  };
  if (!fault.undecided || fault.undecided->names.size() < 2 || fault.state == FaultState::kProving)
    return one(fault.fault, fault.end, fault.confidence);
  const auto& names = fault.undecided->names;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0                  ? ""
             : i + 1 == names.size() ? " or "
                                     : ", ") +
            one(names[i].fault, names[i].end, names[i].confidence);
  return text;
}

std::string format_coverage(const PortReport& port) {
  constexpr std::array<std::array<std::string_view, 2>, 2> kWords{
      {{"errors", "error counters"}, {"fec", "FEC"}}};
  std::vector<std::string> parts;
  for (const std::string& missing : port.partial) {
    const auto word = std::ranges::find(kWords, missing, [](const auto& row) { return row[0]; });
    parts.push_back("no " +
                    (word == kWords.end() ? format_name(missing) : std::string((*word)[1])));
  }
  return parts.empty() ? "" : "partial: " + join_parts(parts, ", ");
}

std::string format_health(const PortReport& port) {
  std::string text = format_name(to_string(port.health));
  if (const std::string partial = format_coverage(port);
      port.health == Health::kHealthy && !partial.empty())
    text += " (" + partial + ")";
  if (!port.note.empty()) text += ": " + port.note;
  if (port.health != Health::kUnknown || port.gaps.empty()) return text;
  // Sources without which the whole port is unknown come first.
  constexpr std::string_view kNeeded[] = {"rdma_device", "link", "counters", "inventory"};
  const Gap* gap = &port.gaps.front();
  for (const std::string_view probe : kNeeded) {
    const auto at = std::ranges::find(port.gaps, probe, &Gap::probe);
    if (at == port.gaps.end()) continue;
    gap = &*at;
    break;
  }
  return text + (gap->probe == kNeeded[0] ? ": " : fmt::format(": cannot read {}: ", gap->probe)) +
         gap->reason;
}

std::string bar(double share, std::size_t columns, bool ascii) {
  const double full = std::clamp(share, 0.0, 1.0) * static_cast<double>(columns);
  std::string text;
  for (std::size_t i = 0; i < columns; ++i)
    text += static_cast<double>(i) + 0.5 <= full ? (ascii ? "#" : "█") : (ascii ? "." : "░");
  return text;
}

std::optional<double> dbm_from_mw(double power_mw) {
  if (!(power_mw > 0)) return std::nullopt;
  return 10 * std::log10(power_mw);
}

std::string health_sign(Health health, bool ascii) {
  return std::string(ascii ? look_of(health).ascii_sign : look_of(health).sign);
}

std::string paint_health(std::string_view text, Health health, const TextStyle& style) {
  return paint(text, look_of(health).colour, style);
}
std::string paint_bold(std::string_view text, const TextStyle& style) {
  return paint(text, "1", style);
}
std::string paint_faint(std::string_view text, const TextStyle& style) {
  return paint(text, "2", style);
}

void TextPage::line(std::string_view text) {
  out_ += text.substr(0, text.find_last_not_of(' ') + 1);
  out_ += '\n';
}
void TextPage::title(std::string_view text, std::size_t indent) {
  for (const std::string& part : wrap(clean(text), width_ - indent))
    line(std::string(indent, ' ') + paint_bold(part, style_));
}
void TextPage::text(std::size_t indent, std::string_view text, std::size_t hang) {
  out_ += paragraph(std::string(indent, ' '), indent + hang, clean(text), width_);
}
void TextPage::labelled(std::string_view label, std::string_view text, std::size_t hang) {
  out_ += paragraph("  " + paint_faint(pad_right(label, label_columns_), style_),
                    2 + label_columns_ + hang, clean(text), width_);
}
void TextPage::table(std::vector<std::vector<std::string>> rows) {
  const auto lines = align_columns(std::move(rows), 2, std::string::npos, style_.ascii);
  for (std::size_t i = 0; i < lines.size(); ++i)
    line(i == 0 ? paint_faint(lines[i], style_) : lines[i]);
}
std::string TextPage::result() {
  if (out_.ends_with("\n\n")) out_.pop_back();
  return std::move(out_);
}

}  // namespace linkhealth
