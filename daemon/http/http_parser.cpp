#include "daemon/http/http_parser.h"

#include <utility>  // Boost 1.74's asio uses std::exchange without it

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace linkhealth {

namespace http = boost::beast::http;

namespace {

using Message = http::request<http::string_body>;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

void read_query(std::string_view query, HttpRequest& request) {
  for (const std::string_view pair : split(query, '&')) {
    if (pair.empty()) continue;
    const auto equals = std::min(pair.find('='), pair.size());
    request.params.emplace(url_decoded(pair.substr(0, equals), true),
                           url_decoded(pair.substr(std::min(equals + 1, pair.size())), true));
  }
}

/// What Beast accepts but other parsers interpret differently, which allows request smuggling past
/// a proxy: a folded field (RFC 9112, 5.2), NUL, a line that ends in a bare CR or LF.
bool is_ambiguous(std::string_view head) {
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '\0') return true;
    if (head[i] == '\r' && (i + 1 == head.size() || head[i + 1] != '\n')) return true;
    if (head[i] != '\n') continue;
    if (i == 0 || head[i - 1] != '\r') return true;
    if (i + 1 < head.size() && (head[i + 1] == ' ' || head[i + 1] == '\t')) return true;
  }
  return false;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// RFC 9110, 7.2: a name or a bracketed address, optionally with a port. Browsers send ASCII names.
bool is_host(std::string_view host) {
  constexpr std::string_view kMarks = "-._~!$&'()*+;=%";
  constexpr std::size_t kPortDigits = 5;
  const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  const bool bracketed = host.starts_with('[');
  const auto end = bracketed ? host.find(']') : std::min(host.find(':'), host.size());
  if (end == std::string_view::npos) return false;
  const std::string_view name = host.substr(bracketed, end - bracketed);
  const std::string_view port = host.substr(end + bracketed);
  const bool good_name = std::ranges::all_of(name, [&](char c) {
    return is_digit(c) || is_letter(c) || (bracketed && c == ':') ||
           kMarks.find(c) != std::string_view::npos;
  });
  return good_name && (port.empty() || (port.starts_with(':') && port.size() <= kPortDigits + 1 &&
                                        std::ranges::all_of(port.substr(1), is_digit)));
}

/// Fields that the API reads. A repeated one is rejected: it would be ambiguous.
struct ReadField {
  http::field name;
  std::string HttpRequest::*place;
};
constexpr std::array<ReadField, 4> kReadFields = {
    {{http::field::content_type, &HttpRequest::content_type},
     {http::field::authorization, &HttpRequest::authorization},
     {http::field::origin, &HttpRequest::origin},
     {http::field::host, &HttpRequest::host}}};

/// Returns 0, or the status for rejecting the request.
int read_fields(const Message& message, HttpRequest& request) {
  for (const ReadField& field : kReadFields) {
    if (message.count(field.name) > 1) return 400;
    request.*field.place = trim(view(message[field.name]));
  }
  if (message.version() == 11 && message.count(http::field::host) == 0) return 400;
  if (!is_host(request.host)) return 400;
  request.last_event_id = view(message["Last-Event-ID"]);
  request.accepts_gzip = accepts_gzip(view(message[http::field::accept_encoding]));
  request.keep_alive = message.keep_alive();
  return 0;
}

/// Returns 0, or the status for rejecting the request.
int read_message(const Message& message, HttpRequest& request) {
  if (message.version() != 10 && message.version() != 11) return 400;
  if (message.count(http::field::transfer_encoding) > 0) return 501;
  // Beast reads "1, 1" as 1, as RFC 9112, 6.3 allows; others do not.
  if (!std::ranges::all_of(view(message[http::field::content_length]), is_digit)) return 400;
  const std::string_view target = view(message.target());
  if (!target.starts_with('/')) return 400;
  const auto question = std::min(target.find('?'), target.size());
  request.method = view(message.method_string());
  request.path = url_decoded(target.substr(0, question), false);
  if (question < target.size()) read_query(target.substr(question + 1), request);
  return read_fields(message, request);
}

ParsedRequest refused(int status) {
  ParsedRequest parsed;
  parsed.state = ParsedRequest::State::kRefused;
  parsed.status = status;
  return parsed;
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

ParsedRequest parse_http_request(std::string_view bytes) {
  const auto end = bytes.substr(0, kMaxRequestHead_bytes).find("\r\n\r\n");
  if (end == std::string_view::npos)
    return bytes.size() >= kMaxRequestHead_bytes ? refused(431) : ParsedRequest();
  if (is_ambiguous(bytes.substr(0, end + 4))) return refused(400);
  http::request_parser<http::string_body> parser;
  parser.header_limit(kMaxRequestHead_bytes);
  parser.body_limit(kMaxRequestBody_bytes);
  parser.eager(true);
  boost::beast::error_code error;
  ParsedRequest parsed;
  parsed.size_bytes = parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error == http::error::need_more) error = {};
  if (error == http::error::body_limit) return refused(413);
  if (error) return refused(400);
  if (const int status = read_message(parser.get(), parsed.request); status != 0)
    return refused(status);
  if (!parser.is_done()) return ParsedRequest();
  parsed.request.body = std::move(parser.get().body());
  parsed.state = ParsedRequest::State::kComplete;
  return parsed;
}

}  // namespace linkhealth
