// How many lanes an interface has, where a module leaves the number to its id (CMIS 5.4 tables 8-22
// and 8-23).
#include <algorithm>
#include <span>

#include "probes/module/codes.h"

namespace linkhealth {

namespace {

struct LaneCount {
  std::uint8_t code, lanes;
};

// SFF-8024 rev 4.13: the ids whose name here does not say the "Lane Count" column of their table.
// 0: the column leaves it open too.

// Table 4-5.
constexpr LaneCount kHostLanes[] = {
    {0x02, 4}, {0x06, 4}, {0x07, 4}, {0x10, 16}, {0x19, 10}, {0x21, 2},  {0x22, 4},
    {0x23, 8}, {0x2a, 4}, {0x2b, 4}, {0x2c, 0},  {0x2d, 0},  {0x2e, 0},  {0x2f, 0},
    {0x30, 0}, {0x31, 0}, {0x32, 0}, {0x74, 0},  {0xa0, 0},  {0x55, 16}, {0x56, 16},
};
// Table 4-6: two wavelengths on each of four or eight fibres, or both directions on each of two.
constexpr LaneCount kMultimodeLanes[] = {
    {0x06, 2}, {0x08, 10}, {0x0b, 2}, {0x0f, 16}, {0x18, 4},  {0x19, 4},
    {0x1a, 8}, {0x21, 8},  {0x22, 8}, {0x23, 16}, {0x24, 16},
};
// Table 4-7.
constexpr LaneCount kSingleModeLanes[] = {{0x24, 4}, {0x26, 4}};
// Table 4-10: the pairs.
constexpr LaneCount kTwistedPairLanes[] = {{1, 4}, {2, 4}, {3, 4}, {4, 4}, {5, 4}, {6, 4}};

std::span<const LaneCount> exceptions_of(std::uint8_t media_type) {
  switch (media_type) {
    case 1:
      return kMultimodeLanes;
    case 2:
      return kSingleModeLanes;
    case 5:
      return kTwistedPairLanes;
    default:
      return {};
  }
}

/// "400GAUI-8", "400G-DR4": behind the first dash. Without a digit there it is a single lane.
unsigned lanes_by_name(std::string_view name) {
  const auto digit = name.find_first_of("0123456789", std::min(name.find('-'), name.size()));
  return digit == std::string_view::npos ? 1U
                                         : std::max(1U, static_cast<unsigned>(name[digit] - '0'));
}

unsigned lanes_of(std::span<const LaneCount> exceptions, std::uint8_t code, std::string_view name) {
  const auto row = std::ranges::find(exceptions, code, &LaneCount::code);
  if (row != exceptions.end()) return row->lanes;
  return name.empty() ? 0 : lanes_by_name(name);
}

}  // namespace

unsigned host_interface_lanes(std::uint8_t code) {
  return lanes_of(kHostLanes, code, host_interface_name(code));
}

unsigned media_interface_lanes(std::uint8_t media_type, std::uint8_t code) {
  return lanes_of(exceptions_of(media_type), code, media_interface_name(media_type, code));
}

}  // namespace linkhealth
