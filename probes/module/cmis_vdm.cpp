#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "probes/module/cmis_applications.h"
#include "probes/module/maps.h"
#include "probes/module/observables.h"

namespace linkhealth {

namespace {

constexpr unsigned kInstancesPerGroup = 64;
constexpr unsigned kLanesPerBank = 8;
// Group g has its descriptors, values and limits on these pages plus g, and a quarter of the page
// of flags.
constexpr std::uint8_t kDescriptors = 0x20;
constexpr std::uint8_t kValues = 0x24;
constexpr std::uint8_t kLimits = 0x28;
constexpr std::uint8_t kFlags = 0x2c;

ModulePage group_page(const ModuleImage& image, std::uint8_t first, std::uint8_t group,
                      std::uint8_t bank) {
  return upper_page(image, static_cast<std::uint8_t>(first + group), bank);
}

/// Where the objects of one type are, all banks: lanes of the whole module, 0 first.
using Places = std::map<std::uint8_t, std::set<std::size_t>>;

Places places_of(const ModuleImage& image, std::uint8_t groups) {
  Places places;
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    for (std::uint8_t group = 0; group < groups; ++group) {
      const ModulePage descriptors = group_page(image, kDescriptors, group, bank);
      for (unsigned i = 0; i < kInstancesPerGroup; ++i) {
        const unsigned lane = descriptors.byte(128 + 2 * i).value_or(0) & 0x0fU;
        if (lane < kLanesPerBank)
          places[descriptors.byte(129 + 2 * i).value_or(0)].insert(bank * kLanesPerBank + lane);
      }
    }
  return places;
}

/// CMIS 5.4 table 8-179: what belongs to a data path stands at the first of its host lanes, on the
/// media side too. Some modules list each lane there: then a place is a lane. Which of both, all
/// places of the type together say.
class LanePlaces {
 public:
  LanePlaces(const CmisLanes& lanes, Places places, unsigned banks)
      : paths_(lanes.data_paths),
        places_(std::move(places)),
        media_per_bank_(lanes.media_per_bank),
        banks_(banks) {
    if (std::ranges::any_of(paths_, &DataPath::runs))
      std::erase_if(paths_, [](const DataPath& p) { return !p.runs; });
  }

  /// False: of a lane that the module has not got.
  [[nodiscard]] bool locate(ObservableInstance& instance) const {
    const Observable* row = find_observable(cmis_observables(), instance.type);
    if (row == nullptr || !instance.lane) return true;
    if (!is_of_data_path(*row) || !are_data_paths(instance.type)) {
      if (!row->host) instance.lane = media_lane(*instance.lane);
      return instance.lane.has_value();
    }
    const DataPath& path = *path_at(*instance.lane);
    instance.lane = static_cast<unsigned>(row->host ? path.host_first : path.media_first);
    instance.lanes = static_cast<unsigned>(row->host ? path.host_lanes : path.media_lanes);
    return true;
  }

 private:
  /// Media lanes follow on the ones that the bank before has. Of a module of one bank each place is
  /// a lane.
  [[nodiscard]] std::optional<unsigned> media_lane(unsigned lane) const {
    if (banks_ == 1 || media_per_bank_ == 0) return lane;
    if (lane % kLanesPerBank >= media_per_bank_) return std::nullopt;
    return lane / kLanesPerBank * media_per_bank_ + lane % kLanesPerBank;
  }
  [[nodiscard]] std::vector<DataPath>::const_iterator path_at(std::size_t lane) const {
    return std::ranges::find(paths_, lane, &DataPath::host_first);
  }
  [[nodiscard]] bool are_data_paths(std::uint8_t type) const {
    return std::ranges::all_of(places_.at(type),
                               [this](std::size_t lane) { return path_at(lane) != paths_.end(); });
  }

