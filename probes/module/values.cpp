#include "probes/module/values.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace linkhealth {

namespace {

std::string subject(const ModuleQuantity& quantity, unsigned lane) {
  return lane == 0 ? std::string(quantity.name) : fmt::format("{} of lane {}", quantity.name, lane);
}

/// Raw values that no sensor gives: a bus that nobody drives, and the signed end stop, which CMIS
/// uses for "no value".
bool is_no_reading(const ModuleQuantity& quantity, std::uint16_t raw) {
  return raw == 0xffff || (quantity.is_signed && raw == 0x8000);
}

bool is_padding(char c) { return c == ' ' || c == '\0' || c == '\xff'; }
bool is_printable(char c) { return c >= 0x20 && c <= 0x7e; }

struct Quad {
  std::uint16_t high_alarm, low_alarm, high_warn, low_warn;
};

struct Scale {
  std::uint16_t top, bottom;
};
Scale scale_of(const ModuleQuantity& quantity) {
  return quantity.is_signed ? Scale{0x7fff, 0x8000} : Scale{0xffff, 0x0000};
}

bool is_switched_off(const Quad& quad, Scale scale) {
  return quad.high_alarm == scale.top && quad.high_warn == scale.top &&
         quad.low_alarm == scale.bottom && quad.low_warn == scale.bottom;
}

void forget_ends(const Quad& quad, Scale scale, Limits& limits) {
  if (quad.high_alarm == scale.top) limits.high_alarm.reset();
  if (quad.high_warn == scale.top) limits.high_warn.reset();
  if (quad.low_alarm == scale.bottom) limits.low_alarm.reset();
  if (quad.low_warn == scale.bottom) limits.low_warn.reset();
}

/// Those that are there; the alarms differ.
bool limits_rise(const Limits& limits) {
  std::optional<double> last;
  for (const auto& limit :
       {limits.low_alarm, limits.low_warn, limits.high_warn, limits.high_alarm}) {
    if (limit && last && *limit < *last) return false;
    if (limit) last = limit;
  }
  return !limits.low_alarm || !limits.high_alarm || *limits.low_alarm < *limits.high_alarm;
}

}  // namespace

double convert(const ModuleQuantity& quantity, std::uint16_t raw) {
  const double x = quantity.is_signed ? static_cast<std::int16_t>(raw) : raw;
  double value = 0;
  for (auto c = quantity.coefficients.rbegin(); c != quantity.coefficients.rend(); ++c)
    value = value * x + *c;
  value /= quantity.steps_per_unit;
  return quantity.is_signed ? value : std::max(value, 0.0);
}

void warn_too_long(std::string_view what, std::string_view most, ModuleWarnings& warnings) {
  warnings.push_back(
      fmt::format("the {} is longer than {}, the most that its byte can say", what, most));
}

void LongestReach::take(std::optional<std::uint8_t> byte, double step_m) {
  constexpr std::uint8_t kMost = 0xfe;
  double& longest = byte.value_or(0) > kMost ? more_than_m_ : known_m_;
  longest = std::max(longest, std::min(byte.value_or(0), kMost) * step_m);
}

std::optional<double> LongestReach::metres(ModuleWarnings& warnings) const {
  if (more_than_m_ >= known_m_ && more_than_m_ > 0) {
    constexpr double kFewKm = 10e3;  // 2540 m of old fibre, and 25.4 km
    warn_too_long("reach",
                  more_than_m_ < kFewKm ? fmt::format("{:g} m", more_than_m_)
                                        : fmt::format("{:g} km", more_than_m_ / 1000),
                  warnings);
    return std::nullopt;
  }
  return known_m_ > 0 ? std::optional(known_m_) : std::nullopt;
}

std::optional<double> read_monitor(const ModulePage& page, unsigned offset,
                                   const ModuleQuantity& quantity, unsigned lane,
                                   ModuleWarnings& warnings) {
  const auto raw = page.u16(offset);
  if (!raw) return std::nullopt;
  if (is_no_reading(quantity, *raw)) {
    warnings.push_back(
        fmt::format("{} reads {:04x}h, which is no reading", subject(quantity, lane), *raw));
    return std::nullopt;
  }
  const double value = convert(quantity, *raw);
  if (value >= quantity.min && value <= quantity.max)
    return value;  // false for a NaN of bad calibration constants
  warnings.push_back(
      fmt::format("{} of {:.4g} {} cannot be true", subject(quantity, lane), value, quantity.unit));
  return std::nullopt;
}

