// Latched flags that no rule judges and no field of a sample has. A read clears them in the module
// all the same, so that they are kept by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/snapshot.h"
#include "probes/module/image.h"

namespace linkhealth {

/// Lists a flag, set or not; one that was not read (nullopt) is not listed. `lane`: 1 first.
void take_other_flag(std::string_view name, std::optional<std::uint32_t> lane,
                     std::optional<bool> set, ModuleSample& sample);

/// The four of a monitor: "media_rx_power_low_alarm", …
void take_other_flags(std::string_view name, std::optional<std::uint32_t> lane,
                      const AlarmFlags& flags, ModuleSample& sample);

/// The eight bits of a byte whose meaning is the maker's: "custom_flag_13_0" is bit 0 of byte 13. A
/// byte of all ones was not filled in.
void take_makers_flags(const ModulePage& page, unsigned byte, ModuleSample& sample);

}  // namespace linkhealth
