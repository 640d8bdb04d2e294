// What the memory maps measure, as rows of a table: where the value, its limits and its flags
// stand, their scale, and the bit that says that they are there. One reader goes over the rows of
// each map.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "model/snapshot.h"
#include "probes/module/image.h"
#include "probes/module/values.h"

namespace linkhealth {

/// A bit of an advertisement. Byte 0 never is one: the map has the quantity always.
struct AdvertBit {
  std::uint8_t byte = 0, bit = 0;
};
inline bool is_offered(const ModulePage& advert, AdvertBit row) {
  return row.byte == 0 || advert.offers(row.byte, row.bit);
}

/// Bytes of a quantity: its value, its four limits, and its high alarm with the bit (of the first
/// lane).
struct MonitorAt {
  std::uint8_t value, limits, flags, flags_bit;
};

/// Of the module as a whole (`value`, `flags`) or of each lane (`lane_value`, `lane_flags`: two
/// bytes of value, half a byte of flags for each lane).
struct MonitorRow {
  ModuleQuantity quantity;
  MonitorAt at;
  AdvertBit advert;
  Limits ModuleThresholds::*limits = nullptr;
  std::optional<double> ModuleSample::*value = nullptr;
  AlarmFlags ModuleSample::*flags = nullptr;
  std::optional<double> ModuleLane::*lane_value = nullptr;
  AlarmFlags ModuleLane::*lane_flags = nullptr;
  bool scale_known = true;  ///< false: only its flags are read

  [[nodiscard]] constexpr bool of_lane() const { return lane_value != nullptr; }
};
constexpr MonitorRow of_module(const ModuleQuantity& quantity, MonitorAt at, AdvertBit advert,
                               Limits ModuleThresholds::*limits,
                               std::optional<double> ModuleSample::*value,
                               AlarmFlags ModuleSample::*flags) {
  return {.quantity = quantity,
          .at = at,
          .advert = advert,
          .limits = limits,
          .value = value,
          .flags = flags};
}
constexpr MonitorRow of_lane(const ModuleQuantity& quantity, MonitorAt at, AdvertBit advert,
                             Limits ModuleThresholds::*limits,
                             std::optional<double> ModuleLane::*value,
                             AlarmFlags ModuleLane::*flags) {
  return {.quantity = quantity,
          .at = at,
          .advert = advert,
          .limits = limits,
          .lane_value = value,
          .lane_flags = flags};
}

/// A bit that says something by itself: a state, a loss, a fault. Of a lane the first one's; the
/// others follow above it.
template <typename Owner>
struct StateBit {
  std::optional<bool> Owner::*field;
  std::uint8_t at, bit;
  AdvertBit advert;
};

/// The pages that a map's rows speak of.
struct MonitorPages {
  ModulePage values, limits;
  FlagLayout layout;
  bool flags = true;  ///< whether the module has flags of its limits
  LimitEnds ends = LimitEnds::kNumbers;
};

/// The value and the flags of a row of the module.
void take_value(const MonitorPages& pages, const MonitorRow& row, ModuleSample& sample);
void take_limits(const MonitorPages& pages, const MonitorRow& row, ModuleSample& sample);
/// The same of a lane: `index` is 0 for the first; `number` names it in warnings, 0 for the only
/// one.
void take_lane_value(const MonitorPages& pages, const MonitorRow& row, unsigned index,
                     unsigned number, ModuleLane& lane, ModuleWarnings& warnings);

/// Whether one of them says so; nullopt: none of them says.
std::optional<bool> any_says(std::span<const ModuleHostLane> lanes,
                             std::optional<bool> ModuleHostLane::*field);

}  // namespace linkhealth
