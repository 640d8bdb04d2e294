// HTTP/1.1 requests as the API gets them (RFC 9112), out of bytes from anybody. Pure: a fuzzer runs
// it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "daemon/api.h"

namespace linkhealth {

inline constexpr std::size_t kMaxRequestHead_bytes = 8192;
inline constexpr std::size_t kMaxRequestBody_bytes = 8192;

struct HttpRequest {
  enum class State { kIncomplete, kComplete, kRefused };
  State state = State::kIncomplete;
  std::size_t size = 0;     ///< bytes that it takes, body included; when complete
  int status = 400;         ///< when refused: 400, 413, 431, 501; nothing after it can be read
  ApiRequest api;           ///< when complete
  bool keep_alive = false;  ///< whether the client wants to ask more on this connection
};

/// The request at the beginning of `bytes`, with its body.
HttpRequest parse_http_request(std::string_view bytes);
/// "%2F" as "/", and in a query "+" as a blank; what is no escape stays.
std::string url_decoded(std::string_view text, bool plus_is_blank);

}  // namespace linkhealth
