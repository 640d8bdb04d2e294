// The names of an enum's values. A function `enum_names(Enum)` returns one name per value, in the
// order of the enum; to_string() and parse_enum() are derived from it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace linkhealth {

template <typename Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires(Enum value) {
  enum_names(value);
};

template <NamedEnum Enum>
std::string_view to_string(Enum value) {
  return enum_names(value).at(static_cast<std::size_t>(value));
}

/// nullopt: no value has this name.
template <NamedEnum Enum>
std::optional<Enum> parse_enum(std::string_view text) {
  const auto names = enum_names(Enum{});
  const auto at = std::ranges::find(names, text);
  if (at == names.end()) return std::nullopt;
  return static_cast<Enum>(at - names.begin());
}

}  // namespace linkhealth
