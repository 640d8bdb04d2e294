// The values of one port and step as a row of bytes, and back. Each row stands alone: any one can
// be deleted, and a damaged one takes no other with it. Small, because what is counted is kept as
// its increase (mostly 0), what is measured to its useful precision, and a lane as its distance
// from the lane before.
//
//   u8      format, 1
//   u8      n, the bytes of the map
//   n bytes the map: bit i (from the lowest of the first byte) says that signal i is here; the last
//   byte is not 0 varint  zigzag, of each signal that is here, in the table's order: its whole
//   number less that of the signal that it
//           is close to, where that is here
//   u16     CRC-16/CCITT-FALSE of all before it, little end first
//
// Varints are LEB128 in their shortest form. Whatever does not hold this to the letter is damaged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/signals.h"

namespace linkhealth {

/// Whole numbers are kept up to this size: a double of that many quanta still rounds back to the
/// same number.
inline constexpr std::int64_t kMaxWhole = (std::int64_t{1} << 50) - 1;

/// nullopt for NaN, infinity, a ratio below 0, and what is too large to be kept.
std::optional<std::int64_t> signal_to_whole(std::size_t index, double value);
double signal_from_whole(std::size_t index, std::int64_t whole);

std::string signal_blob(const SignalValues& values);
/// An error says what is damaged; then nothing of the row may be used.
Result<SignalValues> parse_signal_blob(std::string_view bytes);

}  // namespace linkhealth
