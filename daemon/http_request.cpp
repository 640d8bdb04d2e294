#include "daemon/http_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "daemon/http/gzip.h"

namespace linkhealth {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

bool has_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ',');
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view one) { return same_word(trim(one), word); });
}

void take_query(std::string_view query, ApiRequest& api) {
  for (const std::string_view pair : split(query, '&')) {
    if (pair.empty()) continue;
    const auto equals = std::min(pair.find('='), pair.size());
    api.params.emplace(url_decoded(pair.substr(0, equals), true),
                       url_decoded(pair.substr(std::min(equals + 1, pair.size())), true));
  }
}

/// "GET /path?query HTTP/1.1"; false when it is none.
bool take_request_line(std::string_view line, HttpRequest& request) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == 0 || last == first) return false;
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
  request.keep_alive = version == "HTTP/1.1";
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!target.starts_with('/') || target.find(' ') != std::string_view::npos) return false;
  const auto question = std::min(target.find('?'), target.size());
  request.api.method = line.substr(0, first);
  request.api.path = url_decoded(target.substr(0, question), false);
  if (question < target.size()) take_query(target.substr(question + 1), request.api);
  return true;
}

/// Fields that the API reads as they are. One that comes twice is refused: which of them would be
/// meant?
struct KeptField {
  std::string_view name;
  std::string ApiRequest::*place;
};
constexpr std::array<KeptField, 5> kKeptFields = {{{"Content-Type", &ApiRequest::content_type},
                                                   {"Authorization", &ApiRequest::authorization},
                                                   {"Last-Event-ID", &ApiRequest::last_event_id},
                                                   {"Origin", &ApiRequest::origin},
                                                   {"Host", &ApiRequest::host}}};

/// 0, or the status with which the request is refused.
int take_field(std::string_view line, HttpRequest& request,
               std::optional<std::size_t>& body_bytes) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || line[colon - 1] == ' ') return 400;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (same_word(name, "Transfer-Encoding")) return 501;
  if (same_word(name, "Content-Length")) {
    const auto size = parse_u64(value);
    if (!size || (body_bytes && *body_bytes != *size)) return 400;
    if (*size > kMaxRequestBody_bytes) return 413;
    body_bytes = *size;
  }
  for (const KeptField& kept : kKeptFields) {
    if (!same_word(name, kept.name)) continue;
    std::string& place = request.api.*kept.place;
    if (!place.empty()) return 400;
    place = value;
  }
  if (same_word(name, "Accept-Encoding")) request.api.accepts_gzip = accepts_gzip(value);
  if (same_word(name, "Connection")) {
    if (has_word(value, "close")) request.keep_alive = false;
    if (has_word(value, "keep-alive")) request.keep_alive = true;
  }
  return 0;
}

/// The request line and the fields. 0, or the status with which the request is refused.
int take_head(std::string_view head, HttpRequest& request, std::optional<std::size_t>& body_bytes) {
  for (bool first = true; !head.empty() || first; first = false) {
    const auto line_end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, line_end);
    head.remove_prefix(std::min(line_end + 2, head.size()));
    if (first && !take_request_line(line, request)) return 400;
    if (first) continue;
    if (const int status = take_field(line, request, body_bytes); status != 0) return status;
  }
  return 0;
}

void refuse(HttpRequest& request, int status) {
  request.state = HttpRequest::State::kRefused;
  request.status = status;
}

}  // namespace

std::string url_decoded(std::string_view text, bool plus_is_blank) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += plus_is_blank && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

HttpRequest parse_http_request(std::string_view bytes) {
  HttpRequest request;
  const auto end = bytes.substr(0, kMaxRequestHead_bytes).find("\r\n\r\n");
  if (end == std::string_view::npos) {
    if (bytes.size() >= kMaxRequestHead_bytes) refuse(request, 431);
    return request;
  }
  std::optional<std::size_t> body_bytes;
  if (const int status = take_head(bytes.substr(0, end), request, body_bytes); status != 0) {
    refuse(request, status);
    return request;
  }
  const std::size_t size = end + 4 + body_bytes.value_or(0);
  if (bytes.size() < size) return request;
  request.size = size;
  request.api.body = bytes.substr(end + 4, body_bytes.value_or(0));
  request.state = HttpRequest::State::kComplete;
  return request;
}

}  // namespace linkhealth
