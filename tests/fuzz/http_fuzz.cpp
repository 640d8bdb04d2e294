// Fuzzes the parser of HTTP requests: bytes from any client.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/http/host_names.h"
#include "daemon/http/http_parser.h"
#include "daemon/http/password_checker.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = linkhealth::parse_http_request({reinterpret_cast<const char*>(data), size});
  if (parsed.size_bytes > size) std::abort();
  // The body is the end of the request, and bounded.
  const std::string& body = parsed.request.body;
  if (body.size() > linkhealth::kMaxRequestBody_bytes || body.size() > parsed.size_bytes)
    std::abort();
  linkhealth::basic_credentials(parsed.request.authorization);
  linkhealth::is_own_host(parsed.request.host, linkhealth::own_host_names("node", body, body));
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!body.empty() && bytes.substr(parsed.size_bytes - body.size(), body.size()) != body)
    std::abort();
  return 0;
}
