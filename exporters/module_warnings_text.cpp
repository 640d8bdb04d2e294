#include "exporters/module_warnings_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

/// Words of warnings about memory that nobody read, or of which nobody knows the meaning. All
/// others are about what was read and cannot be true.
constexpr std::string_view kNotKnown[] = {
    "not read",
    "read in part",
    "breaks off",
    "not known",
    "did not answer",
    "only who it is",
    "change of the bus address",
};

/// "page 11h of bank 1: EIO": how the kernel refused a read.
bool is_failed_read(std::string_view warning) {
  const auto colon = warning.rfind(": E");
  if (colon == std::string_view::npos) return false;
  return std::ranges::all_of(warning.substr(colon + 2), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

/// "page 11h of bank 3 was not read": what stands before and behind the number, and the number.
struct OfBank {
  std::string_view before, behind;
  std::uint64_t bank = 0;
};

std::optional<OfBank> of_bank(std::string_view warning) {
  constexpr std::string_view kBank = " of bank ";
  const auto at = warning.find(kBank);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = warning.substr(at + kBank.size());
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto bank = parse_u64(rest.substr(0, digits));
  return bank ? std::optional(OfBank{warning.substr(0, at), rest.substr(digits), *bank})
              : std::nullopt;
}

/// Banks that follow on each other and of which the same is said are one sentence.
std::vector<std::string> folded(const std::vector<std::string>& warnings) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < warnings.size();) {
    const auto first = of_bank(warnings[i]);
    std::size_t end = i + 1;
    for (; first && end < warnings.size(); ++end) {
      const auto next = of_bank(warnings[end]);
      if (!next || next->before != first->before || next->behind != first->behind ||
          next->bank != first->bank + (end - i))
        break;
    }
    out.push_back(end == i + 1 ? warnings[i]
                               : fmt::format("{} of banks {} to {}{}", first->before, first->bank,
                                             first->bank + (end - i) - 1, first->behind));
    i = end;
  }
  return out;
}

std::string list(std::string_view heading, const std::vector<std::string>& warnings,
                 const TextStyle& style) {
  if (warnings.empty()) return {};
  std::string out = "\n" + paint_bold(fmt::format("  {}", heading), style) + "\n";
  for (const std::string& warning : folded(warnings))
    for (const std::string& line :
         wrap(clean_text(warning, style.ascii),
              static_cast<std::size_t>(std::max(60, style.width_columns)) - 4))
      out += "    " + line + "\n";
  return out;
}

}  // namespace

bool is_not_known(std::string_view warning) {
  return is_failed_read(warning) || std::ranges::any_of(kNotKnown, [&](std::string_view words) {
           return warning.find(words) != std::string_view::npos;
         });
}

std::string warnings_text(const ModuleSample& m, const TextStyle& style) {
  std::vector<std::string> unknown, disbelieved;
  for (const std::string& warning : m.warnings)
    (is_not_known(warning) ? unknown : disbelieved).push_back(warning);
  return list("Not known", unknown, style) + list("Not believed", disbelieved, style);
}

}  // namespace linkhealth
