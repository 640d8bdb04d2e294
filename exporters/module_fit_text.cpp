// Lines of module_text() that are wider than the screen.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "exporters/module_light_text.h"
#include "exporters/module_values_text.h"

namespace linkhealth {

namespace {

constexpr std::size_t kRowValue = 15;  ///< the column where row() puts its value

/// The byte after a colour's code that begins at `at`; `at` when none does.
std::size_t behind_colour(std::string_view line, std::size_t at) {
  if (line[at] != '\x1b') return at;
  const auto end = line.find('m', at);
  return end == std::string_view::npos ? at : end + 1;
}

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80; }

/// The blank to break a line at that is wider than `width`, right of column `from`; nullopt when it
/// fits, or has none. Between columns or behind a comma where that does not leave half of the line
/// empty, else between words.
std::optional<std::size_t> break_of(std::string_view line, std::size_t from, std::size_t width) {
  std::optional<std::size_t> word, part;  // the last blank, and the last that parts more than words
  std::size_t column = 0,
              closed = 0;  // no break left of `closed`: the blanks of a bar part nothing
  for (std::size_t i = 0; i < line.size(); ++i) {
    for (std::size_t next = i; i < line.size() && (next = behind_colour(line, i)) != i;) i = next;
    if (i == line.size()) return std::nullopt;
    if (!starts_character(line[i])) continue;
    if (line[i] == '[' || line.substr(i).starts_with("▕")) closed = column + kBarColumns + 1;
    if (line[i] == ' ' && column > std::max(from, closed) && column <= width &&
        line[i - 1] != ' ') {
      word = i;
      if (column > width / 2 && (line[i - 1] == ',' || line.substr(i).starts_with("  "))) part = i;
    }
    if (++column > width) return part ? part : word;
  }
  return std::nullopt;
}

/// Where a line goes on: a row under its value, all else a little more to the right than it began.
std::size_t hanging(std::string_view line) {
  line.remove_prefix(line.empty() ? 0 : behind_colour(line, 0));
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  const bool is_row =
      start == 2 && line.size() > kRowValue && line[kRowValue - 1] == ' ' && line[kRowValue] != ' ';
  return is_row || start >= kRowValue ? kRowValue : start + 2;
}

std::string broken(std::string_view line, std::size_t width) {
  const std::size_t indent = hanging(line);
  std::string out;
  for (auto at = break_of(line, indent, width); at; at = break_of(line, 0, width - indent)) {
    out += std::string(line.substr(0, *at)) + "\n" + std::string(indent, ' ');
    line.remove_prefix(std::min(line.find_first_not_of(' ', *at), line.size()));
  }
  return out + std::string(line);
}

}  // namespace

std::string fitted(std::string_view text, std::size_t width) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) out += broken(line, width) + "\n";
  if (!out.empty()) out.pop_back();  // the last line's own end
  return out;
}

}  // namespace linkhealth
