// UTF-8, as far as this program needs it: is a text whole characters?
#pragma once

#include <cstddef>
#include <string_view>

namespace linkhealth {

/// How many bytes of a valid UTF-8 character begin `text`; 0 when they are none (RFC 3629, table
/// 3-7 of Unicode).
std::size_t utf8_length(std::string_view text);

}  // namespace linkhealth
