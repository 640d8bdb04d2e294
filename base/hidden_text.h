// Invisible characters that change how the text around them is shown. A name that contains one must
// not confuse a terminal or its reader.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace linkhealth {

/// The code point that begins `text` if it moves the cursor or reverses the text that follows
/// (controls, DEL, Unicode's direction and byte order marks); nullopt otherwise.
std::optional<char32_t> hidden_character(std::string_view text);
/// Replaces each hidden character, and each byte that is not UTF-8, by '?'.
std::string without_hidden(std::string_view text);

}  // namespace linkhealth