  std::vector<DataPath> paths_;
  Places places_;
  unsigned media_per_bank_, banks_;
};

struct GroupPlace {
  std::uint8_t group = 0, bank = 0;
};

void read_group(const ModuleImage& image, GroupPlace at, bool values_valid,
                const LanePlaces& places, ObservableCollector& out, ModuleWarnings& warnings) {
  const auto [group, bank] = at;
  const ModulePage descriptors = group_page(image, kDescriptors, group, bank);
  const ModulePage values = group_page(image, kValues, group, bank);
  const ModulePage limits = group_page(image, kLimits, group, bank);
  const ModulePage flags = upper_page(image, kFlags, bank);
  // A driver that ignores the bank gives those of bank 0.
  const bool bank_known = bank == 0 || upper_page(image, 0x11, bank).exists();
  bool any = false;
  for (unsigned i = 0; i < kInstancesPerGroup; ++i) {
    const auto where = descriptors.byte(128 + 2 * i);
    const auto type = descriptors.byte(129 + 2 * i);
    if (!where || !type || *type == 0) continue;
    any = true;
    ObservableInstance instance;
    instance.type = *type;
    if (const unsigned lane = *where & 0x0fU; lane < kLanesPerBank)
      instance.lane = bank * kLanesPerBank + lane;
    if (!places.locate(instance)) continue;
    if (bank_known) instance.limits = read_quad(limits, 128 + 8 * (*where >> 4U));
    // Also those that were latched before it went to sleep.
    if (bank_known)
      instance.flags = read_flags(flags, kCmisFlags, 128 + 32U * group + i / 2, i % 2 == 0 ? 0 : 4);
    if (bank_known && values_valid) instance.value = values.u16(128 + 2 * i);
    out.take(instance);
  }
  if (any && bank_known && values_valid && !values.exists())
    warnings.push_back(
        page_name({kModuleAddressA0, bank, static_cast<std::uint8_t>(kValues + group), true},
                  ModuleMap::kCmis) +
        " was not read: its VDM values are not known");
}

template <typename Statistics>
void forget_zeros(Statistics& statistics) {
  const auto forget = [](std::optional<double>& value) {
    if (value == 0.0) value.reset();
  };
  for (auto* value : {&statistics.min, &statistics.max, &statistics.avg, &statistics.current})
    forget(*value);
  if constexpr (requires { statistics.total; }) forget(statistics.total);
}

/// nullopt: the lane does not say.
template <typename Lane>
std::optional<bool> is_lost(const Lane& lane, std::optional<bool> Lane::*los,
                            std::optional<bool> Lane::*lol) {
  if (!(lane.*los) && !(lane.*lol)) return std::nullopt;
  return (lane.*los).value_or(false) || (lane.*lol).value_or(false);
}

/// Of those that say anything, and at least one does.
template <typename Lane>
bool all_are_lost(const std::vector<Lane>& lanes, std::optional<bool> Lane::*los,
                  std::optional<bool> Lane::*lol) {
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
    forget_zeros(vdm.media_errored_frames);
    forget_zeros(vdm.media_fec_tail_symbols);
  }
  if (off || all_are_lost(sample.host_lanes, &ModuleHostLane::tx_los, &ModuleHostLane::tx_lol)) {
    forget_zeros(vdm.host_pre_fec_ber);
    forget_zeros(vdm.host_errored_frames);
    forget_zeros(vdm.host_fec_tail_symbols);
  }
  const auto by_lane = [&](std::vector<BerStatistics>& all, const auto& lanes, auto los, auto lol) {
    for (std::size_t lane = 0; lane < all.size(); ++lane)
      if (off || (lane < lanes.size() && is_lost(lanes[lane], los, lol) == true))
        forget_zeros(all[lane]);
  };
  by_lane(vdm.media_pre_fec_ber_by_lane, sample.lanes, &ModuleLane::rx_los, &ModuleLane::rx_lol);
  by_lane(vdm.host_pre_fec_ber_by_lane, sample.host_lanes, &ModuleHostLane::tx_los,
          &ModuleHostLane::tx_lol);
}

void decode_cmis_vdm(const ModuleImage& image, const CmisLanes& lanes, ModuleSample& sample) {
  const ModulePage control = upper_page(image, 0x2f);
  if (upper_page(image, 0x01).offers(142, 6) && !control.byte(128))
    sample.warnings.emplace_back("page 2fh was not read: the module's VDM values are not known");
  const std::uint8_t groups = vdm_group_count(image);
  if (groups == 0) return;
  const bool asleep = control.offers(144, 6);
  if (asleep)
    sample.warnings.emplace_back("VDM is in power saving: its values are old and left out");
  ObservableCollector out(cmis_observables(), sample);
  const LanePlaces places(lanes, places_of(image, groups), cmis_bank_count(image));
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    for (std::uint8_t group = 0; group < groups; ++group)
      read_group(image, {group, bank}, !asleep, places, out, sample.warnings);
  out.finish();
  if (!asleep && control.offers(144, 7)) {
    sample.vdm.frozen = true;
    sample.warnings.emplace_back("another agent has frozen the VDM statistics: they are old");
  }
}

}  // namespace linkhealth
