// Fuzzes the parser of HTTP requests: bytes from anybody who can connect.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/http_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto request = linkhealth::parse_http_request({reinterpret_cast<const char*>(data), size});
  if (request.state == linkhealth::HttpRequest::State::kComplete && request.size > size)
    std::abort();
  // The body is what stands at the end of the request, and bounded.
  const std::string& body = request.api.body;
  if (body.size() > linkhealth::kMaxRequestBody_bytes || body.size() > request.size) std::abort();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!body.empty() && bytes.substr(request.size - body.size(), body.size()) != body) std::abort();
  return 0;
}
