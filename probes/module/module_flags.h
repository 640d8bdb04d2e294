// What a module's latched flags did. A read clears them in the module, so the reader remembers what
// it saw.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"

namespace linkhealth {

/// SFF-8472 gives its states live; the other maps latch them.
bool has_latched_flags(const ModuleSample& sample);
/// Every flag becomes unknown: for a read whose flags were latched at an unknown time.
void forget_flags(ModuleSample& sample);
/// A flag that is set in `earlier`, a sample of the same module that was not published, is set in
/// `sample` too.
void unite_flags(ModuleSample& sample, const ModuleSample& earlier);

/// What is in operation: the module itself, each transmitter, each data path.
std::vector<bool> activity_of(const ModuleSample& sample);
/// True when something has come into operation since: its flags are of that moment and no fault,
/// and its limits may be others (CMIS 5.4 7.1.3.2, 8.5). A module that goes the other way, into
/// ModuleFault or low power, keeps its flags: they explain it.
bool has_come_up(const std::vector<bool>& before, const std::vector<bool>& now);

/// The past of one module's flags. Bounded by the number of flags that a module has.
class ModuleFlagHistory {
 public:
  /// One read; flags that it does not have (nullopt) stay as they were.
  void update(const ModuleSample& sample, WallTime at);
  /// The flags that changed at least once, in a fixed order.
  [[nodiscard]] std::vector<ModuleFlag> list() const;

 private:
  /// By name and lane; 0: the whole module.
  std::map<std::pair<std::string, std::uint32_t>, ModuleFlag> flags_;
};

}  // namespace linkhealth
