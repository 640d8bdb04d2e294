// Small pure text functions: strict parsing of numbers, splitting, and "did you mean".
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linkhealth {

/// `text` without white space at either end.
inline std::string_view trim(std::string_view text) {
  // By hand: each counter file comes through here, and a search in a set of characters is a call
  // for each of them.
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}
/// The parts between `separator`, empty ones included.
std::vector<std::string_view> split(std::string_view text, char separator);
/// Not of a string that ends with the call: the parts are in it.
template <std::same_as<std::string> Text>
std::vector<std::string_view> split(Text&& text, char separator) = delete;
/// parse_u64() of a text of any length.
std::optional<std::uint64_t> parse_any_u64(std::string_view text);
/// A whole decimal number, with nothing else around it. nullopt for "", "-1", "12x" or an overflow.
inline std::optional<std::uint64_t> parse_u64(std::string_view text) {
  // Each counter file comes through here, and from_chars takes three times as long.
  constexpr std::size_t kNeverTooLarge = std::numeric_limits<std::uint64_t>::digits10;
  if (text.empty() || text.size() > kNeverTooLarge) return parse_any_u64(text);
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}
/// As parse_u64 with an 0x prefix allowed.
std::optional<std::uint64_t> parse_hex_or_decimal(std::string_view text);
/// A finite decimal number such as -3.5 or 1e-7, with nothing else around it.
std::optional<double> parse_double(std::string_view text);
/// What printing is safe for a terminal: control bytes and bytes outside ASCII become '?'.
std::string printable(std::string_view text);
/// Insertions, deletions, changes and swaps of neighbours that turn one text into the other
/// (Damerau-Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to a mistyped `text`; nullopt when none is near enough to be meant (more
/// than a third of it differs, and more than two letters).
std::optional<std::string_view> closest(std::string_view text,
                                        std::span<const std::string_view> candidates);

}  // namespace linkhealth
