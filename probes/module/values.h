// What the three memory maps share: numbers with unit, limits and flags; text; dates; and the
// rejection of impossible values, which become warnings in the sample.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/snapshot.h"
#include "probes/module/image.h"

namespace linkhealth {

using ModuleWarnings = std::vector<std::string>;
void warn_once(ModuleWarnings& warnings, std::string warning);

/// raw * times / over. For a step of 1/n, dividing gives the nearest double (33000 of 0.1 mV are
/// 3.3 V); multiplying by 1e-4 does not.
struct Scale {
  double times = 1, over = 1;
  [[nodiscard]] constexpr double of(double raw) const { return raw * times / over; }
};

/// A register's meaning. A value outside `min`..`max` is impossible.
struct ModuleQuantity {
  std::string_view name;
  std::string_view unit;
  bool is_signed = false;
  double min = 0;
  double max = 0;
  Scale scale;
};

/// A value that all memory maps have, with the same scale: the members of a sample that hold it,
/// its flags and its limits.
template <typename Owner>
struct MonitorField {
  ModuleQuantity quantity;
  std::optional<double> Owner::*value;
  AlarmFlags Owner::*flags;
  Limits ModuleThresholds::*limits;
};
inline constexpr MonitorField<ModuleSample> kTemperature{
    {"temperature", "C", true, -60, 150, {1, 256}},
    &ModuleSample::temperature_c,
    &ModuleSample::temperature_flags,
    &ModuleThresholds::temperature_c};
inline constexpr MonitorField<ModuleSample> kSupply{{"supply", "V", false, 2.0, 4.5, {1, 1e4}},
                                                    &ModuleSample::supply_v,
                                                    &ModuleSample::supply_flags,
                                                    &ModuleThresholds::supply_v};
inline constexpr MonitorField<ModuleLane> kTxBias{{"bias", "mA", false, 0, 600, {1, 500}},
                                                  &ModuleLane::tx_bias_ma,
                                                  &ModuleLane::tx_bias_flags,
                                                  &ModuleThresholds::tx_bias_ma};
inline constexpr MonitorField<ModuleLane> kRxPower{{"Rx power", "mW", false, 0, 100, {1, 1e4}},
                                                   &ModuleLane::rx_power_mw,
                                                   &ModuleLane::rx_power_flags,
                                                   &ModuleThresholds::rx_power_mw};
inline constexpr MonitorField<ModuleLane> kTxPower{{"Tx power", "mW", false, 0, 100, {1, 1e4}},
                                                   &ModuleLane::tx_power_mw,
                                                   &ModuleLane::tx_power_flags,
                                                   &ModuleThresholds::tx_power_mw};

/// nullopt when not read; nullopt and a warning when it is all ones or out of range. `lane` 0:
/// none.
std::optional<double> read_value(const ModulePage& page, unsigned offset,
                                 const ModuleQuantity& quantity, unsigned lane,
                                 ModuleWarnings& warnings);
/// Four registers: high alarm, low alarm, high warning, low warning. A limit at the end of its
/// scale is absent, because no value can pass it (CMIS 5.4 7.1.3.2). Empty if all are zero or, with
/// a warning, out of order.
Limits read_limits(const ModulePage& page, unsigned offset, const ModuleQuantity& quantity,
                   ModuleWarnings& warnings);

/// The positions of one value's four flags, relative to the high alarm: bits, and bytes for the
/// warnings.
struct FlagLayout {
  std::int8_t low_alarm, high_warn, low_warn;
  std::uint8_t warn_bytes;
};
inline constexpr FlagLayout kSff8472Flags{-1, 0, -1, 4};   // alarms in 112-113, warnings in 116-117
inline constexpr FlagLayout kSff8636Flags{-1, -2, -3, 0};  // half a byte, descending
inline constexpr FlagLayout kCmisFlags{1, 2, 3, 0};        // half a byte, ascending
/// `bit`: the high alarm's.
AlarmFlags read_flags(const ModulePage& page, const FlagLayout& layout, unsigned offset,
                      unsigned bit);

/// A bit of an advertisement. Byte 0: the map always has the quantity.
struct AdvertBit {
  std::uint8_t byte = 0, bit = 0;
  [[nodiscard]] bool in(const ModulePage& advert) const {
    return byte == 0 || advert.offers(byte, bit);
  }
};

/// A bit that is a state, a loss or a fault. For lanes, the first one's; the others follow in
/// higher bits.
template <typename Owner>
struct StateBit {
  std::optional<bool> Owner::*field;
  std::uint8_t at, bit;
  AdvertBit advert;
};
/// Reads the rows that `advert` offers.
template <typename Owner, typename Rows>
void read_bits(const Rows& rows, const ModulePage& page, const ModulePage& advert, unsigned lane,
               Owner& owner) {
  for (const StateBit<Owner>& row : rows)
    if (row.advert.in(advert)) owner.*row.field = page.bit(row.at, row.bit + lane);
}

/// The position of a monitor of the whole module, or of each lane (two bytes of value and half a
/// byte of flags per lane): its value, its limits and its high alarm flag.
template <typename Owner>
struct Monitor {
  MonitorField<Owner> field;
  std::uint8_t value_at, limits_at, flags_at, flags_bit;
  AdvertBit advert;
};
/// `index`: of the lane, from 0; `lane`: its number in warnings, 0 for none.
template <typename Owner>
void read_monitor(const ModulePage& page, const FlagLayout& layout, const Monitor<Owner>& row,
                  Owner& owner, ModuleWarnings& warnings, unsigned index = 0, unsigned lane = 0) {
  owner.*row.field.value =
      read_value(page, row.value_at + 2 * index, row.field.quantity, lane, warnings);
  // The first of two lanes is in the high half of the byte.
  owner.*row.field.flags =
      read_flags(page, layout, row.flags_at + index / 2, row.flags_bit - 4U * (index % 2));
}
template <typename Owner>
void read_monitor_limits(const ModulePage& page, const Monitor<Owner>& row, ModuleSample& sample) {
  sample.thresholds.*row.field.limits =
      read_limits(page, row.limits_at, row.field.quantity, sample.warnings);
}

/// Printable text without padding (blanks, NUL, all ones). "" and a warning if it is not text.
std::string read_text(const ModulePage& page, unsigned offset, unsigned length,
                      std::string_view name, ModuleWarnings& warnings);
/// The medium of an SFP or QSFP.
struct SffMedium {
  bool copper = false;  ///< no light: no power, bias or loss of signal
  bool cable = false;
  std::string kind = "unknown";
};

/// The longest of several lengths, one byte each, in steps of the given metres. 0 and all ones are
/// not lengths.
std::optional<double> longest_m(const ModulePage& page,
                                std::initializer_list<std::pair<unsigned, double>> bytes);

/// Records one page's checksum. A mismatch is only a warning, and the page is still decoded:
/// rebranded modules have them.
void note_checksum(ModuleSample& sample, std::string_view page, std::optional<bool> ok);

/// Vendor, part, serial and revision: the maps differ only in their position.
struct IdentityOffsets {
  unsigned vendor, part_number, revision, revision_length, serial, date;
};
inline constexpr IdentityOffsets kSff8472Identity{20, 40, 56, 4, 68, 84};
inline constexpr IdentityOffsets kSff8636Identity{148, 168, 184, 2, 196, 212};
void read_identity(const ModulePage& page, const IdentityOffsets& offsets, ModuleSample& sample);

}  // namespace linkhealth
