#include "diagnosis/peer_names.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"

namespace linkhealth {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string lower(std::string_view text) {
  std::string out(trim(text));
  std::ranges::transform(out, out.begin(),
                         [](char c) { return std::tolower(static_cast<unsigned char>(c)); });
  return out;
}

/// "42:e2:2d:6f:0b:a1", "fe80::1", "10.0.0.1".
bool is_address(std::string_view text) {
  const auto colons = std::ranges::count(text, ':');
  const auto hex = [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':';
  };
  if (colons >= 2 && std::ranges::all_of(text, hex)) return true;
  return std::ranges::count(text, '.') == 3 &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.'; });
}

/// The numbers in a name, without leading zeros: "Ethernet17/01" -> 17, 1.
std::vector<std::string> numbers(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) continue;
    if (i == 0 || !is_digit(text[i - 1])) found.emplace_back();
    if (found.back() == "0") found.back().clear();
    found.back() += text[i];
  }
  return found;
}

bool is_bare_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

NameMatch compare_port(const std::string& reported, const std::string& planned) {
  if (reported.empty() || planned.empty()) return NameMatch::kUnknown;
  if (reported == planned) return NameMatch::kSame;
  if (is_address(reported) != is_address(planned)) return NameMatch::kUnknown;
  if (is_address(reported)) return NameMatch::kDiffers;
  const auto a = numbers(reported);
  const auto b = numbers(planned);
  if (a.empty() != b.empty()) return NameMatch::kUnknown;
  if (!a.empty() && a == b) return NameMatch::kSame;
  return is_bare_number(reported) != is_bare_number(planned) ? NameMatch::kUnknown
                                                             : NameMatch::kDiffers;
}

}  // namespace

NameMatch compare_systems(std::string_view reported, std::string_view planned) {
  const std::string a = lower(reported), b = lower(planned);
  if (a.empty() || b.empty()) return NameMatch::kUnknown;
  if (a == b) return NameMatch::kSame;
  if (is_address(a) != is_address(b)) return NameMatch::kUnknown;
  if (is_address(a)) return NameMatch::kDiffers;
  return a.substr(0, a.find('.')) == b.substr(0, b.find('.')) ? NameMatch::kSame
                                                              : NameMatch::kDiffers;
}

NameMatch compare_ports(std::string_view reported, std::string_view description,
                        std::string_view planned) {
  const std::string plan = lower(planned);
  const NameMatch by_name = compare_port(lower(reported), plan);
  if (by_name == NameMatch::kSame) return by_name;
  // A description is free text: it can confirm, but does not contradict a comparable name.
  const std::string other = lower(description);
  if (!other.empty() && !plan.empty() &&
      (other == plan || (!numbers(other).empty() && numbers(other) == numbers(plan))))
    return NameMatch::kSame;
  return by_name;
}

}  // namespace linkhealth
