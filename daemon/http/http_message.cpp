#include "daemon/http/http_message.h"

#include <zlib.h>

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

std::string gzip(std::string_view text) {
  constexpr int kGzipFormat = 16;  // added to the window bits: zlib.h, deflateInit2()
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzipFormat, MAX_MEM_LEVEL,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return "";
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

bool accepts_gzip(std::string_view accept_encoding) {
  for (const std::string_view part : split(accept_encoding, ',')) {
    const auto semicolon = part.find(';');
    if (trim(part.substr(0, semicolon)) != "gzip") continue;
    if (semicolon == std::string_view::npos) return true;
    const std::string_view quality = trim(part.substr(semicolon + 1));
    return !quality.starts_with("q=") || parse_double(quality.substr(2)).value_or(0) > 0;
  }
  return false;
}

}  // namespace linkhealth
