// JSON by nlohmann's library: documents that are read, and documents that are written. Slow to
// compile: include it in .cpp files only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace linkhealth {

/// A document that was read. Objects are sorted by key, so that a hostile document cannot make a
/// look-up slow.
using Json = nlohmann::json;
/// A document that is written. Keys keep the order in which they were added: the same value always
/// gives the same bytes.
using OrderedJson = nlohmann::ordered_json;

/// Maximum nesting of objects and arrays in a document that is read.
inline constexpr int kMaxJsonDepth = 32;

/// Strict (RFC 8259); if an object has a key twice, the last value counts. Never throws.
Result<Json> parse_json(std::string_view text);
/// On one line. Bytes that are not UTF-8 become U+FFFD; a number that is not finite becomes null.
std::string format_json(const OrderedJson& json);
/// `text` in double quotes, escaped for JSON and YAML.
std::string quoted_json(std::string_view text);

/// The member `key` of an object; null if it is missing or `json` is not an object.
const Json& member(const Json& json, std::string_view key);
/// The text of the member `key`; "" if it is missing or not a text.
std::string text_member(const Json& json, std::string_view key);

}  // namespace linkhealth
