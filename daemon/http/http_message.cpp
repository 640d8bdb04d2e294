#include "daemon/http/http_message.h"

#include "base/text.h"

namespace linkhealth {

HttpResponse error_response(int status, std::string_view message) {
  std::string text = "{\"error\":\"";
  for (const char c : printable(message)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  HttpResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.body = text + "\"}\n";
  return response;
}

}  // namespace linkhealth
