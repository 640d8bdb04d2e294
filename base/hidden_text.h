// Characters that nobody sees and that change what is seen around them: a name with such a one must
// not lead a terminal or its reader astray.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace linkhealth {

/// The code point that begins `text` when it moves the cursor or turns what follows around
/// (controls, DEL, Unicode's direction and byte order marks); nullopt: it is none of them.
std::optional<char32_t> hidden_character(std::string_view text);
/// Each of them, and what is no UTF-8, is a '?'.
std::string without_hidden(std::string_view text);

}  // namespace linkhealth
