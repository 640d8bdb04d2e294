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
                ObservableCollector& out, ModuleWarnings& warnings) {
  const ModulePage descriptors = group_page(image, kDescriptors, group, bank);
  const ModulePage values = group_page(image, kValues, group, bank);
  const ModulePage limits = group_page(image, kLimits, group, bank);
  const ModulePage flags = upper_page(image, kFlags, bank);
  bool any = false;
  for (unsigned i = 0; i < kInstancesPerGroup; ++i) {
    const auto where = descriptors.byte(128 + 2 * i);
    const auto type = descriptors.byte(129 + 2 * i);
    if (!where || !type || *type == 0) continue;
    any = true;
    ObservableInstance instance;
    instance.type = *type;
    if (const unsigned lane = *where & 0x0fU; lane < kLanesPerBank) instance.lane = bank * kLanesPerBank + lane;
    instance.limits = read_quad(limits, 128 + 8 * (*where >> 4U));
    if (values_valid) {
      instance.value = values.u16(128 + 2 * i);
      instance.flags = read_flags(flags, kCmisFlags, 128 + 32U * group + i / 2, i % 2 == 0 ? 0 : 4);
    }
    out.take(instance);
  }
  if (any && values_valid && !values.exists())
    warnings.push_back(page_name({kModuleAddressA0, bank, static_cast<std::uint8_t>(kValues + group), true}) +
                       " was not read: its VDM values are not known");
}

template <typename Statistics>
void forget_zeros(Statistics& statistics) {
  const auto forget = [](std::optional<double>& value) {
    if (value == 0.0) value.reset();
  };
  for (auto* value : {&statistics.min, &statistics.max, &statistics.avg, &statistics.current}) forget(*value);
  if constexpr (requires { statistics.total; }) forget(statistics.total);
}

/// nullopt: the lane does not say.
template <typename Lane>
std::optional<bool> is_lost(const Lane& lane, std::optional<bool> Lane::*los, std::optional<bool> Lane::*lol) {
  if (!(lane.*los) && !(lane.*lol)) return std::nullopt;
  return (lane.*los).value_or(false) || (lane.*lol).value_or(false);
}

/// Of those that say anything, and at least one does.
template <typename Lane>
bool all_are_lost(const std::vector<Lane>& lanes, std::optional<bool> Lane::*los, std::optional<bool> Lane::*lol) {
  bool any = false;
  for (const Lane& lane : lanes) {
    const auto lost = is_lost(lane, los, lol);
    if (lost == false) return false;
    any = any || lost.has_value();
  }
  return any;
}

}  // namespace

void forget_idle_statistics(ModuleSample& sample) {
  ModuleVdm& vdm = sample.vdm;
  const bool off = !sample.state.empty() && sample.state != "ModuleReady";
  if (off || all_are_lost(sample.lanes, &ModuleLane::rx_los, &ModuleLane::rx_lol)) {
    forget_zeros(vdm.media_pre_fec_ber);
    forget_zeros(vdm.media_frame_error_ratio);
    forget_zeros(vdm.media_fec_tail_symbols);
  }
  if (off || all_are_lost(sample.host_lanes, &ModuleHostLane::tx_los, &ModuleHostLane::tx_lol)) {
    forget_zeros(vdm.host_pre_fec_ber);
    forget_zeros(vdm.host_frame_error_ratio);
    forget_zeros(vdm.host_fec_tail_symbols);
  }
  const auto by_lane = [&](std::vector<BerStatistics>& all, const auto& lanes, auto los, auto lol) {
    for (std::size_t lane = 0; lane < all.size(); ++lane)
      if (off || (lane < lanes.size() && is_lost(lanes[lane], los, lol) == true)) forget_zeros(all[lane]);
  };
  by_lane(vdm.media_pre_fec_ber_by_lane, sample.lanes, &ModuleLane::rx_los, &ModuleLane::rx_lol);
  by_lane(vdm.host_pre_fec_ber_by_lane, sample.host_lanes, &ModuleHostLane::tx_los, &ModuleHostLane::tx_lol);
}

void decode_cmis_vdm(const ModuleImage& image, ModuleSample& sample) {
  const ModulePage control = upper_page(image, 0x2f);
  if (upper_page(image, 0x01).offers(142, 6) && !control.byte(128))
    sample.warnings.emplace_back("page 2fh was not read: the module's VDM values are not known");
  const std::uint8_t groups = vdm_group_count(image);
  if (groups == 0) return;
  const bool asleep = control.offers(144, 6);
  if (asleep) sample.warnings.emplace_back("VDM is in power saving: its values are old and left out");
  ObservableCollector out(cmis_observables(), sample);
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    for (std::uint8_t group = 0; group < groups; ++group) read_group(image, group, bank, !asleep, out, sample.warnings);
  out.finish();
  if (!asleep && control.offers(144, 7)) {
    sample.vdm.frozen = true;
    sample.warnings.emplace_back("another agent has frozen the VDM statistics: they are old");
  }
}

}  // namespace linkhealth
