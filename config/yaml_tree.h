// YAML as a plain tree with line numbers, in bounded size and depth. The one place that knows
// yaml-cpp. Aliases, duplicate keys and second documents are refused: a configuration needs none of
// them, and each of them hides something.
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

/// An item of a list; an error ends the reading.
using TakeItem = std::function<Result<void>(const YamlNode& item)>;

/// The root of the only document; kNull for an empty text. Errors are "FILE:LINE: what". With
/// `take_item` a list at the root has no items: each goes there as it ends, so that a long list is
/// not in memory as a tree.
Result<YamlNode> parse_yaml(std::string_view text, std::string_view file_name,
                            const TakeItem& take_item = {});

/// "FILE:LINE: what".
Error error_at(std::string_view file_name, std::size_t line, std::string_view what);

/// Reads the values of one file's tree. Errors are "FILE:LINE: what".
class YamlReader {
 protected:
  using Member = YamlNode::Member;
  using Keys = std::span<const std::string_view>;

  /// `file_name` must outlive it.
  explicit YamlReader(std::string_view file_name) : file_name_(file_name) {}

  [[nodiscard]] Error wrong(std::size_t line, std::string_view what) const {
    return error_at(file_name_, line, what);
  }
  [[nodiscard]] Error unknown_key(const Member& member, Keys good) const;
  /// Calls `read` for each key of a map. An error for a key that is not in `good`.
  Result<void> each_key(const Member& map, Keys good,
                        const std::function<Result<void>(const Member&)>& read) const;
  /// As each_key(), with any key allowed.
  Result<void> each(const Member& map,
                    const std::function<Result<void>(const Member&)>& read) const;
  [[nodiscard]] Result<std::string> text(const Member& member) const;
  [[nodiscard]] Result<bool> flag(const Member& member) const;

 private:
  std::string_view file_name_;
};

}  // namespace linkhealth
