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
/// Not for temporaries: the parts are views into the text.
template <std::same_as<std::string> Text>
std::vector<std::string_view> split(Text&& text, char separator) = delete;
/// A whole decimal number, with nothing else around it. nullopt for "", "-1", "12x" or an overflow.
std::optional<std::uint64_t> parse_u64(std::string_view text);
/// Like parse_u64; an 0x prefix is allowed.
std::optional<std::uint64_t> parse_hex_or_decimal(std::string_view text);
/// A finite decimal number such as -3.5 or 1e-7, with nothing else around it.
std::optional<double> parse_double(std::string_view text);
/// Safe to print on a terminal: control bytes and bytes outside ASCII become '?'.
std::string printable(std::string_view text);
/// The length in bytes of the valid UTF-8 character that begins `text`; 0 if there is none (RFC
/// 3629, table 3-7 of Unicode).
std::size_t utf8_length(std::string_view text);

/// "1, 4 and 5".
std::string format_list(std::span<const std::string> items);

/// The number of insertions, deletions, changes and swaps of adjacent letters that turn one text
/// into the other (Damerau-Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to a mistyped `text`; nullopt if even the nearest differs in more than two
/// letters and in more than a third of them.
std::optional<std::string_view> closest(std::string_view text,
                                        std::span<const std::string_view> candidates);

}  // namespace linkhealth
