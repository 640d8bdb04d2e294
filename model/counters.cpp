#include "model/counters.h"

#include <algorithm>

namespace linkhealth {

namespace {

/// The position of `key`, or where to insert it, in a vector of pairs ordered by first.
template <typename Entries, typename Key>
auto position(Entries& entries, const Key& key) {
  return std::ranges::lower_bound(
      entries, key, {}, [](const auto& entry) -> const auto& { return entry.first; });
}

template <typename Entries, typename Key>
void put(Entries& entries, const Key& key, std::uint64_t value) {
  const auto at = position(entries, key);
  if (at != entries.end() && at->first == key)
    at->second = value;
  else
    entries.emplace(at, key, value);
}

template <typename Entries, typename Key>
std::optional<std::uint64_t> look_up(const Entries& entries, const Key& key) {
  const auto at = position(entries, key);
  return at == entries.end() || at->first != key ? std::nullopt : std::optional(at->second);
}

}  // namespace

void Counters::set(std::string_view name, std::uint64_t value) {
  if (const auto id = find_counter(name))
    set(*id, value);
  else
    put(other_, std::string(name), value);
}

void Counters::set(CounterId id, std::uint64_t value) { put(known_, id, value); }

void Counters::merge(const Counters& newer) {
  for (const auto& [id, value] : newer.known_) put(known_, id, value);
  for (const auto& [name, value] : newer.other_) put(other_, name, value);
}

std::optional<std::uint64_t> Counters::get(std::string_view name) const {
  if (const auto id = find_counter(name)) return get(*id);
  return look_up(other_, std::string(name));
}

std::optional<std::uint64_t> Counters::get(CounterId id) const { return look_up(known_, id); }

}  // namespace linkhealth
