#include "probes/module/values.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace linkhealth {

namespace {

std::string subject(const ModuleQuantity& quantity, unsigned lane) {
  return lane == 0 ? std::string(quantity.name) : fmt::format("{} of lane {}", quantity.name, lane);
}

double converted(const ModuleQuantity& quantity, std::uint16_t raw) {
  return quantity.scale.of(quantity.is_signed ? static_cast<std::int16_t>(raw) : raw);
}

/// Raw values that no sensor gives: a floating bus, and the negative end of the signed range, which
/// CMIS uses for "no value".
bool is_no_reading(const ModuleQuantity& quantity, std::uint16_t raw) {
  return raw == 0xffff || (quantity.is_signed && raw == 0x8000);
}

std::optional<double> limit_of(const ModuleQuantity& quantity, std::uint16_t raw, bool high) {
  const std::uint16_t end =
      quantity.is_signed ? (high ? 0x7fff : 0x8000) : (high ? 0xffff : 0x0000);
  return raw == end ? std::nullopt : std::optional(converted(quantity, raw));
}

/// Whether the limits present are in order and the alarms differ.
bool in_order(const Limits& limits) {
  std::optional<double> last;
  for (const auto& limit :
       {limits.low_alarm, limits.low_warn, limits.high_warn, limits.high_alarm}) {
    if (limit && last && *limit < *last) return false;
    if (limit) last = limit;
  }
  return !limits.low_alarm || !limits.high_alarm || *limits.low_alarm < *limits.high_alarm;
}

bool is_padding(char c) { return c == ' ' || c == '\0' || c == '\xff'; }
bool is_printable(char c) { return c >= 0x20 && c <= 0x7e; }

/// "20YY-MM-DD" from YYMMDD; "" and a warning if that is not a date.
std::string read_date(const ModulePage& page, unsigned offset, ModuleWarnings& warnings) {
  const std::string code = read_text(page, offset, 6, "date code", warnings);
  if (code.empty()) return {};
  if (const auto yymmdd = code.size() == 6 ? parse_u64(code) : std::nullopt) {
    const std::uint64_t month = *yymmdd / 100 % 100;
    const std::uint64_t day = *yymmdd % 100;
    if (month >= 1 && month <= 12 && day >= 1 && day <= 31)
      return fmt::format("20{:02}-{:02}-{:02}", *yymmdd / 10000, month, day);
  }
  warnings.push_back(fmt::format("date code \"{}\" is no date: left out", code));
  return {};
}

}  // namespace

void warn_once(ModuleWarnings& warnings, std::string warning) {
  if (std::ranges::find(warnings, warning) == warnings.end())
    warnings.push_back(std::move(warning));
}

std::optional<double> read_value(const ModulePage& page, unsigned offset,
                                 const ModuleQuantity& quantity, unsigned lane,
                                 ModuleWarnings& warnings) {
  const auto raw = page.u16(offset);
  if (!raw) return std::nullopt;
  if (is_no_reading(quantity, *raw)) {
    warnings.push_back(
        fmt::format("{} reads {:04x}h, which is no reading", subject(quantity, lane), *raw));
    return std::nullopt;
  }
  const double value = converted(quantity, *raw);
  if (value >= quantity.min && value <= quantity.max) return value;
  warnings.push_back(
      fmt::format("{} of {:.4g} {} cannot be true", subject(quantity, lane), value, quantity.unit));
  return std::nullopt;
}

Limits read_limits(const ModulePage& page, unsigned offset, const ModuleQuantity& quantity,
                   ModuleWarnings& warnings) {
  std::array<std::uint16_t, 4> raw{};  // high alarm, low alarm, high warning, low warning
  for (unsigned i = 0; i < raw.size(); ++i) {
    const auto one = page.u16(offset + 2 * i);
    if (!one) return {};
    raw.at(i) = *one;
  }
  const auto all_are = [&raw](std::uint16_t value) {
    return std::ranges::count(raw, value) == static_cast<std::ptrdiff_t>(raw.size());
  };
  if (all_are(0) || all_are(0xffff)) {
    warnings.push_back(fmt::format("{} limits are all {}: the module gives none", quantity.name,
                                   all_are(0) ? "zero" : "ones"));
    return {};
  }
  Limits limits{limit_of(quantity, raw[1], false), limit_of(quantity, raw[3], false),
                limit_of(quantity, raw[2], true), limit_of(quantity, raw[0], true)};
  // Warnings are optional (SFF-8636 table 6-28): if both are 0, there are none.
  if (raw[2] == 0 && raw[3] == 0) limits.low_warn = limits.high_warn = std::nullopt;
  if (in_order(limits)) return limits;
  const auto number = [&](std::size_t i) { return converted(quantity, raw.at(i)); };
  warnings.push_back(
      fmt::format("{} limits are not in order ({:.4g} {:.4g} {:.4g} {:.4g} {}): left out",
                  quantity.name, number(1), number(3), number(2), number(0), quantity.unit));
  return {};
}

AlarmFlags read_flags(const ModulePage& page, const FlagLayout& layout, unsigned offset,
                      unsigned bit) {
  const auto at = [&](unsigned bytes, int bits) {
    return page.bit(offset + bytes, static_cast<unsigned>(static_cast<int>(bit) + bits));
  };
  return {.low_alarm = at(0, layout.low_alarm),
          .low_warn = at(layout.warn_bytes, layout.low_warn),
          .high_warn = at(layout.warn_bytes, layout.high_warn),
          .high_alarm = at(0, 0)};
}

std::string read_text(const ModulePage& page, unsigned offset, unsigned length,
                      std::string_view name, ModuleWarnings& warnings) {
  const auto raw = page.raw(offset, length);
  if (!raw) return {};
  const auto first = std::find_if_not(raw->begin(), raw->end(), is_padding);
  const auto last =
      std::find_if_not(raw->rbegin(), std::make_reverse_iterator(first), is_padding).base();
  std::string text(first, last);
  const auto bad = std::count_if(text.begin(), text.end(), [](char c) { return !is_printable(c); });
  if (bad == 0) return text;
  if (static_cast<std::size_t>(bad) * 4 > text.size()) {
    warnings.push_back(fmt::format("{} is not text: left out", name));
    return {};
  }
  warnings.push_back(fmt::format("{} has bytes that are not text (shown as ?)", name));
  return printable(text);
}

std::optional<double> longest_m(const ModulePage& page,
                                std::initializer_list<std::pair<unsigned, double>> bytes) {
  double longest = 0;
  for (const auto& [offset, step_m] : bytes)
    if (page.code(offset) != 0xff) longest = std::max(longest, page.code(offset) * step_m);
  return longest > 0 ? std::optional(longest) : std::nullopt;
}

void note_checksum(ModuleSample& sample, std::string_view page, std::optional<bool> ok) {
  if (!ok) return;
  sample.checksums_ok = sample.checksums_ok.value_or(true) && *ok;
  if (!*ok) sample.warnings.push_back(fmt::format("checksum of {} is wrong", page));
}

void read_identity(const ModulePage& page, const IdentityOffsets& offsets, ModuleSample& sample) {
  ModuleWarnings& warnings = sample.warnings;
  sample.vendor = read_text(page, offsets.vendor, 16, "vendor name", warnings);
  sample.part_number = read_text(page, offsets.part_number, 16, "part number", warnings);
  sample.revision =
      read_text(page, offsets.revision, offsets.revision_length, "revision", warnings);
  sample.serial = read_text(page, offsets.serial, 16, "serial number", warnings);
  sample.date = read_date(page, offsets.date, warnings);
}

}  // namespace linkhealth
