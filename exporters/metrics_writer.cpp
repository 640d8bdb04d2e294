#include "exporters/metrics_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/text.h"

namespace linkhealth {

namespace {

/// By character: not ASCII, or one that needs an escape.
constexpr auto kOdd = [] {
  std::array<bool, 256> odd{};
  for (std::size_t c = 0; c < odd.size(); ++c)
    odd[c] = c >= 0x80 || c == '"' || c == '\\' || c == '\n';
  return odd;
}();

bool is_plain(std::string_view value) {
  bool odd = false;
  for (const char c : value) odd |= kOdd[static_cast<unsigned char>(c)];
  return !odd;
}

/// A scrape with one byte that is not UTF-8 is lost as a whole; modules do send such bytes.
void append_odd(std::string& text, std::string_view value) {
  const bool ascii = std::all_of(value.begin(), value.end(),
                                 [](char c) { return static_cast<signed char>(c) >= 0; });
  for (const char c : ascii ? std::string(value) : printable(value)) {
    if (c == '\n') {
      text += "\\n";
    } else {
      if (c == '\\' || c == '"') text += '\\';
      text += c;
    }
  }
}

/// What stands before each label's value: `name{device="`, `",port="`, …; the name alone where
/// there are no labels.
using LabelHeads = std::vector<std::string>;

/// Of each row of the table; made once, because 200 strings for each rendering cost more than its
/// lines on a node with few ports.
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

/// Eight bytes at a time: the library's hash took a sixth of the rendering. Equal keys are compared
/// as a whole anyway. `seed`: the hash of what stands before `text`.
std::uint64_t hash_of(std::string_view text, std::uint64_t seed) {
  constexpr std::uint64_t kSpread =
      0x9e37'79b9'7f4a'7c15;  // 2^64 / golden ratio: every bit moves many
  std::uint64_t hash = seed + text.size();
  for (; text.size() >= sizeof hash; text.remove_prefix(sizeof hash)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    hash = (std::rotl(hash, 23) ^ word) * kSpread;
  }
  std::uint64_t rest = 0;
  for (const char c : text) rest = rest << 8 | static_cast<unsigned char>(c);
  return (std::rotl(hash, 23) ^ rest) * kSpread;
}

template <typename Word>
bool same_word(const char* a, const char* b) {
  Word left, right;  // NOLINT(*-init-variables): filled below
  std::memcpy(&left, a, sizeof left);
  std::memcpy(&right, b, sizeof right);
  return left == right;
}

/// Whether `text` stands at `at`. By words and in place: pieces have ten characters, and to call
/// memcmp for each took longer than to compare.
inline bool stands_at(const char* at, std::string_view text) {
  using Long = std::uint64_t;
  using Short = std::uint32_t;
  const char* const want = text.data();
  const std::size_t size = text.size();
  if (size >= sizeof(Long)) {
    const std::size_t last = size - sizeof(Long);
    for (std::size_t i = 0; i < last; i += sizeof(Long))
      if (!same_word<Long>(at + i, want + i)) return false;
    return same_word<Long>(at + last, want + last);
  }
  if (size >= sizeof(Short)) {
    const std::size_t last = size - sizeof(Short);
    return same_word<Short>(at, want) && same_word<Short>(at + last, want + last);
  }
  for (std::size_t i = 0; i < size; ++i)
    if (at[i] != want[i]) return false;
  return true;
}

/// Not ==: zero has two signs, and what is no number equals nothing.
bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

char* write(char* out, std::string_view text) { return std::copy(text.begin(), text.end(), out); }

constexpr std::size_t kLongestValue = 32;
constexpr std::string_view kLabelsEnd = "\"} ";

/// As the library prints it: %.16g, "+Inf", "-Inf", "Nan". At most kLongestValue characters;
/// returns the end.
char* write_value(char* out, double value) {
  if (std::isnan(value)) return write(out, "Nan");
  if (std::isinf(value)) return write(out, value < 0 ? "-Inf" : "+Inf");
  constexpr double kWhole = 1e15;  // below, %.16g of a whole number is the number
  if (std::abs(value) < kWhole && !(value == 0 && std::signbit(value)))
    if (const auto whole = static_cast<std::int64_t>(value); static_cast<double>(whole) == value)
      return std::to_chars(out, out + kLongestValue, whole).ptr;
  return std::to_chars(out, out + kLongestValue, value, std::chars_format::general,
                       std::numeric_limits<double>::max_digits10 - 1)
      .ptr;
}

}  // namespace

MetricsWriter::MetricsWriter() : families_(metric_table().size()), shown_(metric_table().size()) {}

void MetricsWriter::add(std::size_t row, std::span<const std::string_view> labels, double value) {
  Family& family = families_.at(row);
  shown_[row] = true;
  if (family.header_size == 0) family.begin(metric_table()[row]);
  const LabelHeads& heads = label_heads()[row];
  if (labels.size() <= kHeadLabels) {
    if (!family.write_over(heads, labels, value))
      family.add_line(heads, as_written(labels, family), value);
    return;
  }
  if (!family.has_head(labels)) {
    for (std::size_t i = 0; i < kHeadLabels; ++i) family.head_labels.at(i) = labels[i];
    const auto written = as_written(labels.first(kHeadLabels), family);
    family.head.clear();
    for (std::size_t i = 0; i < kHeadLabels; ++i)
      family.head.append(heads.at(i)).append(written[i]);
    family.head_hash = hash_of(family.head, 0);
  }
  const auto own_heads = std::span(heads).subspan(kHeadLabels);
  const auto own_labels = labels.subspan(kHeadLabels);
  if (!family.write_over(own_heads, own_labels, value))
    family.add_line(own_heads, as_written(own_labels, family), value);
}

std::span<const std::string_view> MetricsWriter::as_written(
    std::span<const std::string_view> labels, Family& family) {
  if (std::all_of(labels.begin(), labels.end(), is_plain)) return labels;
  family.plain = false;
  escaped_.assign(labels.size(), {});
  views_.clear();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    append_odd(escaped_[i], labels[i]);
    views_.push_back(escaped_[i]);
  }
  return views_;
}

