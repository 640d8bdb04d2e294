// The daemon is a fold: (History, Snapshot) → (Report, events). Pure: no I/O and no clock, so a replay of a recording
// gives the same report as the live run, byte for byte.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/knobs.h"
#include "model/ledger_state.h"
#include "model/reference_state.h"
#include "model/report.h"
#include "model/snapshot.h"

namespace linkhealth {

/// What the engine must know beside the snapshots.
struct EngineSettings {
  std::string node;
  KnobTable knobs;                           ///< engine_knob_groups(), as configured
  std::map<PortKey, ExpectedPort> expected;  ///< what configuration asks of each port; empty: nothing is known
  std::map<PortKey, std::string> exempt;     ///< ports that configuration leaves out, with the reason
};

/// Every knob of the diagnosis and the ledger, for configuration to read and print.
std::span<const KnobGroup> engine_knob_groups();

class Engine {
 public:
  struct Step {
    std::shared_ptr<const Report> report;
    std::vector<FaultEvent> events;
  };

  explicit Engine(EngineSettings settings);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  /// Folds one snapshot in. REQUIRES: snapshots come in the order of taken_at.
  Step step(const Snapshot& snapshot);

  /// What must survive a restart.
  [[nodiscard]] LedgerState ledger_state() const;
  /// Takes over an earlier run's ledger. REQUIRES: before the first step.
  void restore(const LedgerState& state);
  /// What is normal for each port; survives a restart, too.
  [[nodiscard]] ReferenceState references() const;
  /// REQUIRES: before the first step.
  void restore(const ReferenceState& state);
  /// An operator took note of the port's fault; nullopt `until`: until it closes. The event comes with the next step.
  Result<void> acknowledge(const PortKey& port, const std::string& by, const std::string& reason,
                           std::optional<WallTime> until);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace linkhealth
