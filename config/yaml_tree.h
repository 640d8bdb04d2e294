// YAML as a plain tree with line numbers, in bounded size and depth. The only code that uses
// yaml-cpp. Aliases, duplicate keys and further documents are rejected: a configuration does not
// need them, and they hide mistakes.
#pragma once

#include <functional>
#include <span>
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

/// Receives an item of a list; an error ends the parsing.
using TakeItem = std::function<Result<void>(const YamlNode& item)>;

/// The root of the only document; kNull for an empty text. Errors are "FILE:LINE: what". With
/// `take_item`, each item of a list at the root is passed to it as soon as it is complete and then
/// dropped, so that a long list is never in memory as a tree.
Result<YamlNode> parse_yaml(std::string_view text, std::string_view file_name,
                            const TakeItem& take_item = {});

/// "FILE:LINE: what".
Error error_at(std::string_view file_name, std::size_t line, std::string_view what);

/// Reads the values of one file's tree. Errors are "FILE:LINE: what".
class YamlReader {
 protected:
  using Member = YamlNode::Member;
  using Keys = std::span<const std::string_view>;

  /// `file_name` must outlive the reader.
  explicit YamlReader(std::string_view file_name) : file_name_(file_name) {}

  [[nodiscard]] Error wrong(std::size_t line, std::string_view what) const {
    return error_at(file_name_, line, what);
  }
  [[nodiscard]] Error unknown_key(const Member& member, Keys good) const;
  /// Calls `read` for each key of a map. An error if a key is not in `good`.
  Result<void> each_key(const Member& map, Keys good,
                        const std::function<Result<void>(const Member&)>& read) const;
  /// Like each_key(), but any key is allowed.
  Result<void> each(const Member& map,
                    const std::function<Result<void>(const Member&)>& read) const;
  [[nodiscard]] Result<std::string> text(const Member& member) const;
  [[nodiscard]] Result<bool> flag(const Member& member) const;

 private:
  std::string_view file_name_;
};

}  // namespace linkhealth