bool MetricsWriter::Family::has_head(std::span<const std::string_view> labels) const {
  const auto same = [](const std::string& known, std::string_view label) {
    return known.size() == label.size() && stands_at(known.data(), label);
  };
  return !head.empty() && std::equal(head_labels.begin(), head_labels.end(), labels.begin(), same);
}

void MetricsWriter::Family::begin(const MetricInfo& info) {
  const std::string_view type = info.type == MetricType::kCounter ? "counter" : "gauge";
  const std::string header =
      fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", info.name, info.help, type);
  make_room(header.size());
  write(room.get(), header);
  used = header_size = header.size();
}

void MetricsWriter::Family::add_line(std::span<const std::string> heads,
                                     std::span<const std::string_view> labels, double value) {
  if (used < last_used) forget_rest();
  std::size_t most = head.size() + heads.front().size() + kLabelsEnd.size() + kLongestValue + 1;
  for (std::size_t i = 0; i < labels.size(); ++i) most += heads[i].size() + labels[i].size();
  if (room_size < used + most) make_room(std::max(room_size * 2, used + most));
  char* const begin = room.get() + used;
  char* const tail = write(begin, head);
  char* end = tail;
  for (std::size_t i = 0; i < labels.size(); ++i) end = write(write(end, heads[i]), labels[i]);
  end = labels.empty() ? write(write(end, heads.front()), " ") : write(end, kLabelsEnd);
  if (repeats({begin, end}, hash_of({tail, end}, head_hash))) return;
  char* const value_end = write_value(end, value);
  *value_end = '\n';
  used = static_cast<std::size_t>(value_end + 1 - room.get());
  room_lines.push_back(
      {value, static_cast<std::uint32_t>(used - 1), static_cast<std::uint32_t>(value_end - end)});
  count = room_lines.size();
}

void MetricsWriter::Family::make_room(std::size_t size) {
  auto larger = std::make_unique_for_overwrite<char[]>(size);
  std::copy_n(room.get(), std::max(used, last_used), larger.get());
  room = std::move(larger);
  room_size = size;
}

bool MetricsWriter::Family::write_over(std::span<const std::string> heads,
                                       std::span<const std::string_view> labels, double value) {
  if (used >= last_used || !plain) return false;
  char* at = room.get() + used;
  Line& line = room_lines[count];
  // Of one line: a label may read like the end of one line and the beginning of the next.
  const char* const old_end = room.get() + line.end;
  const auto skips = [&](std::string_view piece) {
    if (static_cast<std::size_t>(old_end - at) < piece.size() || !stands_at(at, piece))
      return false;
    at += piece.size();
    return true;
  };
  if (!skips(head)) return false;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (!skips(heads[i]) || !skips(labels[i])) return false;
  if (labels.empty() ? !skips(heads.front()) || !skips(" ") : !skips(kLabelsEnd)) return false;
  if (at + line.digits != old_end) return false;
  if (!same_bits(value, line.value)) {
    std::array<char, kLongestValue> digits;  // NOLINT(*-member-init): filled by write_value
    const std::string_view text(digits.data(), write_value(digits.data(), value));
    if (text.size() != line.digits) return false;
    write(at, text);
    line.value = value;
  }
  used = line.end + std::size_t{1};
  ++count;
  return true;
}

void MetricsWriter::Family::forget_rest() {
  reinsert(slots.size(), used);
  room_lines.resize(count);
  last_used = 0;
}

bool MetricsWriter::Family::repeats(std::string_view key, std::uint64_t hash64) {
  if (series * 2 >= slots.size()) grow();
  const auto hash = static_cast<std::uint32_t>(hash64 >> 32);
  const std::size_t mask = slots.size() - 1;
  std::size_t at = hash & mask;
  // The key ends with the blank before the value. Quotes inside of labels are escaped, so none
  // begins another.
  for (; slots[at].begin != 0; at = (at + 1) & mask)
    if (slots[at].hash == hash && text().substr(slots[at].begin - 1).starts_with(key)) return true;
  slots[at] = {static_cast<std::uint32_t>(used + 1), hash};
  ++series;
  return false;
}

void MetricsWriter::Family::grow() { reinsert(slots.empty() ? 16 : slots.size() * 2, used); }

void MetricsWriter::Family::reinsert(std::size_t slot_count, std::size_t end) {
  const std::vector<Slot> all = std::exchange(slots, std::vector<Slot>(slot_count));
  series = 0;
  for (const Slot& slot : all) {
    if (slot.begin == 0 || slot.begin > end) continue;
    std::size_t at = slot.hash & (slot_count - 1);
    while (slots[at].begin != 0) at = (at + 1) & (slot_count - 1);
    slots[at] = slot;
    ++series;
  }
}

void MetricsWriter::Family::clear() {
  if (used < last_used) forget_rest();
  last_used = std::exchange(used, header_size);
  count = 0;
}

std::string MetricsWriter::take() {
  std::string text;
  take([&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace linkhealth
