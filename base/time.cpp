#include "base/time.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>

#include "base/text.h"

namespace linkhealth {

namespace {

/// Removes one of `any_of` from the front of `text`.
bool skip_char(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// Removes exactly `digits` decimal digits from the front of `text`.
std::optional<int> read_number(std::string_view& text, std::size_t digits) {
  const auto value = parse_u64(text.substr(0, digits));
  if (text.size() < digits || !value) return std::nullopt;
  text.remove_prefix(digits);
  return static_cast<int>(*value);
}

/// The fraction after the decimal point, cut to milliseconds.
std::optional<int> read_milliseconds(std::string_view& text) {
  const std::string_view all = text.substr(0, text.find_first_not_of("0123456789"));
  if (all.empty()) return std::nullopt;
  text.remove_prefix(all.size());
  std::string digits(all.substr(0, 3));
  digits.resize(3, '0');
  std::string_view left = digits;
  return read_number(left, 3);
}

std::optional<std::chrono::minutes> read_offset(std::string_view& text) {
  if (skip_char(text, "Zz")) return std::chrono::minutes(0);
  const int sign = text.starts_with('-') ? -1 : 1;
  if (!skip_char(text, "+-")) return std::nullopt;
  const auto hours = read_number(text, 2);
  if (!hours || !skip_char(text, ":")) return std::nullopt;
  const auto minutes = read_number(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * std::chrono::minutes(*hours * 60 + *minutes);
}

}  // namespace

Milliseconds from_seconds(double seconds) {
  return Milliseconds(static_cast<Milliseconds::rep>(std::llround(seconds * 1000.0)));
}

std::string format_rfc3339(WallTime time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t seconds = whole.time_since_epoch().count();
  std::tm date{};
  gmtime_r(&seconds, &date);
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", date.tm_year + 1900, date.tm_mon + 1,
                  date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec);
  if (const auto rest = (time - whole).count(); rest != 0) text += fmt::format(".{:03}", rest);
  return text + "Z";
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  constexpr std::array<std::string_view, 5> kSeparators{"-", "-", "Tt ", ":", ":"};
  std::array<int, 6> parts{};  // year to second
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 && !skip_char(text, kSeparators[i - 1])) return std::nullopt;
    const auto part = read_number(text, i == 0 ? 4 : 2);
    if (!part) return std::nullopt;
    parts[i] = *part;
  }
  const auto [year, month, day, hour, minute, second] = parts;
  if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const auto milliseconds = skip_char(text, ".") ? read_milliseconds(text) : std::optional(0);
  const auto offset = read_offset(text);
  std::tm date{};
  date.tm_year = year - 1900;
  date.tm_mon = month - 1;
  date.tm_mday = day;
  const std::time_t midnight = timegm(&date);  // which turns 30 February into 2 March
  if (!milliseconds || !offset || !text.empty() || date.tm_mon != month - 1 || date.tm_mday != day)
    return std::nullopt;
  return WallTime(std::chrono::seconds(midnight) + std::chrono::hours(hour) +
                  std::chrono::minutes(minute) + std::chrono::seconds(second) +
                  Milliseconds(*milliseconds) - *offset);
}

}  // namespace linkhealth
