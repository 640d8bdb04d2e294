#include "exporters/metrics/gap_label.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "model/snapshot.h"

namespace linkhealth {

namespace {

constexpr std::size_t kMaxBytes = 80;

/// Replaces everything from the first to the last quote: quoted text may contain quotes and
/// semicolons.
std::string unquoted(std::string_view text) {
  const auto open = text.find('"');
  if (open == std::string_view::npos) return std::string(text);
  return fmt::format("{}\"...\"{}", text.substr(0, open), text.substr(text.rfind('"') + 1));
}

/// Removes a parser's details (position and content of the file), and how to reset a saturated
/// counter.
std::string_view without_details(std::string_view text) {
  for (const std::string_view last :
       {std::string_view("not whole or not the format"), kCountsNoFurther})
    if (const auto at = text.find(last); at != std::string_view::npos)
      return text.substr(0, at + last.size());
  return text;
}

/// Runs of digits become "N"; the time limit of a hung read is configured, and is kept.
std::string without_numbers(std::string_view text) {
  if (text.starts_with("no answer within")) return std::string(text);
  std::string out;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) out += c;
    if (digit && !out.ends_with('N')) out += 'N';
  }
  return out;
}

std::string_view after_colon(std::string_view part) {
  const auto colon = part.find(": ");
  return colon == std::string_view::npos ? part : trim(part.substr(colon + 2));
}

std::string cause_of(std::string_view part) {
  part = trim(part);
  if (part.find("text \"") != std::string_view::npos) return "unexpected text";
  if (part.starts_with("EOPNOTSUPP")) return "EOPNOTSUPP";
  part = after_colon(part);  // "files: cause"
  // "ports > PORT: cause" of an imported file, which may contain any port name.
  return without_numbers(part.starts_with("ports > ") ? after_colon(part) : part);
}

}  // namespace

std::string gap_label(std::string_view reason) {
  const std::string plain = unquoted(without_details(reason));
  std::set<std::string> causes;
  for (std::size_t begin = 0; begin < plain.size();) {
    const auto end = std::min(plain.find("; ", begin), plain.size());
    causes.insert(cause_of(std::string_view(plain).substr(begin, end - begin)));
    begin = end + 2;
  }
  causes.erase("");
  std::string label = fmt::format("{}", fmt::join(causes, "; "));
  if (label.size() <= kMaxBytes) return label;
  // Not within a character: a label that is not UTF-8 spoils the whole scrape.
  std::size_t size = kMaxBytes;
  while (size > 0 && (static_cast<unsigned char>(label[size]) & 0xc0U) == 0x80U) --size;
  return label.substr(0, size);
}

}  // namespace linkhealth
