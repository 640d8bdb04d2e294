#include "exporters/metrics_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.h"

namespace linkhealth {

namespace {

/// By character: not ASCII, or one that needs an escape.
constexpr auto kOdd = [] {
  std::array<bool, 256> odd{};
  for (std::size_t c = 0; c < odd.size(); ++c) odd[c] = c >= 0x80 || c == '"' || c == '\\' || c == '\n';
  return odd;
}();

bool is_plain(std::string_view value) {
  bool odd = false;
  for (const char c : value) odd |= kOdd[static_cast<unsigned char>(c)];
  return !odd;
}

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

/// Eight bytes at a time: the library's hash took a sixth of the rendering. Equal keys are compared as a whole anyway.
std::uint32_t hash_of(std::string_view key) {
  constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;  // 2^64 / golden ratio: every bit moves many
  std::uint64_t hash = key.size();
  for (; key.size() >= sizeof hash; key.remove_prefix(sizeof hash)) {
    std::uint64_t word = 0;
    std::memcpy(&word, key.data(), sizeof word);
    hash = (std::rotl(hash, 23) ^ word) * kGolden;
  }
  std::uint64_t rest = 0;
  for (const char c : key) rest = rest << 8 | static_cast<unsigned char>(c);
  hash = (std::rotl(hash, 23) ^ rest) * kGolden;
  return static_cast<std::uint32_t>(hash >> 32);
}

/// `name{device="mlx5_0",port="1"} `, what stands before the value.
void append_key(std::string& text, const LabelHeads& heads, std::span<const std::string_view> labels) {
  constexpr std::string_view kEnd = "\"} ";
  if (labels.empty()) {
    text.append(heads.front()).append(" ");
    return;
  }
  std::size_t size = kEnd.size();
  for (std::size_t i = 0; i < labels.size(); ++i) size += heads.at(i).size() + labels[i].size();
  if (!std::all_of(labels.begin(), labels.end(), is_plain)) {
    for (std::size_t i = 0; i < labels.size(); ++i) append_odd(text += heads[i], labels[i]);
    text += kEnd;
    return;
  }
  // Room for all at once: asking for room with each piece took longer than copying them.
  const std::size_t begin = text.size();
  text.resize(begin + size);
  char* out = text.data() + begin;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    out = std::copy(heads[i].begin(), heads[i].end(), out);
    out = std::copy(labels[i].begin(), labels[i].end(), out);
  }
  std::copy(kEnd.begin(), kEnd.end(), out);
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
  append_key(text, heads, labels);
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
  const std::uint32_t hash = hash_of(key);
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
