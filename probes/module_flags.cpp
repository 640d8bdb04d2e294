#include "probes/module_flags.h"

#include <algorithm>
#include <set>

#include "probes/module_flag_names.h"

namespace linkhealth {

namespace {

using module_flag_names::kLaserBits;
using module_flag_names::kLevels;
using module_flag_names::Lane;
using module_flag_names::LaserBit;
using module_flag_names::Level;
using module_flag_names::visit_flags;

void unite(std::optional<bool>& flag, const std::optional<bool>& earlier) {
  if (earlier.value_or(false)) flag = true;
}

void unite_other(std::vector<OtherFlag>& all, const OtherFlag& earlier) {
  const auto same = std::ranges::find_if(all, [&](const OtherFlag& other) {
    return other.name == earlier.name && other.lane == earlier.lane;
  });
  if (same == all.end())
    all.push_back(earlier);
  else
    same->set = same->set || earlier.set;
}

using NamesAndLanes = std::set<std::pair<std::string, std::uint32_t>>;

/// A page that was read then and is not now had lanes of which nothing but their flags is known.
/// Lanes that the module has not got any more stay away.
void widen(ModuleSample& sample, const NamesAndLanes& set) {
  constexpr std::uint32_t kLanesPerBank = 8;
  const std::uint32_t host_lanes = sample.bank_count.value_or(1) * kLanesPerBank;
  const std::uint32_t media_lanes = sample.media_lane_count.value_or(host_lanes);
  const auto hold = [](auto& lanes, std::uint32_t lane, std::uint32_t most) {
    if (lane <= most) lanes.resize(std::max<std::size_t>(lanes.size(), lane));
  };
  for (const auto& [name, lane] : set) {
    if (name.starts_with("host_"))
      hold(sample.host_lanes, lane, host_lanes);
    else if (name.starts_with("laser_"))
      hold(sample.laser_tuning, lane, media_lanes);
    else
      hold(sample.lanes, lane, media_lanes);
  }
}

}  // namespace

void forget_tuning_flags(ModuleSample& sample) {
  for (LaserTuning& laser : sample.laser_tuning)
    for (const LaserBit& row : kLaserBits) (laser.*row.flag).reset();
  sample.other_flags.clear();
}

void forget_flags(ModuleSample& sample) {
  visit_flags(sample, [](const std::string&, Lane, std::optional<bool>& flag) { flag.reset(); });
  // Derived from the host lanes' flags.
  if (!sample.host_lanes.empty())
    for (ModuleLane& lane : sample.lanes)
      lane.tx_los = lane.tx_lol = lane.tx_eq_fault = std::nullopt;
  for (VdmFlags& entry : sample.vdm.flags) entry.flags = {};
  sample.other_flags.clear();
}

void unite_flags(ModuleSample& sample, const ModuleSample& earlier) {
  NamesAndLanes set;
  visit_flags(earlier, [&](const std::string& name, Lane lane, const std::optional<bool>& flag) {
    if (flag.value_or(false)) set.emplace(name, lane.value_or(0));
  });
  widen(sample, set);
  visit_flags(sample, [&](const std::string& name, Lane lane, std::optional<bool>& flag) {
    if (set.contains({name, lane.value_or(0)})) flag = true;
  });
  for (std::size_t i = 0; i < std::min(sample.lanes.size(), earlier.lanes.size()); ++i) {
    if (sample.host_lanes.empty()) break;
    unite(sample.lanes[i].tx_los, earlier.lanes[i].tx_los);
    unite(sample.lanes[i].tx_lol, earlier.lanes[i].tx_lol);
    unite(sample.lanes[i].tx_eq_fault, earlier.lanes[i].tx_eq_fault);
  }
  for (const OtherFlag& entry : earlier.other_flags) unite_other(sample.other_flags, entry);
  if (sample.vdm.flags.empty())
    sample.vdm.flags = earlier.vdm.flags;  // with those of which nothing is known
  for (const VdmFlags& entry : earlier.vdm.flags) {
    if (!entry.flags.any()) continue;
    const auto same =
        std::find_if(sample.vdm.flags.begin(), sample.vdm.flags.end(), [&](const VdmFlags& other) {
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
  out.ready = (sample.state.empty() || sample.state == "ModuleReady") &&
              !sample.data_not_ready.value_or(false) && !sample.low_power_requested.value_or(false);
  for (const ModuleLane& lane : sample.lanes)
    out.transmitter_on.push_back(!lane.tx_disabled.value_or(false) &&
                                 !lane.tx_squelched.value_or(false));
  for (const ModuleHostLane& lane : sample.host_lanes)
    out.data_path_up.push_back(lane.data_path_state == "Activated");
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
        if (j * of.size() < (i + 1) * other.size() && i * other.size() < (j + 1) * of.size())
          other[j] = true;
    }
  }
  [[nodiscard]] bool has(const std::string& name, std::optional<std::uint32_t> lane) const {
    const std::vector<bool>& of = name.starts_with("host_") ? host : media;
    return lane && *lane > 0 && *lane <= of.size() && of[*lane - 1];
  }
};

}  // namespace

void forget_flags_of_what_came_up(ModuleSample& sample, const ModuleCalm& before,
                                  const ModuleCalm& now) {
  if (!before.ready && now.ready) return forget_flags(sample);
  // A module of which no media lane is told has as many as the host's side.
  const std::size_t media =
      now.transmitter_on.empty() ? now.data_path_up.size() : now.transmitter_on.size();
  LanesUp up{std::vector<bool>(media), std::vector<bool>(now.data_path_up.size())};
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
  std::erase_if(sample.other_flags,
                [&](const OtherFlag& flag) { return up.has(flag.name, flag.lane); });
}

bool has_other_limits(const ModuleCalm& before, const ModuleCalm& now) {
  return any_came_up(before.data_path_up, now.data_path_up) ||
         (!before.applications.empty() && before.applications != now.applications);
}

}  // namespace linkhealth
