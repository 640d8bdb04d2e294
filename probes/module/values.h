// What the three memory maps share: reading a number with its unit, a quad of limits, a piece of
// text, and refusing what cannot be true. Whatever is refused becomes a sentence in the sample's
// warnings, never a number.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/snapshot.h"
#include "probes/module/image.h"

namespace linkhealth {

using ModuleWarnings = std::vector<std::string>;

/// A register's meaning. The value is a polynomial of the raw register, lowest power first (its two
/// terms for nearly all, five for received power of an externally calibrated SFP), over how many
/// steps are one unit: a division gives the double that is nearest to what the module says (33000
/// of 0.1 mV are 3.3 V), a product of 1e-4 does not. Outside `min`..`max` a value cannot be true.
struct ModuleQuantity {
  std::string_view name;
  std::string_view unit;
  bool is_signed = false;
  double min = 0;
  double max = 0;
  double steps_per_unit = 1;
  std::array<double, 5> coefficients{0, 1};
};

/// The scales that SFF-8472, SFF-8636 and CMIS have in common.
inline constexpr ModuleQuantity kTemperatureC{"temperature", "C", true, -60, 150, 256};
inline constexpr ModuleQuantity kSupplyV{"supply", "V", false, 2.0, 4.5, 1e4};
inline constexpr ModuleQuantity kBiasMa{"bias", "mA", false, 0, 600, 500};
inline constexpr ModuleQuantity kRxPowerMw{"Rx power", "mW", false, 0, 100, 1e4};
inline constexpr ModuleQuantity kTxPowerMw{"Tx power", "mW", false, 0, 100, 1e4};

/// The raw register as a value; negative powers and currents of a calibration become 0.
double convert(const ModuleQuantity& quantity, std::uint16_t raw);
/// A length that its byte cannot hold: "cable", "254 m".
void warn_too_long(std::string_view what, std::string_view most, ModuleWarnings& warnings);
/// How far a separable module goes: the longest of what it says of several fibres.
class LongestReach {
 public:
  /// A byte of so many metres a step. 0: that fibre is not meant; FFh: more than FEh.
  void take(std::optional<std::uint8_t> byte, double step_m);
  /// nullopt where none is meant; with a warning where a byte that cannot say it may be the
  /// longest.
  [[nodiscard]] std::optional<double> metres(ModuleWarnings& warnings) const;

 private:
  double known_m_ = 0, more_than_m_ = 0;
};
/// A monitor. nullopt when not read; nullopt and a warning when it is all ones or out of range.
/// `lane` 0: none.
std::optional<double> read_monitor(const ModulePage& page, unsigned offset,
                                   const ModuleQuantity& quantity, unsigned lane,
                                   ModuleWarnings& warnings);
/// A signal-to-noise ratio; nullopt and a warning, once for all lanes, when it cannot be one.
std::optional<double> believed_snr_db(double snr_db, ModuleWarnings& warnings);
/// Four registers one after the other; nullopt when one was not read.
std::optional<std::array<std::uint16_t, 4>> read_quad(const ModulePage& page, unsigned offset);
/// What a limit at the end of its register's scale is: a number, or none at all.
enum class LimitEnds : std::uint8_t { kNumbers, kNone };
/// Four registers: high alarm, low alarm, high warning, low warning. Empty when they are all zero,
/// switched off (widest possible) or, with a warning, not in order.
Limits read_limits(const ModulePage& page, unsigned offset, const ModuleQuantity& quantity,
                   LimitEnds ends, ModuleWarnings& warnings);

/// Printable text without its padding (blanks, NUL, all ones). "" and a warning when it is not
/// text.
std::string read_text(const ModulePage& page, unsigned offset, unsigned length,
                      std::string_view name, ModuleWarnings& warnings);
/// "20YY-MM-DD" from YYMMDD; "" and a warning when that is no day.
std::string read_date(const ModulePage& page, unsigned offset, ModuleWarnings& warnings);
/// "00:1b:c5"; "" when it is not programmed.
std::string read_oui(const ModulePage& page, unsigned offset);

/// Notes one page's checksum: a mismatch is a warning, and the page is still decoded (rebranded
/// modules have them).
void note_checksum(ModuleSample& sample, std::string_view page, std::optional<bool> ok);

/// Vendor, part, serial and revision: where they stand is the only difference between the maps.
struct IdentityOffsets {
  unsigned vendor, oui, part_number, revision, revision_length, serial, date;
};
void read_identity(const ModulePage& page, const IdentityOffsets& offsets, ModuleSample& sample);

/// Where a map has the four flags of one value, from that of the high alarm: bits to go up, and
/// bytes for the warnings.
struct FlagLayout {
  std::int8_t low_alarm, high_warn, low_warn;
  std::uint8_t warn_bytes;
};
inline constexpr FlagLayout kSff8472Flags{-1, 0, -1, 4};   // alarms in 112-113, warnings in 116-117
inline constexpr FlagLayout kSff8636Flags{-1, -2, -3, 0};  // half a byte, going down
inline constexpr FlagLayout kCmisFlags{1, 2, 3, 0};        // … going up
/// `bit` is the high alarm's.
AlarmFlags read_flags(const ModulePage& page, const FlagLayout& layout, unsigned offset,
                      unsigned bit);

}  // namespace linkhealth
