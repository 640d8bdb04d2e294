#include "model/ledger_state.h"

#include <array>

namespace linkhealth {

namespace {
constexpr std::array<std::string_view, 3> kRepeatNames = {"port", "module", "cable"};
}  // namespace

bool is_acknowledged(const LedgerFault& fault, WallTime now) {
  return !fault.acknowledged_by.empty() &&
         (!fault.acknowledged_until || now < *fault.acknowledged_until);
}

std::string_view to_string(RepeatOf of) { return kRepeatNames.at(static_cast<std::size_t>(of)); }

std::optional<RepeatOf> parse_repeat_of(std::string_view text) {
  for (std::size_t i = 0; i < kRepeatNames.size(); ++i)
    if (kRepeatNames[i] == text) return static_cast<RepeatOf>(i);
  return std::nullopt;
}

}  // namespace linkhealth
