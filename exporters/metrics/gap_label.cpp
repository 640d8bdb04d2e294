#include "exporters/metrics/gap_label.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "model/snapshot.h"

namespace linkhealth {

namespace {

constexpr std::size_t kMaxBytes = 80;

/// `text` without what stands in quotes: a file may say anything, quotes and semicolons too, so all
/// from the first quote to the last one goes.
std::string unquoted(std::string_view text) {
  const auto open = text.find('"');
  if (open == std::string_view::npos) return std::string(text);
  const auto close = text.rfind('"');
  return std::string(text.substr(0, open)) + "\"...\"" + std::string(text.substr(close + 1));
}

/// `text` without what a parser says of a file that it can't read: it shows the place and some of
/// the content. Nor what to do about a counter that is full.
std::string_view without_place(std::string_view text) {
  for (const std::string_view last :
       {std::string_view("not whole or not the format"), kCountsNoFurther})
    if (const auto at = text.find(last); at != std::string_view::npos)
      return text.substr(0, at + last.size());
  return text;
}

/// Runs of digits become "N": a number is not a kind of failure. The patience of a hung read is
/// configured, and stays.
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

std::string_view behind_colon(std::string_view part) {
  const auto colon = part.find(": ");
  return colon == std::string_view::npos ? part : trim(part.substr(colon + 2));
}

std::string cause_of(std::string_view part) {
  part = trim(part);
  if (part.find("text \"") != std::string_view::npos) return "unexpected text";
  if (part.starts_with("EOPNOTSUPP")) return "EOPNOTSUPP";
  // "files: cause"; a sentence of ours has its colon after more than a list of names, and stays
  // whole.
  part = behind_colon(part);
  // "ports > PORT: cause" of an imported file, which may call a port anything.
  return without_numbers(part.starts_with("ports > ") ? behind_colon(part) : part);
}

/// At most kMaxBytes, and no half character: a label that is no UTF-8 spoils the whole scrape.
void cut(std::string& label) {
  if (label.size() <= kMaxBytes) return;
  std::size_t size = kMaxBytes;
  while (size > 0 && (static_cast<unsigned char>(label[size]) & 0xc0U) == 0x80U) --size;
  label.resize(size);
}

}  // namespace

std::string gap_label(std::string_view reason) {
  const std::string plain = unquoted(without_place(reason));
  std::vector<std::string> causes;
  std::string_view rest = plain;
  while (!rest.empty()) {
    const auto end = rest.find("; ");
    std::string cause = cause_of(rest.substr(0, end));
    if (!cause.empty() && std::find(causes.begin(), causes.end(), cause) == causes.end())
      causes.push_back(std::move(cause));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 2);
  }
  std::sort(causes.begin(), causes.end());
  std::string label;
  for (const std::string& cause : causes) label += (label.empty() ? "" : "; ") + cause;
  cut(label);
  return label;
}

}  // namespace linkhealth
