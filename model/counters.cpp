#include "model/counters.h"

#include <algorithm>

#include "model/counter_rows.h"
#include "model/counter_rows_hw.h"

namespace linkhealth {

namespace {

constexpr bool by_name(const CounterInfo& a, const CounterInfo& b) { return a.name < b.name; }

constexpr auto whole_table() {
  std::array<CounterInfo, counter_rows::kRows.size() + counter_rows::kHwRows.size()> all{};
  std::merge(counter_rows::kRows.begin(), counter_rows::kRows.end(), counter_rows::kHwRows.begin(),
             counter_rows::kHwRows.end(), all.begin(), by_name);
  return all;
}
constexpr auto kTable = whole_table();

constexpr bool strictly_ordered() {
  for (std::size_t i = 1; i < kTable.size(); ++i)
    if (!by_name(kTable[i - 1], kTable[i])) return false;
  return true;
}
static_assert(strictly_ordered(),
              "the counter table is ordered by name (ASCII), without duplicates");

/// Where `key` is, or belongs, in a vector of pairs ordered by first.
template <typename Vector, typename Key>
auto position(Vector& entries, const Key& key) {
  return std::lower_bound(
      entries.begin(), entries.end(), key,
      [](const auto& entry, const auto& wanted) { return entry.first < wanted; });
}

template <typename Vector, typename Key>
void put(Vector& entries, const Key& key, std::uint64_t value) {
  // Readers give most values in order: at the end, or one after the other.
  if (entries.empty() || entries.back().first < key) {
    entries.emplace_back(key, value);
    return;
  }
  const auto at = position(entries, key);
  if (at != entries.end() && at->first == key) {
    at->second = value;
  } else {
    entries.emplace(at, key, value);
  }
}

/// Both are in order. Mostly the same keys come again: then nothing is moved or allocated.
template <typename Vector>
void merge_ordered(Vector& entries, const Vector& newer) {
  if (entries.empty()) {
    entries = newer;
    return;
  }
  auto at = entries.begin();
  for (const auto& [key, value] : newer) {
    while (at != entries.end() && at->first < key) ++at;
    if (at == entries.end() || at->first != key) at = entries.emplace(at, key, value);
    at->second = value;
  }
}

template <typename Vector, typename Key>
std::optional<std::uint64_t> look_up(const Vector& entries, const Key& key) {
  const auto at = position(entries, key);
  if (at == entries.end() || at->first != key) return std::nullopt;
  return at->second;
}

}  // namespace

std::span<const CounterInfo> known_counters() { return kTable; }

std::optional<CounterId> find_counter(std::string_view name) {
  const auto at = std::lower_bound(
      kTable.begin(), kTable.end(), name,
      [](const CounterInfo& row, std::string_view wanted) { return row.name < wanted; });
  if (at == kTable.end() || at->name != name) return std::nullopt;
  return static_cast<CounterId>(at - kTable.begin());
}

void Counters::set(std::string_view name, std::uint64_t value) {
  if (const auto id = find_counter(name)) {
    set(*id, value);
  } else {
    put(other_, std::string(name), value);
  }
}

void Counters::set(CounterId id, std::uint64_t value) {
  constexpr std::size_t kRoom = 32;  // the counters of one source: room for all at once
  if (known_.capacity() == 0) known_.reserve(kRoom);
  put(known_, id, value);
}

void Counters::merge(const Counters& newer) {
  merge_ordered(known_, newer.known_);
  merge_ordered(other_, newer.other_);
}

std::optional<std::uint64_t> Counters::get(std::string_view name) const {
  if (const auto id = find_counter(name)) return get(*id);
  return look_up(other_, std::string(name));
}

std::optional<std::uint64_t> Counters::get(CounterId id) const { return look_up(known_, id); }

}  // namespace linkhealth
