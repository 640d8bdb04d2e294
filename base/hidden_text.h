// Invisible characters that change how the text around them is shown. A name that contains one must
// not confuse a terminal or its reader.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace linkhealth {

/// The code point that begins `text` when it moves the cursor or turns what follows around
/// (controls, DEL, Unicode's direction and byte order marks); nullopt: it is none of them.
std::optional<char32_t> hidden_character(std::string_view text);
/// With '?' in place of each of them and of every byte that is not UTF-8.
std::string without_hidden(std::string_view text);

}  // namespace linkhealth
