#include "model/json_writer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/utf8.h"

namespace linkhealth {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool is_plain(char c) { return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f; }

}  // namespace

void JsonWriter::separate() {
  if (comma_) out_.push_back(',');
  comma_ = true;
}

void JsonWriter::open(char bracket) {
  separate();
  out_.push_back(bracket);
  comma_ = false;
}

void JsonWriter::close(char bracket) {
  out_.push_back(bracket);
  comma_ = true;
}

void JsonWriter::key(std::string_view name) {
  separate();
  quoted(name);
  out_.push_back(':');
  comma_ = false;
}

void JsonWriter::quoted(std::string_view text) {
  out_.push_back('"');
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    out_.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text.front();
    const std::size_t length = utf8_length(text);
    if (c == '"' || c == '\\')
      out_.append({'\\', c});
    else if (length == 1)
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(c));
    else
      out_.append(length == 0 ? kReplacement : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out_.push_back('"');
}

void JsonWriter::value(std::string_view text) {
  separate();
  quoted(text);
}

void JsonWriter::value(bool flag) { raw(flag ? "true" : "false"); }

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return raw("null");
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.begin(), buffer.end(), number).ptr;
  raw({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
}

void JsonWriter::integer(std::uint64_t number) {
  std::array<char, 24> buffer{};
  const auto end = std::to_chars(buffer.begin(), buffer.end(), number).ptr;
  raw({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
}

void JsonWriter::seconds(std::int64_t milliseconds) {
  separate();
  const std::uint64_t size = milliseconds < 0 ? 0U - static_cast<std::uint64_t>(milliseconds)
                                              : static_cast<std::uint64_t>(milliseconds);
  fmt::format_to(std::back_inserter(out_), "{}{}.{:03}", milliseconds < 0 ? "-" : "", size / 1000,
                 size % 1000);
}

void JsonWriter::raw(std::string_view json) {
  separate();
  out_.append(json);
}

}  // namespace linkhealth
