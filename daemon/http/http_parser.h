// HTTP/1.1 requests out of bytes from any client (RFC 9112), by Boost.Beast. Pure: a fuzzer runs
// it.
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
  int status = 400;            ///< of a refused one; what follows it cannot be read
  HttpRequest request;         ///< when complete
};

/// The request at the beginning of `bytes`.
ParsedRequest parse_http_request(std::string_view bytes);
/// "%2F" as "/", and in a query "+" as a blank; what is no escape stays.
std::string url_decoded(std::string_view text, bool plus_is_blank);

}  // namespace linkhealth
