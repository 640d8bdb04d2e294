#include "probes/module_flags.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace linkhealth {

namespace {

struct ModuleQuad {
  std::string_view name;
  AlarmFlags ModuleSample::*flags;
};
constexpr ModuleQuad kModuleQuads[] = {
    {"temperature", &ModuleSample::temperature_flags},
    {"supply", &ModuleSample::supply_flags},
    {"laser_temperature", &ModuleSample::laser_temperature_flags},
    {"tec", &ModuleSample::tec_flags},
    {"second_supply", &ModuleSample::second_supply_flags},
    {"auxiliary", &ModuleSample::auxiliary_flags},
    {"custom", &ModuleSample::custom_flags},
};

struct ModuleBit {
  std::string_view name;
  std::optional<bool> ModuleSample::*flag;
};
constexpr ModuleBit kModuleBits[] = {
    {"module_firmware_error", &ModuleSample::module_firmware_error},
    {"data_path_firmware_error", &ModuleSample::data_path_firmware_error},
    {"abnormal_firmware", &ModuleSample::abnormal_firmware},
    {"module_state_changed", &ModuleSample::state_changed},
};

struct LaneBit {
  std::string_view name;
  std::optional<bool> ModuleLane::*flag;
  bool of_host = false;  ///< with CMIS the host lanes have it, and the media lane's is only derived from theirs
};
constexpr LaneBit kLaneBits[] = {
    {"rx_los", &ModuleLane::rx_los},       {"rx_lol", &ModuleLane::rx_lol},
    {"tx_fault", &ModuleLane::tx_fault},   {"tx_los", &ModuleLane::tx_los, true},
    {"tx_lol", &ModuleLane::tx_lol, true}, {"tx_eq_fault", &ModuleLane::tx_eq_fault, true},
};

struct LaneQuad {
  std::string_view name;
  AlarmFlags ModuleLane::*flags;
};
constexpr LaneQuad kLaneQuads[] = {
    {"rx_power", &ModuleLane::rx_power_flags},
    {"tx_power", &ModuleLane::tx_power_flags},
    {"tx_bias", &ModuleLane::tx_bias_flags},
};

struct LaserBit {
  std::string_view name;
  std::optional<bool> LaserTuning::*flag;
};
constexpr LaserBit kLaserBits[] = {
    {"laser_wavelength_unlocked", &LaserTuning::wavelength_unlocked},
    {"laser_channel_invalid", &LaserTuning::channel_invalid},
    {"laser_tuning_not_accepted", &LaserTuning::tuning_not_accepted},
    {"laser_fine_tuning_out_of_range", &LaserTuning::fine_tuning_out_of_range},
    {"laser_target_power_out_of_range", &LaserTuning::target_power_out_of_range},
    {"laser_cooler_fault", &LaserTuning::cooler_fault},
};

struct CoherentBit {
  std::string_view name;
  std::optional<bool> CoherentFlags::*flag;
};
constexpr CoherentBit kCoherentBits[] = {
    {"coherent_tx_loss_of_alignment", &CoherentFlags::tx_loss_of_alignment},
    {"coherent_tx_out_of_alignment", &CoherentFlags::tx_out_of_alignment},
    {"coherent_tx_cmu_lol", &CoherentFlags::tx_cmu_lol},
    {"coherent_tx_reference_clock_lol", &CoherentFlags::tx_reference_clock_lol},
    {"coherent_tx_deskew_lol", &CoherentFlags::tx_deskew_lol},
    {"coherent_tx_fifo_error", &CoherentFlags::tx_fifo_error},
    {"coherent_rx_loss_of_frame", &CoherentFlags::rx_loss_of_frame},
    {"coherent_rx_loss_of_multi_frame", &CoherentFlags::rx_loss_of_multi_frame},
    {"coherent_rx_demodulator_lol", &CoherentFlags::rx_demodulator_lol},
    {"coherent_rx_dispersion_lol", &CoherentFlags::rx_dispersion_lol},
    {"coherent_rx_loss_of_alignment", &CoherentFlags::rx_loss_of_alignment},
    {"coherent_rx_out_of_alignment", &CoherentFlags::rx_out_of_alignment},
    {"coherent_rx_deskew_lol", &CoherentFlags::rx_deskew_lol},
    {"coherent_rx_fifo_error", &CoherentFlags::rx_fifo_error},
};

struct HostBit {
  std::string_view name;
  std::optional<bool> ModuleHostLane::*flag;
};
constexpr HostBit kHostBits[] = {
    {"host_tx_los", &ModuleHostLane::tx_los},
    {"host_tx_lol", &ModuleHostLane::tx_lol},
    {"host_tx_eq_fault", &ModuleHostLane::tx_eq_fault},
    {"host_data_path_changed", &ModuleHostLane::data_path_changed},
    {"host_rx_output_changed", &ModuleHostLane::rx_output_changed},
};

struct Level {
  std::string_view name;
  std::optional<bool> AlarmFlags::*flag;
};
constexpr Level kLevels[] = {
    {"low_alarm", &AlarmFlags::low_alarm},
    {"low_warn", &AlarmFlags::low_warn},
    {"high_warn", &AlarmFlags::high_warn},
    {"high_alarm", &AlarmFlags::high_alarm},
};

using Lane = std::optional<std::uint32_t>;

/// `visit(name, lane, flag)` for each of a quad.
template <typename Flags, typename Visit>
void visit_quad(const std::string& name, Lane lane, Flags& flags, const Visit& visit) {
  for (const Level& level : kLevels) visit(name + "_" + std::string(level.name), lane, flags.*level.flag);
}

/// `visit(name, lane, flag)` for every flag of a sample but those of VDM, which are a list of the set ones.
template <typename Sample, typename Visit>
void visit_flags(Sample& sample, const Visit& visit) {
  for (const ModuleQuad& row : kModuleQuads) visit_quad(std::string(row.name), Lane(), sample.*row.flags, visit);
  for (const ModuleBit& row : kModuleBits) visit(std::string(row.name), Lane(), sample.*row.flag);
  for (std::uint32_t i = 0; i < sample.lanes.size(); ++i) {
    for (const LaneBit& row : kLaneBits)
      if (!row.of_host || sample.host_lanes.empty())
        visit(std::string(row.name), Lane(i + 1), sample.lanes[i].*row.flag);
    for (const LaneQuad& row : kLaneQuads)
      visit_quad(std::string(row.name), Lane(i + 1), sample.lanes[i].*row.flags, visit);
  }
  for (std::uint32_t i = 0; i < sample.laser_tuning.size(); ++i)
    for (const LaserBit& row : kLaserBits) visit(std::string(row.name), Lane(i + 1), sample.laser_tuning[i].*row.flag);
  for (const CoherentBit& row : kCoherentBits) visit(std::string(row.name), Lane(1), sample.coherent_flags.*row.flag);
  for (std::uint32_t i = 0; i < sample.host_lanes.size(); ++i)
    for (const HostBit& row : kHostBits) visit(std::string(row.name), Lane(i + 1), sample.host_lanes[i].*row.flag);
}

std::string vdm_name(const VdmFlags& entry) { return "vdm_" + entry.name; }

void unite(std::optional<bool>& flag, const std::optional<bool>& earlier) {
  if (earlier.value_or(false)) flag = true;
}

}  // namespace

