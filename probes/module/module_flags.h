// The changes of a module's latched flags. A read clears them in the module, so the reader has to
// remember them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"

namespace linkhealth {

/// SFF-8472 reports live states; the other maps latch them.
bool has_latched_flags(const ModuleSample& sample);
/// Makes every flag unknown: for a read whose flags were latched at an unknown time.
void forget_flags(ModuleSample& sample);
/// Sets the flags in `sample` that are set in `earlier`, an unpublished sample of the same module.
void unite_flags(ModuleSample& sample, const ModuleSample& earlier);

/// What is in operation: the module itself, each transmitter, each data path.
std::vector<bool> activity_of(const ModuleSample& sample);
/// Whether something has come into operation: its flags were latched at that moment and are no
/// fault, and its limits may have changed (CMIS 5.4 7.1.3.2, 8.5). A module that goes the other
/// way, into ModuleFault or low power, keeps its flags: they explain it.
bool has_come_up(const std::vector<bool>& before, const std::vector<bool>& now);

/// The history of one module's flags. Bounded by the number of flags that a module has.
class ModuleFlagHistory {
 public:
  /// Adds one read; flags that are absent in it (nullopt) stay as they were.
  void update(const ModuleSample& sample, WallTime at);
  /// The flags that changed at least once, in a fixed order.
  [[nodiscard]] std::vector<ModuleFlag> list() const;

 private:
  /// By name and lane; 0: the whole module.
  std::map<std::pair<std::string, std::uint32_t>, ModuleFlag> flags_;
};

}  // namespace linkhealth
