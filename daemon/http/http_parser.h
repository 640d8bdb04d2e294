// Parses HTTP/1.1 requests from untrusted clients (RFC 9112), with Boost.Beast. Pure: fuzzed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "daemon/http/http_message.h"

namespace linkhealth {

inline constexpr std::size_t kMaxRequestHead_bytes = 8192;
inline constexpr std::size_t kMaxRequestBody_bytes = 8192;

struct ParsedRequest {
  enum class State : std::uint8_t { kIncomplete, kComplete, kRefused };
  State state = State::kIncomplete;
  std::size_t size_bytes = 0;  ///< of a complete request, body included
  int status = 400;            ///< of a rejected request; what follows it cannot be parsed
  HttpRequest request;         ///< when complete
};

/// Parses the request at the beginning of `bytes`.
ParsedRequest parse_http_request(std::string_view bytes);
/// "%2F" as "/", and in a query "+" as a blank; invalid escapes are kept.
std::string url_decoded(std::string_view text, bool plus_is_blank);

}  // namespace linkhealth
