// CMIS versatile diagnostics monitoring: a descriptor (pages 20h-23h) gives a quantity's type and
// lane; its value is at the same position of pages 24h-27h. CMIS 5.4 table 8-180; the coherent
// types follow C-CMIS 1.1, as in sonic-platform-common's codes/public/cmis.py.
#include <algorithm>
#include <cmath>

#include "probes/module/cmis.h"
#include "probes/module/screen.h"
#include "probes/module/values.h"

namespace linkhealth {

namespace {

constexpr unsigned kInstancesPerGroup = 64;
/// Group g has its descriptors and values on these pages plus g.
constexpr std::uint8_t kDescriptors = 0x20, kValues = 0x24;

enum class Coding : std::uint8_t {
  kU16,
  kS16,
  kF16,  ///< 8.19.1: 5-bit decimal exponent, offset -24, and 11-bit mantissa
};

double decoded(Coding coding, std::uint16_t raw) {
  if (coding == Coding::kU16) return raw;
  if (coding == Coding::kS16) return static_cast<std::int16_t>(raw);
  const int exponent = static_cast<int>(raw >> 11U) - 24;
  const double power = std::pow(10.0, std::abs(exponent));  // a division gives the nearest double
  return exponent < 0 ? (raw & 0x7ffU) / power : (raw & 0x7ffU) * power;
}

/// Which lane's value stands for all of them: the worst.
enum class Worst : std::uint8_t { kLargest, kSmallest, kMagnitude };

void keep_worst(std::optional<double>& slot, double value, Worst worst = Worst::kLargest) {
  const bool replaces = !slot || (worst == Worst::kLargest    ? value > *slot
                                  : worst == Worst::kSmallest ? value < *slot
                                                              : std::abs(value) > std::abs(*slot));
  if (replaces) slot = value;
}

/// A ratio in 1/256 dB per lane; 0 means "no value".
struct LaneRow {
  std::uint8_t type;
  std::vector<double> ModuleVdm::*lanes;
  bool host;
};
constexpr LaneRow kLaneRows[] = {
    {5, &ModuleVdm::media_esnr_db, false},
    {6, &ModuleVdm::host_esnr_db, true},
    {7, &ModuleVdm::media_ltp_db, false},
    {8, &ModuleVdm::host_ltp_db, true},
};

/// Statistics of a data path, or of each of its lanes (table 8-180): types from `first` on, each
/// statistic for the media side and then for the host side. Values from `limit` on are absent
/// (7.10.2: a BER of 0.5, the largest F16, all ones).
struct StatisticGroup {
  std::uint8_t first;
  std::size_t statistics;
  Coding coding;
  double limit;
  VdmStatistics ModuleVdm::*media;
  VdmStatistics ModuleVdm::*host;
};
constexpr StatisticGroup kStatisticGroups[] = {
    {9, 4, Coding::kF16, 0.5, &ModuleVdm::media_pre_fec_ber, &ModuleVdm::host_pre_fec_ber},
    {17, 5, Coding::kF16, 2.047e10, &ModuleVdm::media_errored_frames,
     &ModuleVdm::host_errored_frames},
    {27, 4, Coding::kU16, 0xffff, &ModuleVdm::media_fec_tail_symbols,
     &ModuleVdm::host_fec_tail_symbols},
};
constexpr std::optional<double> VdmStatistics::*kStatistics[] = {
    &VdmStatistics::min, &VdmStatistics::max, &VdmStatistics::avg, &VdmStatistics::current,
    &VdmStatistics::total};

/// A quantity of which the worst lane's value is kept. -32768 (signed) and all ones (unsigned) mean
/// "no value".
template <typename Owner>
struct ScalarRow {
  std::uint8_t type;
  Coding coding;
  Scale scale;
  std::optional<double> Owner::*field;
  Worst worst;
};
constexpr ScalarRow<ModuleVdm> kLaserRows[] = {
    {1, Coding::kU16, {}, &ModuleVdm::laser_age_percent, Worst::kLargest},
    {3, Coding::kS16, {10, 1}, &ModuleVdm::laser_frequency_error_mhz, Worst::kMagnitude},
};
constexpr ScalarRow<ModuleCoherent> kCoherentRows[] = {
    {134, Coding::kS16, {}, &ModuleCoherent::chromatic_dispersion_ps_per_nm, Worst::kMagnitude},
    {136, Coding::kU16, {1, 100}, &ModuleCoherent::dgd_ps, Worst::kLargest},
    {138, Coding::kU16, {1, 10}, &ModuleCoherent::pdl_db, Worst::kLargest},
    {139, Coding::kU16, {1, 10}, &ModuleCoherent::osnr_db, Worst::kSmallest},
    {140, Coding::kU16, {1, 10}, &ModuleCoherent::esnr_db, Worst::kSmallest},
    {141, Coding::kS16, {}, &ModuleCoherent::carrier_frequency_offset_mhz, Worst::kMagnitude},
    {143, Coding::kS16, {1, 100}, &ModuleCoherent::tx_power_dbm, Worst::kSmallest},
    {144, Coding::kS16, {1, 100}, &ModuleCoherent::rx_total_power_dbm, Worst::kSmallest},
    {145, Coding::kS16, {1, 100}, &ModuleCoherent::rx_signal_power_dbm, Worst::kSmallest},
};

struct Instance {
  std::uint8_t type = 0;
  unsigned bank = 0;
  std::optional<unsigned> lane;  ///< of the bank, from 0; nullopt: of the whole module
  std::uint16_t raw = 0;
};

template <typename Rows>
auto find_row(const Rows& rows, std::uint8_t type) {
  const auto row = std::ranges::find_if(rows, [type](const auto& one) { return one.type == type; });
  return row == std::end(rows) ? nullptr : &*row;
}

std::optional<double> ratio_db(const Instance& instance, ModuleWarnings& warnings) {
  // PAM4 needs about 17 dB, and a perfect signal has 30; all ones (256 dB) and 8000h are not
  // readings.
  constexpr double kMostSnrDb = 60;
  const double ratio = instance.raw / 256.0;
  const bool is_ltp = instance.type == 7 || instance.type == 8;
  // 7.1.4.2: FFFFh of an LTP means that nothing lies between the levels: the best possible value.
  if (is_ltp) return std::min(ratio, 0xfffe / 256.0);
  if (ratio <= kMostSnrDb) return ratio;
  warn_once(warnings, "a signal-to-noise ratio of more than 60 dB cannot be true: left out");
  return std::nullopt;
}

/// Media lanes continue the numbers of the previous bank; host lanes are eight per bank.
void read_lane(const LaneRow& row, const Instance& instance, const CmisLanes& lanes,
               ModuleSample& sample) {
  const unsigned count = row.host ? lanes.host_per_bank : lanes.media_per_bank;
  // A ratio of the whole module belongs to its only lane.
  if (!instance.lane && count != 1)
    return warn_once(sample.warnings,
                     "a ratio is of the whole module, not of one of its lanes: left out");
  const unsigned per_bank = row.host || count == 0 ? kLanesPerBank : count;
  const unsigned lane = instance.lane.value_or(0);
  const auto value = ratio_db(instance, sample.warnings);
  if (lane >= per_bank || value.value_or(0) == 0) return;
  std::vector<double>& out = sample.vdm.*row.lanes;
  const std::size_t at = std::size_t{instance.bank} * per_bank + lane;
  out.resize(std::max(out.size(), at + 1), 0.0);
  out[at] = *value;
}

/// False: the type is not a statistic.
bool read_statistic(const Instance& instance, ModuleVdm& vdm) {
  for (const StatisticGroup& group : kStatisticGroups) {
    const std::size_t index = instance.type - std::size_t{group.first};
    if (instance.type < group.first || index >= 2 * group.statistics) continue;
    const double value = decoded(group.coding, instance.raw);
    const auto statistic = kStatistics[index / 2];
    const bool is_min = statistic == &VdmStatistics::min;
    if (value < group.limit && instance.raw != 0xffff)
      keep_worst((vdm.*(index % 2 == 0 ? group.media : group.host)).*statistic, value,
                 is_min ? Worst::kSmallest : Worst::kLargest);
    return true;
  }
  return false;
}

template <typename Owner>
void read_scalar(const ScalarRow<Owner>& row, std::uint16_t raw, Owner& owner) {
  if (raw == (row.coding == Coding::kS16 ? 0x8000 : 0xffff)) return;
  keep_worst(owner.*row.field, row.scale.of(decoded(row.coding, raw)), row.worst);
}

void read_instance(const Instance& instance, const CmisLanes& lanes, ModuleSample& sample) {
  if (read_statistic(instance, sample.vdm)) return;
  if (const auto* row = find_row(kLaneRows, instance.type))
    read_lane(*row, instance, lanes, sample);
  else if (const auto* laser = find_row(kLaserRows, instance.type))
    read_scalar(*laser, instance.raw, sample.vdm);
  else if (const auto* coherent = find_row(kCoherentRows, instance.type))
    read_scalar(*coherent, instance.raw, sample.coherent);
}

void read_group(const ModuleImage& image, std::uint8_t group, std::uint8_t bank,
                const CmisLanes& lanes, ModuleSample& sample) {
  const auto descriptors_at = static_cast<std::uint8_t>(kDescriptors + group);
  const auto values_at = static_cast<std::uint8_t>(kValues + group);
  const ModulePage descriptors = upper_page(image, descriptors_at, bank);
  const ModulePage values = upper_page(image, values_at, bank);
  bool any = false;
  for (unsigned i = 0; i < kInstancesPerGroup; ++i) {
    Instance instance{descriptors.code(129 + 2 * i), bank, std::nullopt, 0};
    if (instance.type == 0) continue;
    any = true;
    if (const unsigned lane = descriptors.code(128 + 2 * i) & 0x0fU; lane < kLanesPerBank)
      instance.lane = lane;
    const auto raw = values.u16(128 + 2 * i);
    if (!raw) continue;
    instance.raw = *raw;
    read_instance(instance, lanes, sample);
  }
  if (any && !values.exists())
    sample.warnings.push_back(page_name(upper_key(values_at, bank), ModuleMap::kCmis) +
                              " was not read: its VDM values are not known");
}

/// Over the lanes that report it, of which there must be at least one.
template <typename Lane>
bool all_are_lost(const std::vector<Lane>& lanes, std::optional<bool> Lane::*los,
                  std::optional<bool> Lane::*lol) {
  bool any = false;
  for (const Lane& lane : lanes) {
    if (!(lane.*los) && !(lane.*lol)) continue;
    if (!(lane.*los).value_or(false) && !(lane.*lol).value_or(false)) return false;
    any = true;
  }
  return any;
}

/// Drops error ratios of zero from a side that receives nothing, or from a module that is not
/// ready: nothing was counted.
void drop_idle_statistics(ModuleSample& sample) {
  ModuleVdm& vdm = sample.vdm;
  const auto drop_zeros = [](VdmStatistics& statistics) {
    for (auto* value : {&statistics.min, &statistics.max, &statistics.avg, &statistics.current,
                        &statistics.total})
      if (*value == 0.0) value->reset();
  };
  const bool off = !sample.state.empty() && sample.state != "ModuleReady";
  if (off || all_are_lost(sample.lanes, &ModuleLane::rx_los, &ModuleLane::rx_lol))
    for (auto* of :
         {&vdm.media_pre_fec_ber, &vdm.media_errored_frames, &vdm.media_fec_tail_symbols})
      drop_zeros(*of);
  if (off || all_are_lost(sample.host_lanes, &ModuleHostLane::tx_los, &ModuleHostLane::tx_lol))
    for (auto* of : {&vdm.host_pre_fec_ber, &vdm.host_errored_frames, &vdm.host_fec_tail_symbols})
      drop_zeros(*of);
}

}  // namespace

void decode_cmis_vdm(const ModuleImage& image, const CmisLanes& lanes, ModuleSample& sample) {
  if (!upper_page(image, 0x01).offers(142, 6)) return;
  const ModulePage control = upper_page(image, 0x2f);
  if (!control.byte(128))
    return sample.warnings.push_back("page 2fh was not read: VDM values are not known");
  if (control.offers(144, 6))
    return sample.warnings.push_back("VDM is in power saving: its values are old and left out");
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    for (std::uint8_t group = 0; group < vdm_group_count(image); ++group)
      // A driver that ignores the bank gives those of bank 0.
      if (bank == 0 || upper_page(image, 0x11, bank).exists())
        read_group(image, group, bank, lanes, sample);
  drop_idle_statistics(sample);
  if (!control.offers(144, 7)) return;
  sample.vdm.frozen = true;
  sample.warnings.emplace_back("another program has frozen the VDM statistics: they are old");
}

}  // namespace linkhealth
