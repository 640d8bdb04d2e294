// Text of the program itself: it is there as long as the program is, so whoever keeps it keeps a
// place, not a copy.
#pragma once

#include <cstddef>
#include <string_view>

namespace linkhealth {

/// Made of a literal, and of nothing else: the compiler refuses what does not stay.
class StaticText {
 public:
  constexpr StaticText() = default;
  template <std::size_t kSize>
  consteval StaticText(const char (&text)[kSize])
      : text_(text, kSize - 1) {}  // NOLINT(*-explicit-*,*-avoid-c-arrays)
  constexpr operator std::string_view() const { return text_; }  // NOLINT(*-explicit-*): it is one
  [[nodiscard]] constexpr bool empty() const { return text_.empty(); }

  /// What begins at one place is the same, unread.
  friend constexpr bool operator==(StaticText a, StaticText b) {
    return a.text_.size() == b.text_.size() &&
           (a.text_.data() == b.text_.data() || a.text_ == b.text_);
  }

 private:
  std::string_view text_;
};

}  // namespace linkhealth
