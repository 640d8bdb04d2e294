// Small pure text functions: strict parsing of numbers, splitting, and "did you mean".
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linkhealth {

/// `text` without white space at either end.
std::string_view trim(std::string_view text);
/// The parts between `separator`, empty ones included.
std::vector<std::string_view> split(std::string_view text, char separator);
/// Not of a temporary: the parts are views of it.
template <std::same_as<std::string> Text>
std::vector<std::string_view> split(Text&& text, char separator) = delete;
/// A whole decimal number, with nothing else around it. nullopt for "", "-1", "12x" or an overflow.
std::optional<std::uint64_t> parse_u64(std::string_view text);
/// As parse_u64 with an 0x prefix allowed.
std::optional<std::uint64_t> parse_hex_or_decimal(std::string_view text);
/// A finite decimal number such as -3.5 or 1e-7, with nothing else around it.
std::optional<double> parse_double(std::string_view text);
/// Safe to print on a terminal: control bytes and bytes outside ASCII become '?'.
std::string printable(std::string_view text);
/// How many bytes of a valid UTF-8 character begin `text`; 0 when none do (RFC 3629, table 3-7 of
/// Unicode).
std::size_t utf8_length(std::string_view text);

/// Insertions, deletions, changes and swaps of neighbours that turn one text into the other
/// (Damerau-Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to a mistyped `text`; nullopt when none is near enough to be meant (more
/// than a third of it differs, and more than two letters).
std::optional<std::string_view> closest(std::string_view text,
                                        std::span<const std::string_view> candidates);

}  // namespace linkhealth
