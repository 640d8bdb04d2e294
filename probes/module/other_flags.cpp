#include "probes/module/other_flags.h"

#include <fmt/format.h>

#include <string>

namespace linkhealth {

void take_other_flag(std::string_view name, std::optional<std::uint32_t> lane,
                     std::optional<bool> set, ModuleSample& sample) {
  if (set) sample.other_flags.push_back({std::string(name), lane, *set});
}

void take_other_flags(std::string_view name, std::optional<std::uint32_t> lane,
                      const AlarmFlags& flags, ModuleSample& sample) {
  const std::string prefix(name);
  take_other_flag(prefix + "_low_alarm", lane, flags.low_alarm, sample);
  take_other_flag(prefix + "_low_warn", lane, flags.low_warn, sample);
  take_other_flag(prefix + "_high_warn", lane, flags.high_warn, sample);
  take_other_flag(prefix + "_high_alarm", lane, flags.high_alarm, sample);
}

void take_makers_flags(const ModulePage& page, unsigned byte, ModuleSample& sample) {
  if (page.byte(byte) == 0xff) return;
  for (unsigned bit = 0; bit < 8; ++bit)
    take_other_flag(fmt::format("custom_flag_{}_{}", byte, bit), std::nullopt, page.bit(byte, bit),
                    sample);
}

}  // namespace linkhealth
