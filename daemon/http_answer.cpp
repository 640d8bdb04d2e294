#include "daemon/http_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace linkhealth {

namespace {

struct StatusWords {
  int status;
  std::string_view words;
};
constexpr std::array<StatusWords, 15> kStatusWords = {{{200, "OK"},
                                                       {202, "Accepted"},
                                                       {400, "Bad Request"},
                                                       {401, "Unauthorized"},
                                                       {403, "Forbidden"},
                                                       {404, "Not Found"},
                                                       {405, "Method Not Allowed"},
                                                       {409, "Conflict"},
                                                       {413, "Payload Too Large"},
                                                       {415, "Unsupported Media Type"},
                                                       {429, "Too Many Requests"},
                                                       {431, "Request Header Fields Too Large"},
                                                       {500, "Internal Server Error"},
                                                       {501, "Not Implemented"},
                                                       {503, "Service Unavailable"}}};

// An answer, or the web configuration, may have its own instead.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kUsualFields = {
    {{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
     {"X-Content-Type-Options", "nosniff"},
     {"Referrer-Policy", "no-referrer"},
     {"Cache-Control", "no-store"}}};

constexpr std::size_t kUsualHead_bytes = 512;

}  // namespace

std::string_view status_words(int status) {
  const auto* const found = std::ranges::find(kStatusWords, status, &StatusWords::status);
  if (found != kStatusWords.end()) return found->words;
  return status < 500 ? "Error" : "Internal Server Error";
}

std::string http_head(const ApiReply& reply, std::optional<std::size_t> size, bool keep_alive) {
  // By hand: it is made for each scrape, a second after the last one, and the formatter's code
  // would be fetched anew.
  std::string head;
  head.reserve(kUsualHead_bytes);
  head.append("HTTP/1.1 ")
      .append(std::to_string(reply.status))
      .append(" ")
      .append(status_words(reply.status));
  head.append("\r\nContent-Type: ").append(reply.content_type).append("\r\n");
  for (const auto& usual : kUsualFields)
    if (std::ranges::none_of(reply.headers,
                             [&](const auto& field) { return field.first == usual.first; }))
      head.append(usual.first).append(": ").append(usual.second).append("\r\n");
  for (const auto& [name, value] : reply.headers)
    head.append(name).append(": ").append(value).append("\r\n");
  if (size) {
    head.append("Content-Length: ").append(std::to_string(*size)).append("\r\n");
  } else {
    head += "Transfer-Encoding: chunked\r\n";
  }
  head += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

std::string http_chunk(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

}  // namespace linkhealth
