// CMIS 5.4 8.14.8: which fibre, and which of the wavelengths on it, carries a media lane.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "probes/module/maps.h"

namespace linkhealth {

namespace {

constexpr unsigned kHighest = 8;  // of both numbers; above it they are reserved, 0 is not said

struct FibreDirection {
  unsigned first;  ///< the byte of lane 1
  std::optional<std::uint32_t> ModuleLane::*fibre, ModuleLane::*wavelength;
  std::string_view name;
};
constexpr FibreDirection kDirections[] = {
    {240, &ModuleLane::tx_fibre, &ModuleLane::tx_wavelength, "sends on"},
    {248, &ModuleLane::rx_fibre, &ModuleLane::rx_wavelength, "receives from"}};

struct Place {
  unsigned fibre = 0, wavelength = 0;
  auto operator<=>(const Place&) const = default;
};

std::vector<Place> places_of(const ModulePage& page, unsigned first, std::size_t lanes) {
  std::vector<Place> out;
  for (unsigned i = 0; i < lanes; ++i) {
    const unsigned byte = page.byte(first + i).value_or(0);
    out.push_back({byte & 0x0fU, byte >> 4U});
  }
  return out;
}

/// No two lanes can share a wavelength of a fibre. Either number may be left out (table 8-107).
bool are_plausible(const std::vector<Place>& places) {
  std::set<Place> seen;
  return std::ranges::all_of(places, [&seen](const Place& place) {
    return place.fibre <= kHighest && place.wavelength <= kHighest &&
           (place.fibre == 0 || place.wavelength == 0 || seen.insert(place).second);
  });
}

void read_direction(const ModulePage& page, const FibreDirection& direction, ModuleSample& sample) {
  const std::vector<Place> places = places_of(page, direction.first, sample.lanes.size());
  if (!are_plausible(places)) {
    sample.warnings.push_back("which fibre a lane " + std::string(direction.name) +
                              " cannot be true: left out");
    return;
  }
  std::map<unsigned, unsigned> lanes_on;
  for (const Place& place : places) ++lanes_on[place.fibre];
  for (std::size_t lane = 0; lane < places.size(); ++lane) {
    const auto [fibre, wavelength] = places[lane];
    if (fibre == 0) continue;
    sample.lanes[lane].*direction.fibre = fibre;
    // Of parallel fibres some modules count wavelengths too, which are all one.
    if (wavelength != 0 && lanes_on[fibre] > 1)
      sample.lanes[lane].*direction.wavelength = wavelength;
  }
}

}  // namespace

void decode_cmis_fibres(const ModuleImage& image, ModuleSample& sample) {
  // The numbers end at eight: whether those of another bank begin anew is not said.
  if (cmis_bank_count(image) != 1 || sample.lanes.size() > kHighest) return;
  const ModulePage page = upper_page(image, 0x11);
  for (const FibreDirection& direction : kDirections) read_direction(page, direction, sample);
}

}  // namespace linkhealth