void forget_tuning_flags(ModuleSample& sample) {
  for (LaserTuning& laser : sample.laser_tuning)
    for (const LaserBit& row : kLaserBits) (laser.*row.flag).reset();
}

void forget_flags(ModuleSample& sample) {
  visit_flags(sample, [](const std::string&, Lane, std::optional<bool>& flag) { flag.reset(); });
  // Derived from the host lanes' flags.
  if (!sample.host_lanes.empty())
    for (ModuleLane& lane : sample.lanes) lane.tx_los = lane.tx_lol = lane.tx_eq_fault = std::nullopt;
  sample.vdm.flags.clear();
}

void unite_flags(ModuleSample& sample, const ModuleSample& earlier) {
  std::set<std::pair<std::string, std::uint32_t>> set;
  visit_flags(earlier, [&](const std::string& name, Lane lane, const std::optional<bool>& flag) {
    if (flag.value_or(false)) set.emplace(name, lane.value_or(0));
  });
  visit_flags(sample, [&](const std::string& name, Lane lane, std::optional<bool>& flag) {
    if (set.contains({name, lane.value_or(0)})) flag = true;
  });
  for (std::size_t i = 0; i < std::min(sample.lanes.size(), earlier.lanes.size()); ++i) {
    if (sample.host_lanes.empty()) break;
    unite(sample.lanes[i].tx_los, earlier.lanes[i].tx_los);
    unite(sample.lanes[i].tx_lol, earlier.lanes[i].tx_lol);
    unite(sample.lanes[i].tx_eq_fault, earlier.lanes[i].tx_eq_fault);
  }
  for (const VdmFlags& entry : earlier.vdm.flags) {
    const auto same = std::find_if(sample.vdm.flags.begin(), sample.vdm.flags.end(), [&](const VdmFlags& other) {
      return other.name == entry.name && other.lane == entry.lane;
    });
    if (same == sample.vdm.flags.end()) {
      sample.vdm.flags.push_back(entry);
      continue;
    }
    for (const Level& level : kLevels) unite(same->flags.*level.flag, entry.flags.*level.flag);
  }
}

