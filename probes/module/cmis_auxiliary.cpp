#include "probes/module/maps.h"
#include "probes/module/monitors.h"
#include "probes/module/values.h"

namespace linkhealth {

namespace {

/// What an auxiliary monitor of the lower page measures; 01h:145 chooses between two for each of
/// the three. Its limits stand on page 02h.
enum class AuxKind : std::uint8_t { kMakers, kTec, kLaserTemperature, kSecondSupply };
struct AuxMonitor {
  std::uint8_t offset, limits_offset, flags_offset, flags_bit;
  std::uint8_t advert_bit;  ///< of 01h:159: it is there
  std::uint8_t kind_bit;    ///< of 01h:145: which of the two
  AuxKind if_clear, if_set;
};
constexpr AuxMonitor kAuxiliary[] = {
    {18, 144, 10, 0, 2, 0, AuxKind::kMakers, AuxKind::kTec},
    {20, 152, 10, 4, 3, 1, AuxKind::kLaserTemperature, AuxKind::kTec},
    {22, 160, 11, 0, 4, 2, AuxKind::kLaserTemperature, AuxKind::kSecondSupply},
};

/// Where what it says goes.
struct AuxField {
  AuxKind kind;
  ModuleQuantity quantity;
  std::optional<double> ModuleSample::*value;
  Limits ModuleThresholds::*limits;
  AlarmFlags ModuleSample::*flags;
  /// Of a cooler the end of the scale is all its current, a number of table 8-64.
  bool ends_are_numbers = false;
};
constexpr ModuleQuantity kTecPercent{"TEC current", "%", true, -100, 100, 32767, {0, 100}};
constexpr ModuleQuantity kSecondSupplyV{"second supply", "V", true, 0.1, 3.3, 1e4};
constexpr ModuleQuantity named_laser_temperature(std::string_view name) {
  ModuleQuantity quantity = kTemperatureC;
  quantity.name = name;
  return quantity;
}
/// Two of the three may be of one kind: of a module with two lasers.
constexpr AuxField kFields[] = {
    {AuxKind::kTec, kTecPercent, &ModuleSample::tec_current_percent,
     &ModuleThresholds::tec_current_percent, &ModuleSample::tec_flags, true},
    {AuxKind::kTec, kTecPercent, &ModuleSample::second_tec_current_percent,
     &ModuleThresholds::second_tec_current_percent, &ModuleSample::second_tec_flags, true},
    {AuxKind::kLaserTemperature, named_laser_temperature("laser temperature"),
     &ModuleSample::laser_temperature_c, &ModuleThresholds::laser_temperature_c,
     &ModuleSample::laser_temperature_flags},
    {AuxKind::kLaserTemperature, named_laser_temperature("second laser temperature"),
     &ModuleSample::second_laser_temperature_c, &ModuleThresholds::second_laser_temperature_c,
     &ModuleSample::second_laser_temperature_flags},
    {AuxKind::kSecondSupply, kSecondSupplyV, &ModuleSample::second_supply_v,
     &ModuleThresholds::second_supply_v, &ModuleSample::second_supply_flags},
};

/// The lowest number of a cooler's current is none (table 8-10).
std::optional<double> read_value(const ModulePage& lower, unsigned offset, const AuxField& field,
                                 ModuleWarnings& warnings) {
  if (field.kind != AuxKind::kTec) return read_monitor(lower, offset, field.quantity, 0, warnings);
  const auto raw = lower.s16(offset);
  if (!raw || *raw == -32768) return std::nullopt;
  return convert(field.quantity, static_cast<std::uint16_t>(*raw));
}

}  // namespace

void decode_cmis_auxiliary(const MonitorPages& pages, const ModulePage& advert,
                           ModuleSample& sample) {
  const ModulePage& lower = pages.values;
  auto next =
      [taken = std::array<bool, std::size(kFields)>{}](AuxKind kind) mutable -> const AuxField* {
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (kFields[i].kind == kind && !std::exchange(taken.at(i), true)) return &kFields[i];
    return nullptr;
  };
  for (const AuxMonitor& row : kAuxiliary) {
    if (!advert.offers(159, row.advert_bit)) continue;
    const AlarmFlags flags = read_flags(lower, pages.layout, row.flags_offset, row.flags_bit);
    const AuxField* field = next(advert.offers(145, row.kind_bit) ? row.if_set : row.if_clear);
    if (field == nullptr) {
      sample.auxiliary_flags = flags;
      continue;
    }
    sample.*field->value = read_value(lower, row.offset, *field, sample.warnings);
    sample.thresholds.*field->limits =
        read_limits(pages.limits, row.limits_offset, field->quantity,
                    field->ends_are_numbers ? LimitEnds::kNumbers : pages.ends, sample.warnings);
    sample.*field->flags = flags;
  }
  if (advert.offers(159, 5)) sample.custom_flags = read_flags(lower, pages.layout, 11, 4);
}

}  // namespace linkhealth
