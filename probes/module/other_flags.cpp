#include "probes/module/other_flags.h"

#include <fmt/format.h>

#include <string>

namespace linkhealth {

void take_other_flag(std::string_view name, std::optional<std::uint32_t> lane, std::optional<bool> set,
                     ModuleSample& sample) {
  if (set) sample.other_flags.push_back({std::string(name), lane, *set});
}

void take_makers_flags(const ModulePage& page, unsigned byte, ModuleSample& sample) {
  if (page.byte(byte) == 0xff) return;
  for (unsigned bit = 0; bit < 8; ++bit)
    take_other_flag(fmt::format("custom_flag_{}_{}", byte, bit), std::nullopt, page.bit(byte, bit), sample);
}

}  // namespace linkhealth
