// A small pull parser for JSON: the caller asks for what it expects, in the order of the text, and
// nothing is built that it did not ask for. Made for recordings (a day of a node is 100 MB);
// strict, bounded in depth, never throws. The first failure stays: every later call answers false,
// and error() says what was wrong and where.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace linkhealth {

class JsonReader {
 public:
  /// Objects and arrays inside each other, at most.
  static constexpr int kMaxDepth = 32;

  /// REQUIRES: `text` outlives the reader.
  explicit JsonReader(std::string_view text) : text_(text) {}

  /// Reads an object: calls on_key(key) for each, which must read exactly one value and answer
  /// whether it could.
  template <std::predicate<std::string_view> OnKey>
  bool object(OnKey on_key) {
    if (!open('{', "an object")) return false;
    std::set<std::string, std::less<>> keys;  // stays empty unless they are watched
    for (bool first = true; !close('}', first); first = false) {
      std::string unescaped;
      std::string_view key;
      if (failed_ || !read_key(unescaped, key)) return false;
      if (watching_ && !repeated_ && !keys.emplace(key).second) repeated_ = key;
      if (!on_key(key)) return stepped_out(key);
    }
    return !failed_;
  }

  /// Reads an array: calls on_item() for each, which must read exactly one value and answer whether
  /// it could.
  template <std::predicate<> OnItem>
  bool array(OnItem on_item) {
    if (!open('[', "an array")) return false;
    std::size_t number = 1;
    for (bool first = true; !close(']', first); first = false, ++number) {
      if (failed_) return false;
      if (!on_item()) return stepped_out(std::to_string(number));
    }
    return !failed_;
  }

  bool read(std::string& out);
  bool read(bool& out);
  /// A finite number.
  bool read(double& out);
  /// A whole number, neither negative nor too large; 5.0 and 1e3 are not whole numbers.
  bool read(std::uint64_t& out);
  bool read(std::uint32_t& out);
  /// Takes a null when one comes next; otherwise takes nothing and answers false. Not a failure.
  bool take_null();
  /// Checks and drops one value of any kind.
  bool skip();
  /// Whether nothing but white space is left.
  bool at_end();

  /// From now on a key that stands twice in one object is noticed, before its second value is read.
  /// RFC 8259 4 leaves open which one counts. Not a failure; costs a copy of each key.
  void watch_keys() { watching_ = true; }
  /// The first such key since forget_repeated().
  [[nodiscard]] const std::optional<std::string>& repeated() const { return repeated_; }
  void forget_repeated() { repeated_.reset(); }

  [[nodiscard]] bool failed() const { return failed_; }
  /// Makes this reader fail for a reason of the caller; answers false.
  bool fail(std::string_view message);
  /// "ports > mlx5_0/1 > link > lanes: expected a whole number, found "four" (column 211)"
  [[nodiscard]] std::string error() const;

 private:
  void skip_space();
  bool open(char bracket, std::string_view what);
  bool close(char bracket, bool first);
  bool read_key(std::string& unescaped, std::string_view& key);
  bool read_raw_string(std::string& unescaped, std::string_view& out);
  bool unescape(std::string& out);
  bool unescape_unicode(std::string& out);
  bool read_hex4(std::uint32_t& out);
  bool number_token(std::string_view& out, bool& whole);
  bool literal(std::string_view word);
  bool expected(std::string_view what);
  bool stepped_out(std::string_view step);

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  bool watching_ = false;
  std::optional<std::string> repeated_;
  std::string message_;
  std::vector<std::string> path_;
};

}  // namespace linkhealth
