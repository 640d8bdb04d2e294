#include <fmt/format.h>

#include "probes/module/maps.h"

namespace linkhealth {

namespace {

constexpr std::uint8_t kTuningPage = 0x12;
constexpr unsigned kFrequencies = 168;  // four bytes each, in MHz
constexpr unsigned kFlags = 231;        // one byte for each lane
// Of 2000 and of 600 nm: as for the wavelength of page 01h.
constexpr double kLowestGhz = 149'896;
constexpr double kHighestGhz = 499'654;

/// A latched flag of a lane's byte. Bit 0, "tuning complete", only says that a state changed.
struct TuningFlag {
  std::optional<bool> LaserTuning::*field;
  std::uint8_t bit;
};
constexpr TuningFlag kTuningFlags[] = {
    {&LaserTuning::wavelength_unlocked, 1},       {&LaserTuning::channel_invalid, 2},
    {&LaserTuning::tuning_not_accepted, 3},       {&LaserTuning::fine_tuning_out_of_range, 4},
    {&LaserTuning::target_power_out_of_range, 5},
};

std::optional<double> read_frequency(const ModulePage& page, unsigned index, std::size_t lane,
                                     ModuleWarnings& warnings) {
  const auto mhz = page.u32(kFrequencies + 4 * index);
  if (!mhz || *mhz == 0) return std::nullopt;
  const double ghz = *mhz / 1000.0;
  if (ghz >= kLowestGhz && ghz <= kHighestGhz) return ghz;
  warnings.push_back(
      fmt::format("laser frequency of lane {} of {:.0f} GHz cannot be true", lane, ghz));
  return std::nullopt;
}

}  // namespace

void decode_cmis_tuning(const ModuleImage& image, std::size_t lanes_per_bank,
                        ModuleSample& sample) {
  bool any = false;
  for (std::size_t lane = 0; lane < sample.lanes.size(); ++lane) {
    const ModulePage page =
        upper_page(image, kTuningPage, static_cast<std::uint8_t>(lane / lanes_per_bank));
    const auto index = static_cast<unsigned>(lane % lanes_per_bank);
    any = any || page.exists();
    LaserTuning& laser = sample.laser_tuning.emplace_back();
    laser.frequency_ghz = read_frequency(page, index, lane + 1, sample.warnings);
    for (const TuningFlag& flag : kTuningFlags)
      laser.*flag.field = page.bit(kFlags + index, flag.bit);
  }
  if (any) return;
  sample.laser_tuning.clear();
  if (!sample.lanes.empty())
    sample.warnings.emplace_back(
        "page 12h was not read: what its lasers are tuned to is not known");
}

}  // namespace linkhealth
