#include <set>

#include "probes/module_flag_names.h"
#include "probes/module_flags.h"

namespace linkhealth {

namespace {

using module_flag_names::Lane;
using module_flag_names::visit_flags;
using module_flag_names::visit_quad;

std::string vdm_name(const VdmFlags& entry) { return "vdm_" + entry.name; }

bool is_of_vdm(const std::string& name) { return name.starts_with("vdm_"); }

/// Whether the states of all host lanes were read. An unread page leaves lanes without anything, of
/// either side, or fewer of them.
bool all_lanes_were_read(const ModuleSample& sample) {
  constexpr std::size_t kLanesPerBank = 8;
  const std::size_t banks = sample.bank_count.value_or(1);
  for (std::size_t bank = 0; bank < banks; ++bank) {
    const std::size_t first = bank * kLanesPerBank;
    if (first >= sample.host_lanes.size() || sample.host_lanes[first].data_path_state.empty())
      return false;
  }
  return true;
}

/// The module has not got the flag's lane any more, or nothing runs over it; one of an unused lane
/// ends when something does.
bool is_out_of_use(const ModuleSample& sample, const ModuleFlag& flag) {
  if (!flag.lane || !all_lanes_were_read(sample)) return false;
  if (flag.name.starts_with("host_")) return *flag.lane > sample.host_lanes.size();
  if (*flag.lane > sample.lanes.size()) return true;
  const bool unused = sample.lanes[*flag.lane - 1] == ModuleLane{};
  return unused != flag.name.starts_with("unused_");
}

}  // namespace

void ModuleFlagHistory::note(const std::string& name, std::optional<std::uint32_t> lane, bool set,
                             WallTime at) {
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
  std::set<std::pair<std::string, std::uint32_t>> told;
  const auto tell = [&](const std::string& name, Lane lane, bool set) {
    told.emplace(name, lane.value_or(0));
    note(name, lane, set, at);
  };
  visit_flags(sample, [&](const std::string& name, Lane lane, const std::optional<bool>& flag) {
    if (flag) tell(name, lane, *flag);
  });
  for (const OtherFlag& flag : sample.other_flags) tell(flag.name, flag.lane, flag.set);
  for (auto& [key, flag] : flags_)
    if (flag.set && !is_of_vdm(key.first) && !told.contains(key) && is_out_of_use(sample, flag))
      note(key.first, flag.lane, false, at);
  take_vdm(sample, at);
}

void ModuleFlagHistory::take_vdm(const ModuleSample& sample, WallTime at) {
  if (sample.vdm.flags.empty()) return;  // it has none, or forgot which
  std::set<std::pair<std::string, std::uint32_t>> listed;
  for (const VdmFlags& entry : sample.vdm.flags)
    visit_quad(vdm_name(entry), entry.lane, entry.flags,
               [&](const std::string& name, Lane lane, const std::optional<bool>& flag) {
                 if (flag) note(name, lane, *flag, at);
                 listed.emplace(name, lane.value_or(0));
               });
  for (auto& [key, flag] : flags_)
    if (flag.set && is_of_vdm(key.first) && !listed.contains(key))
      note(key.first, flag.lane, false, at);
}

std::vector<ModuleFlag> ModuleFlagHistory::list() const {
  std::vector<ModuleFlag> out;
  out.reserve(flags_.size());
  for (const auto& [key, flag] : flags_) out.push_back(flag);
  return out;
}

}  // namespace linkhealth
