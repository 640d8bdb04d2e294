// CMIS page 13h: what somebody who tests the line has switched on.
#include <algorithm>

#include "probes/module/cmis_applications.h"
#include "probes/module/maps.h"

namespace linkhealth {

namespace {

constexpr unsigned kLanesPerBank = 8;

/// Tables 8-111 and 8-131: a byte with a bit for each lane, which stands for all of them where the
/// module can't loop them one by one.
struct LoopbackRow {
  std::string_view side, at;
  std::uint8_t enables, per_lane_bit;  ///< the bit of 13h:128
};
constexpr LoopbackRow kLoopbacks[] = {{"media", "output", 180, 5},
                                      {"media", "input", 181, 5},
                                      {"host", "output", 182, 4},
                                      {"host", "input", 183, 4}};

struct SideLanes {
  unsigned first = 0, count = 0;  ///< of a bank; `first` as the module counts them, 0 first
};

/// Those that are looped. Bits of lanes that the side does not have are nobody's.
std::vector<std::uint32_t> looped_lanes(unsigned enables, bool one_by_one, SideLanes lanes) {
  std::vector<std::uint32_t> out;
  for (unsigned i = 0; enables != 0 && i < lanes.count; ++i)
    if (!one_by_one || (enables >> i & 1U) != 0) out.push_back(lanes.first + i + 1);
  return out;
}

void add_loopback(const LoopbackRow& row, const std::vector<std::uint32_t>& lanes,
                  std::vector<ModuleLoopback>& all) {
  const auto same = std::ranges::find_if(all, [&row](const ModuleLoopback& other) {
    return other.side == row.side && other.at == row.at;
  });
  if (same == all.end())
    all.push_back({std::string(row.side), std::string(row.at), lanes});
  else
    same->lanes.insert(same->lanes.end(), lanes.begin(), lanes.end());
}

}  // namespace

void decode_cmis_tests(const ModuleImage& image, const CmisLanes& lanes, std::uint8_t bank,
                       ModuleSample& sample) {
  const ModulePage page = upper_page(image, 0x13, bank);
  for (const LoopbackRow& row : kLoopbacks) {
    const auto enables = page.byte(row.enables);
    if (!enables) continue;
    const bool host = row.side == "host";
    const unsigned said = host ? lanes.host_per_bank : lanes.media_per_bank;
    const unsigned count = said == 0 ? kLanesPerBank : said;
    const SideLanes side{bank * (host ? kLanesPerBank : count), count};
    const auto looped =
        looped_lanes(*enables, page.bit(128, row.per_lane_bit).value_or(true), side);
    sample.looped = sample.looped.value_or(false) || !looped.empty();
    if (!looped.empty()) add_loopback(row, looped, sample.loopbacks);
  }
  for (const unsigned offset : {144U, 152U})
    if (const auto lanes_on = page.byte(offset))
      sample.sends_pattern = sample.sends_pattern.value_or(false) || *lanes_on != 0;
}

}  // namespace linkhealth