ModuleCalm calm_of(const ModuleSample& sample) {
  ModuleCalm out;
  out.ready = (sample.state.empty() || sample.state == "ModuleReady") && !sample.data_not_ready.value_or(false) &&
              !sample.low_power_requested.value_or(false);
  for (const ModuleLane& lane : sample.lanes)
    out.transmitter_on.push_back(!lane.tx_disabled.value_or(false) && !lane.tx_squelched.value_or(false));
  for (const ModuleHostLane& lane : sample.host_lanes) out.data_path_up.push_back(lane.data_path_state == "Activated");
  out.applications = sample.type + " " + sample.host_interface;
  return out;
}

namespace {
bool any_came_up(const std::vector<bool>& before, const std::vector<bool>& now) {
  for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i)
    if (!before[i] && now[i]) return true;
  return false;
}
}  // namespace

bool has_just_come_up(const ModuleCalm& before, const ModuleCalm& now) {
  return (!before.ready && now.ready) || any_came_up(before.transmitter_on, now.transmitter_on) ||
         any_came_up(before.data_path_up, now.data_path_up);
}

namespace {

/// Lanes of both sides: a data path's lanes stand in the same part of either.
struct LanesUp {
  std::vector<bool> media, host;

  void note(std::vector<bool>& of, const std::vector<bool>& before, const std::vector<bool>& now,
            std::vector<bool>& other) {
    for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
      if (before[i] || !now[i]) continue;
      of[i] = true;
      for (std::size_t j = 0; j < other.size(); ++j)
        if (j * of.size() < (i + 1) * other.size() && i * other.size() < (j + 1) * of.size()) other[j] = true;
    }
  }
  [[nodiscard]] bool has(const std::string& name, std::optional<std::uint32_t> lane) const {
    const std::vector<bool>& of = name.starts_with("host_") ? host : media;
    return lane && *lane > 0 && *lane <= of.size() && of[*lane - 1];
  }
};

}  // namespace

void forget_flags_of_what_came_up(ModuleSample& sample, const ModuleCalm& before, const ModuleCalm& now) {
  if (!before.ready && now.ready) return forget_flags(sample);
  LanesUp up{std::vector<bool>(now.transmitter_on.size()), std::vector<bool>(now.data_path_up.size())};
  up.note(up.media, before.transmitter_on, now.transmitter_on, up.host);
  up.note(up.host, before.data_path_up, now.data_path_up, up.media);
  visit_flags(sample, [&](const std::string& name, Lane lane, std::optional<bool>& flag) {
    if (up.has(name, lane)) flag.reset();
  });
  for (std::uint32_t i = 0; i < sample.lanes.size(); ++i)
    if (!sample.host_lanes.empty() && up.has("", i + 1))
      sample.lanes[i].tx_los = sample.lanes[i].tx_lol = sample.lanes[i].tx_eq_fault = std::nullopt;
  for (VdmFlags& entry : sample.vdm.flags)
    if (up.has(entry.name, entry.lane)) entry.flags = {};
}

void leave_out_unknown(ModuleSample& sample) {
  std::erase_if(sample.vdm.flags, [](const VdmFlags& entry) {
    return std::ranges::none_of(kLevels, [&](const Level& level) { return (entry.flags.*level.flag).has_value(); });
  });
}

bool has_other_limits(const ModuleCalm& before, const ModuleCalm& now) {
  return any_came_up(before.data_path_up, now.data_path_up) ||
         (!before.applications.empty() && before.applications != now.applications);
}

void ModuleFlagHistory::note(const std::string& name, std::optional<std::uint32_t> lane, bool set, WallTime at) {
  const std::pair key{name, lane.value_or(0)};
  if (!set && !flags_.contains(key)) return;
  ModuleFlag& flag = flags_[key];
  flag.name = name;
  flag.lane = lane;
  if (flag.set == set) return;
  flag.set = set;
  ++flag.change_count;
  (set ? flag.set_at : flag.cleared_at) = at;
}

void ModuleFlagHistory::take(const ModuleSample& sample, WallTime at) {
  visit_flags(sample, [&](const std::string& name, Lane lane, const std::optional<bool>& flag) {
    if (flag) note(name, lane, *flag, at);
  });
  if (sample.vdm.empty()) return;  // not read, or not offered
  std::set<std::pair<std::string, std::uint32_t>> listed;
  for (const VdmFlags& entry : sample.vdm.flags)
    visit_quad(vdm_name(entry), entry.lane, entry.flags,
               [&](const std::string& name, Lane lane, const std::optional<bool>& flag) {
                 if (flag) note(name, lane, *flag, at);
                 listed.emplace(name, lane.value_or(0));
               });
  for (auto& [key, flag] : flags_)
    if (flag.set && key.first.starts_with("vdm_") && !listed.contains(key)) note(key.first, flag.lane, false, at);
}

std::vector<ModuleFlag> ModuleFlagHistory::list() const {
  std::vector<ModuleFlag> out;
  out.reserve(flags_.size());
  for (const auto& [key, flag] : flags_) out.push_back(flag);
  return out;
}

}  // namespace linkhealth
