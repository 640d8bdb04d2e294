#include "probes/module/module_flags.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace linkhealth {

namespace {

template <typename Owner>
struct Bit {
  std::string_view name;
  std::optional<bool> Owner::*flag;
};
/// The flags for one value's limits.
template <typename Owner>
struct Quad {
  std::string_view name;
  AlarmFlags Owner::*flags;
};

constexpr Bit<ModuleSample> kModuleBits[] = {
    {"module_firmware_error", &ModuleSample::module_firmware_error},
    {"data_path_firmware_error", &ModuleSample::data_path_firmware_error},
    {"module_state_changed", &ModuleSample::module_state_changed},
};
constexpr Quad<ModuleSample> kModuleQuads[] = {
    {"temperature", &ModuleSample::temperature_flags},
    {"supply", &ModuleSample::supply_flags},
};
constexpr Bit<ModuleLane> kLaneBits[] = {
    {"rx_los", &ModuleLane::rx_los},
    {"rx_lol", &ModuleLane::rx_lol},
    {"tx_fault", &ModuleLane::tx_fault},
};
/// If there are host lanes, these are derived from theirs.
constexpr Bit<ModuleLane> kLaneBitsOfHost[] = {
    {"tx_los", &ModuleLane::tx_los},
    {"tx_lol", &ModuleLane::tx_lol},
    {"tx_eq_fault", &ModuleLane::tx_eq_fault},
};
constexpr Quad<ModuleLane> kLaneQuads[] = {
    {"rx_power", &ModuleLane::rx_power_flags},
    {"tx_power", &ModuleLane::tx_power_flags},
    {"tx_bias", &ModuleLane::tx_bias_flags},
};
constexpr Bit<ModuleHostLane> kHostBits[] = {
    {"host_tx_los", &ModuleHostLane::tx_los},
    {"host_tx_lol", &ModuleHostLane::tx_lol},
    {"host_tx_eq_fault", &ModuleHostLane::tx_eq_fault},
    {"host_dp_state_changed", &ModuleHostLane::dp_state_changed},
};
constexpr Bit<AlarmFlags> kLevels[] = {
    {"low_alarm", &AlarmFlags::low_alarm},
    {"low_warn", &AlarmFlags::low_warn},
    {"high_warn", &AlarmFlags::high_warn},
    {"high_alarm", &AlarmFlags::high_alarm},
};

/// `visit(name, lane, flag)` for every flag of a sample; lane 0 for those of the whole module.
template <typename Sample, typename Visit>
void visit_flags(Sample& sample, const Visit& visit) {
  const auto bits = [&visit](const auto& rows, auto& owner, std::uint32_t lane) {
    for (const auto& row : rows) visit(std::string(row.name), lane, owner.*row.flag);
  };
  const auto quads = [&visit](const auto& rows, auto& owner, std::uint32_t lane) {
    for (const auto& row : rows)
      for (const auto& level : kLevels)
        visit(std::string(row.name) + "_" + std::string(level.name), lane,
              owner.*row.flags.*level.flag);
  };
  bits(kModuleBits, sample, 0);
  quads(kModuleQuads, sample, 0);
  std::uint32_t number = 0;
  for (auto& lane : sample.lanes) {
    bits(kLaneBits, lane, ++number);
    bits(kLaneBitsOfHost, lane, number);
    quads(kLaneQuads, lane, number);
  }
  number = 0;
  for (auto& lane : sample.host_lanes) bits(kHostBits, lane, ++number);
}

}  // namespace

bool has_latched_flags(const ModuleSample& sample) {
  return !sample.management.starts_with("SFF-8472");
}

void forget_flags(ModuleSample& sample) {
  visit_flags(sample, [](const std::string&, std::uint32_t, auto& flag) { flag.reset(); });
}

void unite_flags(ModuleSample& sample, const ModuleSample& earlier) {
  std::set<std::pair<std::string, std::uint32_t>> set;
  visit_flags(earlier, [&](const std::string& name, std::uint32_t lane, const auto& flag) {
    if (flag == true) set.emplace(name, lane);
  });
  visit_flags(sample, [&](const std::string& name, std::uint32_t lane, auto& flag) {
    if (set.contains({name, lane})) flag = true;
  });
}

std::vector<bool> activity_of(const ModuleSample& sample) {
  const bool ready = (sample.state.empty() || sample.state == "ModuleReady") &&
                     sample.data_not_ready != true && sample.low_pwr_request_sw != true;
  std::vector<bool> out{ready};
  for (const ModuleLane& lane : sample.lanes)
    out.push_back(lane.tx_disabled != true && lane.output_squelch_force_tx != true);
  for (const ModuleHostLane& lane : sample.host_lanes)
    out.push_back(lane.data_path_state == "Activated");
  return out;
}

bool has_come_up(const std::vector<bool>& before, const std::vector<bool>& now) {
  if (before.size() != now.size()) return true;  // another application runs
  for (std::size_t i = 0; i < now.size(); ++i)
    if (!before[i] && now[i]) return true;
  return false;
}

void ModuleFlagHistory::update(const ModuleSample& sample, WallTime at) {
  visit_flags(sample, [&](const std::string& name, std::uint32_t lane, const auto& set) {
    const bool derived = !sample.host_lanes.empty() &&
                         std::ranges::find(kLaneBitsOfHost, name, &Bit<ModuleLane>::name) !=
                             std::end(kLaneBitsOfHost);
    if (!set || derived || (!*set && !flags_.contains({name, lane}))) return;
    ModuleFlag& flag = flags_[{name, lane}];
    flag.name = name;
    if (lane != 0) flag.lane = lane;
    if (flag.set == *set) return;
    flag.set = *set;
    ++flag.change_count;
    (*set ? flag.set_at : flag.cleared_at) = at;
  });
}

std::vector<ModuleFlag> ModuleFlagHistory::list() const {
  std::vector<ModuleFlag> out;
  for (const auto& [key, flag] : flags_) out.push_back(flag);
  return out;
}

}  // namespace linkhealth
