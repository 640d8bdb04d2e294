// JSON by nlohmann's library: documents that are read, and documents that are written. Heavy to
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
/// A document that is written: keys stay in the order in which they were added, so that the same
/// value always gives the same bytes.
using OrderedJson = nlohmann::ordered_json;

/// Objects and arrays inside each other in a document that is read, at most.
inline constexpr int kMaxJsonDepth = 32;

/// Strict (RFC 8259); of a key that an object has twice, the last value counts. Never throws.
Result<Json> parse_json(std::string_view text);
/// On one line. Bytes that are not UTF-8 become U+FFFD; a number that is not finite becomes null.
std::string format_json(const OrderedJson& json);
/// `text` in double quotes, as JSON and YAML have it.
std::string quoted_json(std::string_view text);

/// The member `key` of an object; null where it is missing or `json` is no object.
const Json& member(const Json& json, std::string_view key);
/// The text of the member `key`; "" where it is missing or no text.
std::string text_member(const Json& json, std::string_view key);

}  // namespace linkhealth
