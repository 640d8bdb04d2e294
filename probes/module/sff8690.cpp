#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "probes/module/decode.h"
#include "probes/module/maps.h"
#include "probes/module/other_flags.h"

namespace linkhealth {

namespace {

constexpr double kLightNmGhz = 299'792'458;  // the speed of light in nm GHz
// Of 2000 and of 600 nm: as for the lasers of CMIS.
constexpr double kLowestGhz = 149'896;
constexpr double kHighestGhz = 499'654;
/// The wavelength is set in steps of this.
constexpr double kWavelengthStepNm = 0.05;

/// Table 5-4: from the first channel to the last one, in steps of the grid, which may go down.
struct Channels {
  double first_ghz = 0, grid_ghz = 0;
  double count = 0;
  [[nodiscard]] double frequency_ghz(double number) const {
    return first_ghz + (number - 1) * grid_ghz;
  }
};

/// Whole terahertz, and tenths of a gigahertz above them; nullopt for what no laser has.
std::optional<double> read_frequency(const ModulePage& page, unsigned offset) {
  const auto terahertz = page.u16(offset);
  const auto tenths = page.u16(offset + 2);
  if (!terahertz || !tenths || *tenths >= 10'000) return std::nullopt;
  const double ghz = *terahertz * 1000.0 + *tenths / 10.0;
  return ghz >= kLowestGhz && ghz <= kHighestGhz ? std::optional(ghz) : std::nullopt;
}

std::optional<Channels> read_channels(const ModulePage& page) {
  constexpr double kMostChannels = 0xffff;
  const auto first = read_frequency(page, 132);
  const auto last = read_frequency(page, 136);
  const double grid = page.s16(140).value_or(0) / 10.0;
  if (!first || !last || grid == 0) return std::nullopt;
  const double count = std::floor((*last - *first) / grid + 1e-6) + 1;
  if (count < 1 || count > kMostChannels) return std::nullopt;
  return Channels{*first, grid, count};
}

/// Table 5-5, by the number of a channel (128.1), or of a laser that looks for its channel itself
/// and says where it has found it (128.3). 0: none is set.
std::optional<double> by_channel(const ModulePage& page, const Channels& channels,
                                 ModuleWarnings& warnings) {
  const auto number = page.u16(144);
  if (!(page.offers(128, 1) || page.offers(128, 3)) || !number || *number == 0) return std::nullopt;
  if (*number <= channels.count) return channels.frequency_ghz(*number);
  warnings.push_back(
      fmt::format("laser channel {} is none of its {:.0f}", *number, channels.count));
  return std::nullopt;
}

/// Table 5-5, by a wavelength (128.0).
std::optional<double> wavelength_set_nm(const ModulePage& page) {
  const auto steps = page.u16(146);
  if (!page.offers(128, 0) || !steps || *steps == 0) return std::nullopt;
  return *steps / 20.0;
}

/// No farther from it than the step of the wavelength can say.
bool is_at(double ghz, double nm) { return std::abs(kLightNmGhz / ghz - nm) <= kWavelengthStepNm; }

std::optional<double> by_wavelength(const Channels& channels, double nm, ModuleWarnings& warnings) {
  const double number = std::round((kLightNmGhz / nm - channels.first_ghz) / channels.grid_ghz) + 1;
  const double ghz = channels.frequency_ghz(number);
  if (number >= 1 && number <= channels.count && is_at(ghz, nm)) return ghz;
  warnings.push_back(fmt::format(
      "laser wavelength {:.2f} nm is that of none of its {:.0f} channels", nm, channels.count));
  return std::nullopt;
}

/// Table 5-3: by a way that stands on this page, and not only by its maker's own (128.4).
bool tells_its_channel(const ModulePage& page) {
  return page.offers(128, 0) || page.offers(128, 1) || page.offers(128, 3);
}

/// 5.2 leaves open which of the two a module follows that offers both when they are not the same,
/// also which one was written last. One that it doesn't offer does not count.
std::optional<double> frequency_set(const ModulePage& page, const Channels& channels,
                                    ModuleWarnings& warnings) {
  if (!tells_its_channel(page))
    warnings.emplace_back(
        "A2h page 02h advertises no channel and no wavelength to set: what its laser is tuned to "
        "is not known");
  const auto channel = by_channel(page, channels, warnings);
  const auto nm = wavelength_set_nm(page);
  if (!nm) return channel;
  if (!channel) return by_wavelength(channels, *nm, warnings);
  if (is_at(*channel, *nm)) return channel;
  warnings.emplace_back(
      "its channel and its wavelength are set to different ones: what the laser is tuned to is not "
      "known");
  return std::nullopt;
}

constexpr unsigned kFrequencyError = 152;

/// Table 5-6. A register that nobody fills is 0, as is that of a laser without an error: 5.2 says
/// only that both errors "should" be there. The other one, of the wavelength, does not tell: its
/// step is six times as coarse.
void read_error(const ModulePage& page, const Channels& channels, ModuleSample& sample) {
  constexpr double kMhzPerStep = 100;
  const double mhz = page.s16(kFrequencyError).value_or(0) * kMhzPerStep;
  if (mhz == 0) return;
  if (std::abs(mhz) <= std::abs(channels.grid_ghz) * 1000) {
    sample.vdm.laser_frequency_error_mhz = mhz;
    return;
  }
  sample.warnings.push_back(
      fmt::format("laser frequency error of {:.1f} GHz cannot be true", mhz / 1000));
}

/// Tables 5-7 (live) and 5-8 (latched): what was once since the last read, and what still is, are
/// one flag.
void read_status(const ModulePage& a0, const ModulePage& page, ModuleSample& sample) {
  LaserTuning& laser = sample.laser_tuning.emplace_back();
  constexpr unsigned kCooled = 2;  // of A0h byte 64
  const auto either = [&page](unsigned bit) -> std::optional<bool> {
    const auto now = page.bit(168, bit);
    const auto since = page.bit(172, bit);
    if (!now || !since) return std::nullopt;
    return *now || *since;
  };
  laser.wavelength_unlocked = either(5);
  if (a0.offers(64, kCooled)) laser.cooler_fault = either(6);
  laser.channel_invalid = page.bit(172, 4);
  if (const auto now = page.byte(168)) laser.tuning = (*now & 0x90U) != 0;
  if (page.offers(128, 3)) take_other_flag("laser_self_tuning", 1, page.bit(172, 7), sample);
  if (page.offers(128, 0) || page.offers(128, 1))
    take_other_flag("laser_new_channel", 1, page.bit(172, 3), sample);
  if (!page.offers(128, 2))
    take_other_flag("laser_dither_not_supported", 1, page.bit(172, 2), sample);
}

}  // namespace

bool laser_error_is_zero(const ModuleImage& image) {
  return sfp_is_tunable(image) && ModulePage(image, kTunablePage).s16(kFrequencyError) == 0;
}

void decode_sff8690(const ModuleImage& image, ModuleSample& sample) {
  const ModulePage a0 = lower_page(image);
  const ModulePage page(image, kTunablePage);
  if (!page.exists()) {
    sample.warnings.emplace_back(
        "A2h page 02h was not read: what its laser is tuned to is not known");
    return;
  }
  const auto channels = read_channels(page);
  if (!channels) {  // as of a module that ignores which page is asked for: that is the user's
                    // memory then
    sample.warnings.emplace_back(
        "A2h page 02h names no channels: what its laser is tuned to is not known");
    return;
  }
  read_status(a0, page, sample);
  LaserTuning& laser = sample.laser_tuning.back();
  if (laser.tuning.value_or(true)) return;
  laser.frequency_ghz = frequency_set(page, *channels, sample.warnings);
  if (!laser.frequency_ghz) return;
  sample.wavelength_nm = std::round(kLightNmGhz / *laser.frequency_ghz * 1000) / 1000;
  read_error(page, *channels, sample);
}

}  // namespace linkhealth
