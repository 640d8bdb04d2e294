#include "exporters/metrics_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr bool is_plain(char c) { return static_cast<signed char>(c) >= 0 && c != '"' && c != '\\' && c != '\n'; }

/// A scrape with one byte that is not UTF-8 is lost as a whole; modules do send such bytes.
void append_odd(std::string& text, std::string_view value) {
  const bool ascii = std::all_of(value.begin(), value.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
  for (const char c : ascii ? std::string(value) : printable(value)) {
    if (c == '\n') {
      text += "\\n";
    } else {
      if (c == '\\' || c == '"') text += '\\';
      text += c;
    }
  }
}

/// What stands before each label's value: `name{device="`, `",port="`, …; the name alone where there are no labels.
using LabelHeads = std::vector<std::string>;

/// Of each row of the table; made once, because 200 strings for each rendering cost more than its lines on a node with
/// few ports.
const std::vector<LabelHeads>& label_heads() {
  static const auto kHeads = [] {
    std::vector<LabelHeads> all;
    for (const MetricInfo& info : metric_table()) {
      LabelHeads& heads = all.emplace_back();
      std::string head(info.name);
      if (!info.labels.empty())
        for (const std::string_view label : split(info.labels, ',')) {
          head += heads.empty() ? "{" : "\",";
          heads.push_back(head.append(label) + "=\"");
          head.clear();
        }
      if (heads.empty()) heads.push_back(head);
    }
    return all;
  }();
  return kHeads;
}

void append_label(std::string& text, std::string_view value) {
  if (std::all_of(value.begin(), value.end(), is_plain)) {
    text += value;
  } else {
    append_odd(text, value);
  }
}

}  // namespace

void append_value(std::string& text, double value) {
  if (std::isnan(value)) {
    text += "Nan";
  } else if (std::isinf(value)) {
    text += value < 0 ? "-Inf" : "+Inf";
  } else {
    constexpr double kWhole = 1e15;  // below, %.16g of a whole number is the number
    std::array<char, 32> digits;     // NOLINT(*-member-init): filled by to_chars
    char* const end = digits.data() + digits.size();
    const bool whole = std::abs(value) < kWhole && std::trunc(value) == value && !(value == 0 && std::signbit(value));
    const auto written = whole ? std::to_chars(digits.data(), end, static_cast<std::int64_t>(value))
                               : std::to_chars(digits.data(), end, value, std::chars_format::general,
                                               std::numeric_limits<double>::max_digits10 - 1);
    text.append(digits.data(), written.ptr);
  }
}

MetricsWriter::MetricsWriter() : families_(metric_table().size()) {}

void MetricsWriter::add(std::size_t row, std::span<const std::string_view> labels, double value) {
  Family& family = families_.at(row);
  const LabelHeads& heads = label_heads()[row];
  std::string& text = family.lines;
  const std::size_t begin = text.size();
  if (labels.empty()) {
    text += heads.front();
  } else {
    for (std::size_t i = 0; i < labels.size(); ++i) append_label(text += heads.at(i), labels[i]);
    text += "\"}";
  }
  text += ' ';
  if (family.repeats(begin)) {
    text.resize(begin);
    return;
  }
  append_value(text, value);
  text += '\n';
}

bool MetricsWriter::Family::repeats(std::size_t begin) {
  if (series * 2 >= slots.size()) grow();
  const std::string_view all = lines;
  const std::string_view key = all.substr(begin);
  const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>()(key));
  const std::size_t mask = slots.size() - 1;
  std::size_t at = hash & mask;
  // The key ends with the blank before the value. Quotes inside of labels are escaped, so none begins another.
  for (; slots[at].begin != 0; at = (at + 1) & mask)
    if (slots[at].hash == hash && all.substr(slots[at].begin - 1).starts_with(key)) return true;
  slots[at] = {static_cast<std::uint32_t>(begin + 1), hash};
  ++series;
  return false;
}

void MetricsWriter::Family::grow() {
  std::vector<Slot> larger(slots.empty() ? 16 : slots.size() * 2);
  for (const Slot& slot : slots) {
    if (slot.begin == 0) continue;
    std::size_t at = slot.hash & (larger.size() - 1);
    while (larger[at].begin != 0) at = (at + 1) & (larger.size() - 1);
    larger[at] = slot;
  }
  slots = std::move(larger);
}

std::string MetricsWriter::take() {
  constexpr std::size_t kHeader = 256;
  std::size_t size = 0;
  for (const Family& family : families_) size += family.lines.empty() ? 0 : family.lines.size() + kHeader;
  std::string text;
  text.reserve(size);
  for (std::size_t row = 0; row < families_.size(); ++row) {
    if (families_[row].lines.empty()) continue;
    const MetricInfo& info = metric_table()[row];
    text.append("# HELP ").append(info.name).append(" ").append(info.help);
    text.append("\n# TYPE ").append(info.name);
    text += info.type == MetricType::kCounter ? " counter\n" : " gauge\n";
    text += families_[row].lines;
    families_[row] = {};
  }
  return text;
}

}  // namespace linkhealth
