// Compressed answers.
#pragma once

#include <string>
#include <string_view>

namespace linkhealth {

/// `text` as a gzip member at zlib's fastest level: a page of metrics is scraped each 15 s, and
/// level 6 would save a fifth of its size for more than twice the time. "" when zlib has no memory.
std::string gzip(std::string_view text);

/// Whether an Accept-Encoding header field accepts gzip ("gzip;q=0" does not).
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace linkhealth
