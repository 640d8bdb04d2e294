#include "model/json_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr std::size_t kShownChars = 40;
constexpr std::size_t kShownSteps = 6;  // of the place of a failure, from outside

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&out](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | (code >> 6));
  } else if (code < 0x10000) {
    byte(0xe0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3f));
  } else {
    byte(0xf0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3f));
    byte(0x80 | ((code >> 6) & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

}  // namespace

void JsonReader::skip_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
    ++at_;
}

bool JsonReader::fail(std::string_view message) {
  if (!failed_) message_ = message;
  failed_ = true;
  return false;
}

bool JsonReader::expected(std::string_view what) {
  skip_space();
  if (at_ >= text_.size()) return fail(fmt::format("expected {}, but the text ends", what));
  std::string found = printable(text_.substr(at_, kShownChars));
  if (const auto end = found.find_first_of(",]}", 1); end != std::string::npos) found.resize(end);
  return fail(fmt::format("expected {}, found {}", what, found));
}

bool JsonReader::stepped_out(std::string_view step) {
  if (!failed_) fail("was not read");
  path_.insert(path_.begin(), printable(step.substr(0, kShownChars)));
  if (path_.size() <= kShownSteps) return false;
  path_.resize(kShownSteps);
  path_.emplace_back("...");
  return false;
}

std::string JsonReader::error() const {
  return fmt::format("{}{}{} (column {})", fmt::join(path_, " > "), path_.empty() ? "" : ": ",
                     message_, at_ + 1);
}

bool JsonReader::open(char bracket, std::string_view what) {
  skip_space();
  if (failed_) return false;
  if (at_ >= text_.size() || text_[at_] != bracket) return expected(what);
  if (depth_ == kMaxDepth) return fail("nested too deeply");
  ++depth_;
  ++at_;
  return true;
}

/// True at the closing bracket. Takes the comma between two members; without one the reader has
/// failed.
bool JsonReader::close(char bracket, bool first) {
  if (failed_) return false;
  skip_space();
  if (at_ < text_.size() && text_[at_] == bracket) {
    --depth_;
    ++at_;
    return true;
  }
  if (first) return false;
  if (at_ >= text_.size() || text_[at_] != ',') {
    expected(bracket == '}' ? "\",\" or \"}\"" : "\",\" or \"]\"");
    return false;
  }
  ++at_;
  return false;
}

bool JsonReader::read_key(std::string& unescaped, std::string_view& key) {
  skip_space();
  if (at_ >= text_.size() || text_[at_] != '"') return expected("a key in quotes");
  if (!read_raw_string(unescaped, key)) return false;
  skip_space();
  if (at_ >= text_.size() || text_[at_] != ':') return expected("\":\"");
  ++at_;
  return true;
}

/// A string without a backslash is a view of the text; any other one is built in `unescaped`.
bool JsonReader::read_raw_string(std::string& unescaped, std::string_view& out) {
  const std::size_t begin = ++at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
         static_cast<unsigned char>(text_[at_]) >= 0x20)
    ++at_;
  if (at_ < text_.size() && text_[at_] == '"') {
    out = text_.substr(begin, at_++ - begin);
    return true;
  }
  unescaped.assign(text_.substr(begin, at_ - begin));
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (static_cast<unsigned char>(c) < 0x20) return fail("a control character inside a string");
    ++at_;
    if (c == '"') {
      out = unescaped;
      return true;
    }
    if (c != '\\')
      unescaped.push_back(c);
    else if (!unescape(unescaped))
      return false;
  }
  return fail("a string without its closing quote");
}

bool JsonReader::unescape(std::string& out) {
  constexpr std::string_view kFrom = "\"\\/bfnrt";
  constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
  if (at_ >= text_.size()) return fail("a string without its closing quote");
  const char c = text_[at_++];
  if (c == 'u') return unescape_unicode(out);
  const auto index = kFrom.find(c);
  if (index == std::string_view::npos) return fail("a backslash before something that needs none");
  out.push_back(kTo[index]);
  return true;
}

