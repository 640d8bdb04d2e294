#include "probes/module/maps.h"
#include "probes/module/observables.h"

namespace linkhealth {

namespace {

constexpr unsigned kInstancesPerGroup = 64;
constexpr unsigned kLanesPerBank = 8;
// Group g has its descriptors, values and limits on these pages plus g, and a quarter of the page of flags.
constexpr std::uint8_t kDescriptors = 0x20;
constexpr std::uint8_t kValues = 0x24;
constexpr std::uint8_t kLimits = 0x28;
constexpr std::uint8_t kFlags = 0x2c;

ModulePage group_page(const ModuleImage& image, std::uint8_t first, std::uint8_t group, std::uint8_t bank) {
  return upper_page(image, static_cast<std::uint8_t>(first + group), bank);
}

void read_group(const ModuleImage& image, std::uint8_t group, std::uint8_t bank, bool values_valid,
                ObservableCollector& out) {
  const ModulePage descriptors = group_page(image, kDescriptors, group, bank);
  const ModulePage values = group_page(image, kValues, group, bank);
  const ModulePage limits = group_page(image, kLimits, group, bank);
  const ModulePage flags = upper_page(image, kFlags, bank);
  for (unsigned i = 0; i < kInstancesPerGroup; ++i) {
    const auto where = descriptors.byte(128 + 2 * i);
    const auto type = descriptors.byte(129 + 2 * i);
    if (!where || !type || *type == 0) continue;
    ObservableInstance instance;
    instance.type = *type;
    if (const unsigned lane = *where & 0x0fU; lane < kLanesPerBank) instance.lane = bank * kLanesPerBank + lane;
    instance.limits = read_quad(limits, 128 + 8 * (*where >> 4U));
    if (values_valid) {
      instance.value = values.u16(128 + 2 * i);
      instance.flags = read_flags(flags, 128 + 32U * group + i / 2, i % 2 == 0 ? 0 : 4, 1);
    }
    out.take(instance);
  }
}

}  // namespace

void decode_cmis_vdm(const ModuleImage& image, ModuleSample& sample) {
  const std::uint8_t groups = vdm_group_count(image);
  if (groups == 0) return;
  const ModulePage control = upper_page(image, 0x2f);
  const bool asleep = control.offers(144, 6);
  if (asleep) sample.warnings.emplace_back("VDM is in power saving: its values are old and left out");
  ObservableCollector out(cmis_observables(), sample);
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    for (std::uint8_t group = 0; group < groups; ++group) read_group(image, group, bank, !asleep, out);
  out.finish();
  if (!asleep && control.offers(144, 7)) {
    sample.vdm.frozen = true;
    sample.warnings.emplace_back("another agent has frozen the VDM statistics: they are old");
  }
}

}  // namespace linkhealth
