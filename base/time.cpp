#include "base/time.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace linkhealth {

namespace {

/// Takes exactly `digits` decimal digits off the front of `text`.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take_char(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// The fraction behind the decimal point, cut to milliseconds.
std::optional<int> take_milliseconds(std::string_view& text) {
  int value = 0;
  int digits = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    if (digits < 3) value = value * 10 + (text.front() - '0');
    ++digits;
    text.remove_prefix(1);
  }
  if (digits == 0) return std::nullopt;
  for (; digits < 3; ++digits) value *= 10;
  return value;
}

std::optional<std::chrono::minutes> take_offset(std::string_view& text) {
  if (take_char(text, "Zz")) return std::chrono::minutes(0);
  const bool negative = !text.empty() && text.front() == '-';
  if (!take_char(text, "+-")) return std::nullopt;
  const auto hours = take_number(text, 2);
  if (!hours || !take_char(text, ":")) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::chrono::minutes offset(*hours * 60 + *minutes);
  return negative ? -offset : offset;
}

}  // namespace

Milliseconds from_seconds(double seconds) {
  return Milliseconds(static_cast<Milliseconds::rep>(std::llround(seconds * 1000.0)));
}

std::string format_rfc3339(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", int(date.year()), unsigned(date.month()),
                  unsigned(date.day()), clock.hours().count(), clock.minutes().count(),
                  clock.seconds().count());
  if (clock.subseconds().count() != 0) text += fmt::format(".{:03}", clock.subseconds().count());
  return text + "Z";
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  const auto year = take_number(text, 4);
  if (!year || !take_char(text, "-")) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take_char(text, "-")) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day || !take_char(text, "Tt ")) return std::nullopt;
  const auto hour = take_number(text, 2);
  if (!hour || !take_char(text, ":")) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || !take_char(text, ":")) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  int milliseconds = 0;
  if (take_char(text, ".")) {
    const auto fraction = take_milliseconds(text);
    if (!fraction) return std::nullopt;
    milliseconds = *fraction;
  }
  const auto offset = take_offset(text);
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!offset || !text.empty() || !date.ok()) return std::nullopt;
  return WallTime(std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(*hour) +
                  std::chrono::minutes(*minute) + std::chrono::seconds(*second) +
                  Milliseconds(milliseconds) - *offset);
}

}  // namespace linkhealth
