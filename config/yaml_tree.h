// YAML as a plain tree with line numbers, in bounded size and depth. The one place that knows
// yaml-cpp. Aliases, duplicate keys and second documents are refused: a configuration needs none of
// them, and each of them hides something.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace linkhealth {

struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  struct Member;

  Kind kind = Kind::kNull;
  std::size_t line = 1;
  std::string scalar;
  bool quoted = false;  ///< "5" in quotes is text, never a number
  std::vector<YamlNode> items;
  std::vector<Member> members;
};

struct YamlNode::Member {
  std::string key;
  std::size_t line = 1;  ///< of the key
  YamlNode value;
};

/// The root of the only document; kNull for an empty text. Errors are "FILE:LINE: what".
Result<YamlNode> parse_yaml(std::string_view text, std::string_view file_name);

/// "FILE:LINE: what".
Error error_at(std::string_view file_name, std::size_t line, std::string_view what);

}  // namespace linkhealth
