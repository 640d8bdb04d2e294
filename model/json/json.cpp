#include "model/json/json.h"

#include <fmt/format.h>

#include "base/hidden_text.h"
#include "base/text.h"

namespace linkhealth {

namespace {

/// Each level costs the library stack or heap; our documents have about ten.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

/// Direction marks are written as escapes ("\u202e"), so that the JSON is safe to print. A parser
/// reads the same text.
std::string with_hidden_escaped(std::string json) {
  constexpr std::string_view kFirstBytes = "\x7f\xc2\xd8\xe2\xef";
  std::string out;
  std::string_view rest = json;
  for (std::size_t at = 0; (at = rest.find_first_of(kFirstBytes, at)) != std::string_view::npos;) {
    const auto point = hidden_character(rest.substr(at));
    if (!point) {
      ++at;
      continue;
    }
    out += rest.substr(0, at);
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(*point));
    rest.remove_prefix(at + utf8_length(rest.substr(at)));
    at = 0;
  }
  if (out.empty()) return json;
  return out += rest;
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  if (is_too_deep(text)) return Error{"not valid JSON: nested too deeply"};
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    return Error{fmt::format("not valid JSON (byte {})", error.byte)};
  } catch (const Json::exception&) {
    return Error{"not valid JSON: a number that is too large"};
  }
}

std::string format_json(const OrderedJson& json) {
  return with_hidden_escaped(json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
}

std::string quoted_json(std::string_view text) { return format_json(OrderedJson(text)); }

const Json& member(const Json& json, std::string_view key) {
  static const Json kNone;
  if (!json.is_object()) return kNone;
  const auto found = json.find(key);
  return found == json.end() ? kNone : *found;
}

std::string text_member(const Json& json, std::string_view key) {
  const Json& found = member(json, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

}  // namespace linkhealth
