// What a module's latched flags did: reading clears them in the module, so what a read saw is
// remembered here.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"

namespace linkhealth {

/// Every flag becomes unknown: for a read whose flags were latched at an unknown time.
void forget_flags(ModuleSample& sample);
/// Those of tunable lasers, which also an SFP latches; its others are live.
void forget_tuning_flags(ModuleSample& sample);
/// A flag that is set in `earlier`, a read of the same module whose sample nobody saw, is set in
/// `sample` too.
void unite_flags(ModuleSample& sample, const ModuleSample& earlier);

/// Whether the module was in a condition in which its flags mean something.
struct ModuleCalm {
  bool ready = true;  ///< its readings are valid, it is in full power, and CMIS says ModuleReady
  std::vector<bool> transmitter_on;  ///< per media lane
  std::vector<bool> data_path_up;    ///< CMIS, per host lane
  std::string applications;          ///< what runs on it
};
ModuleCalm calm_of(const ModuleSample& sample);
/// True when the module, one of its lasers or of its data paths has come up since: then its flags
/// are of that moment and no fault. A module that goes the other way, into ModuleFault or low
/// power, keeps its flags: they say why.
bool has_just_come_up(const ModuleCalm& before, const ModuleCalm& now);
/// The flags of what has come up since become unknown: of the module all, of a laser or a data path
/// those of its lanes.
void forget_flags_of_what_came_up(ModuleSample& sample, const ModuleCalm& before,
                                  const ModuleCalm& now);
/// True when a data path has come up since, or another application runs: its limits may be others.
bool has_other_limits(const ModuleCalm& before, const ModuleCalm& now);

/// The past of one module's flags. Bounded by the number of flags that a module has.
class ModuleFlagHistory {
 public:
  /// One read, of decode_with_unset_flags(); flags that it does not have (nullopt) stay as they
  /// were, unless their lane has gone out of use.
  void take(const ModuleSample& sample, WallTime at);
  /// The flags that changed at least once, in a fixed order.
  [[nodiscard]] std::vector<ModuleFlag> list() const;

 private:
  void note(const std::string& name, std::optional<std::uint32_t> lane, bool set, WallTime at);
  void take_vdm(const ModuleSample& sample, WallTime at);

  std::map<std::pair<std::string, std::uint32_t>, ModuleFlag>
      flags_;  ///< by name and lane; 0: the whole module
};

}  // namespace linkhealth
