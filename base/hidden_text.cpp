#include "base/hidden_text.h"

#include <algorithm>

#include "base/text.h"

namespace linkhealth {

std::optional<char32_t> hidden_character(std::string_view text) {
  const auto byte = [&text](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::size_t length = utf8_length(text);
  char32_t point = 0;
  if (length == 1) point = byte(0);
  if (length == 2) point = (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
  if (length == 3) point = (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  const bool hidden = point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c ||
                      (point >= 0x200b && point <= 0x200f) ||
                      (point >= 0x2028 && point <= 0x202e) ||
                      (point >= 0x2060 && point <= 0x206f) || point == 0xfeff;
  if (length == 0 || length > 3 || !hidden) return std::nullopt;
  return point;
}

std::string without_hidden(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || hidden_character(text))
      out += '?';
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace linkhealth
