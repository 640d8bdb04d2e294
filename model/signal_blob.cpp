#include "model/signal_blob.h"

#include <array>
#include <cmath>

namespace linkhealth {

namespace {

constexpr std::uint8_t kFormat = 1;
constexpr std::size_t kMapBytes = (kSignalCount + 7) / 8;
constexpr std::size_t kCrcBytes = 2;
constexpr std::size_t kHeadBytes = 2;
/// 1e-30: less than a bit in the life of all links.
constexpr double kMaxDecades = 30;

using Wholes = std::array<std::optional<std::int64_t>, kSignalCount>;

constexpr std::array<std::uint16_t, 256> make_crc_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned i = 0; i < 256; ++i) {
    unsigned crc = i << 8U;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 0x8000U) != 0 ? (crc << 1U) ^ 0x1021U : crc << 1U;
    table[i] = static_cast<std::uint16_t>(crc);
  }
  return table;
}

std::uint16_t crc16(std::string_view bytes) {
  static constexpr auto kCrcTable = make_crc_table();
  std::uint16_t crc = 0xffff;
  for (const char c : bytes) {
    const auto index = static_cast<std::uint8_t>((crc >> 8U) ^ static_cast<std::uint8_t>(c));
    crc = static_cast<std::uint16_t>((crc << 8U) ^ kCrcTable[index]);
  }
  return crc;
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<char>((value & 0x7fU) | 0x80U));
  out.push_back(static_cast<char>(value));
}

/// Takes one from the front of `bytes`; nullopt when it is cut off, too long, or not in its
/// shortest form.
std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes.size() && i < 9; ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    value |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if ((byte & 0x80U) != 0) continue;
    if (byte == 0 && i > 0) return std::nullopt;
    bytes.remove_prefix(i + 1);
    return value;
  }
  return std::nullopt;
}

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

/// What a signal's number is counted from.
std::int64_t base_of(std::size_t index, const Wholes& wholes) {
  const std::size_t near = signal_info(index).near;
  return near == index ? 0 : wholes[near].value_or(0);
}

bool is_set(std::string_view map, std::size_t index) {
  return index / 8 < map.size() &&
         ((static_cast<std::uint8_t>(map[index / 8]) >> (index % 8)) & 1U) != 0;
}

/// What can stand in a row at all: a ratio and a count have no sign.
bool is_possible(std::size_t index, std::int64_t whole) {
  if (signal_info(index).scale == SignalScale::kErrorRatio)
    return whole >= 0 && whole <= 1 + std::llround(kMaxDecades / signal_info(index).quantum);
  return whole >= (signal_info(index).fold == SignalFold::kSum ? 0 : -kMaxWhole) &&
         whole <= kMaxWhole;
}

Error damaged(const char* what) { return Error{std::string("a damaged row of history: ") + what}; }

}  // namespace

std::optional<std::int64_t> signal_to_whole(std::size_t index, double value) {
  const SignalInfo& info = signal_info(index);
  if (!std::isfinite(value)) return std::nullopt;
  if (info.scale == SignalScale::kErrorRatio) {
    if (value < 0 || value > 1) return std::nullopt;
    if (value < std::pow(10, -kMaxDecades)) return 0;
    return 1 + std::llround(-std::log10(value) / info.quantum);
  }
  const double scaled = value / info.quantum;
  if (info.fold == SignalFold::kSum && value < 0) return std::nullopt;
  if (std::abs(scaled) > static_cast<double>(kMaxWhole)) return std::nullopt;
  return std::llround(scaled);
}

double signal_from_whole(std::size_t index, std::int64_t whole) {
  const SignalInfo& info = signal_info(index);
  const auto number = static_cast<double>(whole);
  if (info.scale == SignalScale::kErrorRatio)
    return whole == 0 ? 0 : std::pow(10, -(number - 1) * info.quantum);
  // A quantum below 1 has no exact double; dividing by the whole number of quanta in 1 gives the
  // nearest one.
  return info.quantum < 1 ? number / std::round(1 / info.quantum) : number * info.quantum;
}

std::string signal_blob(const SignalValues& values) {
  Wholes wholes;
  std::array<std::uint8_t, kMapBytes> map{};
  std::size_t map_bytes = 0;
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    wholes[i] = signal_to_whole(i, values[i]);
    if (!wholes[i]) continue;
    map[i / 8] = static_cast<std::uint8_t>(map[i / 8] | (1U << (i % 8)));
    map_bytes = i / 8 + 1;
  }
  std::string out{static_cast<char>(kFormat), static_cast<char>(map_bytes)};
  out.append(reinterpret_cast<const char*>(map.data()), map_bytes);
  for (std::size_t i = 0; i < kSignalCount; ++i)
    if (wholes[i]) put_varint(out, zigzag(*wholes[i] - base_of(i, wholes)));
  const std::uint16_t crc = crc16(out);
  out.push_back(static_cast<char>(crc & 0xffU));
  out.push_back(static_cast<char>(crc >> 8U));
  return out;
}

Result<SignalValues> parse_signal_blob(std::string_view bytes) {
  if (bytes.size() < kHeadBytes + kCrcBytes) return damaged("too short");
  const std::string_view crc = bytes.substr(bytes.size() - kCrcBytes);
  bytes.remove_suffix(kCrcBytes);
  if (crc16(bytes) !=
      (static_cast<std::uint8_t>(crc[0]) | (static_cast<std::uint8_t>(crc[1]) << 8)))
    return damaged("its checksum is wrong");
  if (static_cast<std::uint8_t>(bytes[0]) != kFormat) return damaged("an unknown format");
  const auto map_bytes = static_cast<std::uint8_t>(bytes[1]);
  bytes.remove_prefix(kHeadBytes);
  if (map_bytes > kMapBytes || map_bytes > bytes.size()) return damaged("its map is too long");
  const std::string_view map = bytes.substr(0, map_bytes);
  if (map_bytes > 0 && map.back() == 0) return damaged("its map is not in its shortest form");
  bytes.remove_prefix(map_bytes);
  SignalValues values;
  Wholes wholes;
  for (std::size_t i = 0; i < map.size() * 8; ++i) {
    if (!is_set(map, i)) continue;
    if (i >= kSignalCount) return damaged("an unknown signal");
    const auto coded = take_varint(bytes);
    if (!coded) return damaged("a number is cut off");
    // What a base is was checked before, so the sum cannot overflow.
    const std::int64_t distance = unzigzag(*coded);
    if (std::abs(distance) > 2 * kMaxWhole) return damaged("a number is out of range");
    wholes[i] = distance + base_of(i, wholes);
    if (!is_possible(i, *wholes[i])) return damaged("a number is out of range");
    values[i] = signal_from_whole(i, *wholes[i]);
  }
  if (!bytes.empty()) return damaged("more bytes than values");
  return values;
}

}  // namespace linkhealth