/// Behind "\u". A pair of surrogates is one character; a lone one becomes U+FFFD.
bool JsonReader::unescape_unicode(std::string& out) {
  constexpr std::uint32_t kReplacement = 0xfffd;
  std::uint32_t code = 0;
  if (!read_hex4(code)) return false;
  if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
    const std::size_t before = at_;
    std::uint32_t low = 0;
    at_ += 2;
    if (!read_hex4(low)) return false;
    if (low >= 0xdc00 && low < 0xe000) {
      append_utf8(out, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
      return true;
    }
    at_ = before;
  }
  append_utf8(out, code >= 0xd800 && code < 0xe000 ? kReplacement : code);
  return true;
}

bool JsonReader::read_hex4(std::uint32_t& out) {
  const std::string_view digits = text_.substr(at_, 4);
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
  if (digits.size() != 4 || error != std::errc() || stop != digits.data() + 4)
    return fail("\\u without four hexadecimal digits");
  at_ += 4;
  return true;
}

/// RFC 8259: -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
bool JsonReader::number_token(std::string_view& out, bool& whole) {
  skip_space();
  if (failed_) return false;
  std::size_t end = at_;
  const auto digits = [this, &end] {
    const std::size_t begin = end;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    return end - begin;
  };
  const auto take = [this, &end](std::string_view any_of) {
    const bool found = end < text_.size() && any_of.find(text_[end]) != std::string_view::npos;
    if (found) ++end;
    return found;
  };
  whole = !take("-");
  const std::size_t first = end;
  const std::size_t count = digits();
  if (count == 0 || (count > 1 && text_[first] == '0')) return expected("a number");
  if (take(".")) {
    whole = false;
    if (digits() == 0) return expected("a number");
  }
  if (take("eE")) {
    whole = false;
    take("+-");
    if (digits() == 0) return expected("a number");
  }
  out = text_.substr(at_, end - at_);
  return true;
}

bool JsonReader::read(std::string& out) {
  skip_space();
  if (failed_) return false;
  if (at_ >= text_.size() || text_[at_] != '"') return expected("text in quotes");
  std::string unescaped;
  std::string_view view;
  if (!read_raw_string(unescaped, view)) return false;
  out.assign(view);
  return true;
}

bool JsonReader::literal(std::string_view word) {
  skip_space();
  if (failed_ || text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

bool JsonReader::read(bool& out) {
  out = literal("true");
  return out || literal("false") || expected("true or false");
}

bool JsonReader::read(double& out) {
  std::string_view token;
  bool whole = false;
  if (!number_token(token, whole)) return false;
  const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), out);
  if (error != std::errc() || !std::isfinite(out))
    return expected("a number that a double can hold");
  at_ += token.size();
  return true;
}

bool JsonReader::read(std::uint64_t& out) {
  std::string_view token;
  bool whole = false;
  if (!number_token(token, whole)) return false;
  if (!whole) return expected("a whole number");
  const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), out);
  if (error != std::errc()) return expected("a whole number below 2^64");
  at_ += token.size();
  return true;
}

bool JsonReader::read(std::uint32_t& out) {
  const std::size_t before = at_;
  std::uint64_t wide = 0;
  if (!read(wide)) return false;
  if (wide > std::numeric_limits<std::uint32_t>::max()) {
    at_ = before;
    return expected("a whole number below 2^32");
  }
  out = static_cast<std::uint32_t>(wide);
  return true;
}

bool JsonReader::take_null() { return literal("null"); }

bool JsonReader::skip() {
  skip_space();
  if (failed_) return false;
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  if (c == '{') return object([this](std::string_view) { return skip(); });
  if (c == '[') return array([this] { return skip(); });
  if (c == '"') {
    std::string unescaped;
    std::string_view view;
    return read_raw_string(unescaped, view);
  }
  if (c == '-' || is_digit(c)) {
    std::string_view token;
    bool whole = false;
    if (!number_token(token, whole)) return false;
    at_ += token.size();
    return true;
  }
  return literal("true") || literal("false") || literal("null") || expected("a value");
}

bool JsonReader::at_end() {
  skip_space();
  return at_ >= text_.size() || expected("the end");
}

}  // namespace linkhealth