std::optional<double> believed_snr_db(double snr_db, ModuleWarnings& warnings) {
  // PAM4 needs 17 dB or so and a perfect one has 30; all ones (256 dB) and 8000h (128 dB) are no
  // readings.
  constexpr double kMostDb = 60;
  if (snr_db <= kMostDb) return snr_db;
  constexpr std::string_view kWarning =
      "a signal-to-noise ratio of more than 60 dB cannot be true: left out";
  if (std::find(warnings.begin(), warnings.end(), kWarning) == warnings.end())
    warnings.emplace_back(kWarning);
  return std::nullopt;
}

std::optional<std::array<std::uint16_t, 4>> read_quad(const ModulePage& page, unsigned offset) {
  std::array<std::uint16_t, 4> out{};
  for (unsigned i = 0; i < out.size(); ++i) {
    const auto raw = page.u16(offset + 2 * i);
    if (!raw) return std::nullopt;
    out.at(i) = *raw;
  }
  return out;
}

Limits read_limits(const ModulePage& page, unsigned offset, const ModuleQuantity& quantity,
                   LimitEnds ends, ModuleWarnings& warnings) {
  const auto raw = read_quad(page, offset);
  if (!raw) return {};
  const Quad quad{raw->at(0), raw->at(1), raw->at(2), raw->at(3)};
  if ((quad.high_alarm | quad.low_alarm | quad.high_warn | quad.low_warn) == 0) {
    warnings.push_back(fmt::format("{} limits are all zero: the module gives none", quantity.name));
    return {};
  }
  const Scale scale = scale_of(quantity);
  if (is_switched_off(quad, scale)) return {};
  if ((quad.high_alarm & quad.low_alarm & quad.high_warn & quad.low_warn) == 0xffff) {
    warnings.push_back(
        fmt::format("{} limits are all ones: nobody has written any", quantity.name));
    return {};
  }
  const double ha = convert(quantity, quad.high_alarm);
  const double la = convert(quantity, quad.low_alarm);
  const double hw = convert(quantity, quad.high_warn);
  const double lw = convert(quantity, quad.low_warn);
  Limits limits{la, lw, hw, ha};
  // Warnings are optional (SFF-8636 table 6-28), and two of 0 stand where there are none.
  if (quad.high_warn == 0 && quad.low_warn == 0 && ha > la)
    limits = {la, std::nullopt, std::nullopt, ha};
  if (ends == LimitEnds::kNone) forget_ends(quad, scale, limits);
  if (limits_rise(limits)) return limits;
  warnings.push_back(
      fmt::format("{} limits are not in order ({:.4g} {:.4g} {:.4g} {:.4g} {}): left out",
                  quantity.name, la, lw, hw, ha, quantity.unit));
  return {};
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

std::string read_oui(const ModulePage& page, unsigned offset) {
  const auto a = page.byte(offset);
  const auto b = page.byte(offset + 1);
  const auto c = page.byte(offset + 2);
  if (!a || !b || !c || (*a | *b | *c) == 0 || (*a & *b & *c) == 0xff) return {};
  return fmt::format("{:02x}:{:02x}:{:02x}", *a, *b, *c);
}

void note_checksum(ModuleSample& sample, std::string_view page, std::optional<bool> ok) {
  if (!ok) return;
  sample.checksums_ok = sample.checksums_ok.value_or(true) && *ok;
  if (!*ok) sample.warnings.push_back(fmt::format("checksum of {} is wrong", page));
}

void read_identity(const ModulePage& page, const IdentityOffsets& offsets, ModuleSample& sample) {
  ModuleWarnings& warnings = sample.warnings;
  sample.vendor = read_text(page, offsets.vendor, 16, "vendor name", warnings);
  sample.vendor_oui = read_oui(page, offsets.oui);
  sample.part_number = read_text(page, offsets.part_number, 16, "part number", warnings);
  sample.revision =
      read_text(page, offsets.revision, offsets.revision_length, "revision", warnings);
  sample.serial = read_text(page, offsets.serial, 16, "serial number", warnings);
  sample.date = read_date(page, offsets.date, warnings);
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

}  // namespace linkhealth
