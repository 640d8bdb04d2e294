// The daemon is a fold: (History, Snapshot) → (Report, events). Pure: no I/O and no clock, so that
// replaying a recording gives the same report as the live run, byte for byte.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/settings.h"
#include "model/expected_ports.h"
#include "model/history/port_moves.h"
#include "model/history/reference_state.h"
#include "model/ledger_state.h"
#include "model/report.h"
#include "model/snapshot.h"

namespace linkhealth {

/// The engine's input other than snapshots.
struct EngineSettings : ExpectedPorts {
  std::string node;
  SettingTable
      setting_table;     ///< diagnosis_setting_groups(), as configured; defaults for missing ones
  SiteLabels site{};     ///< where the node is
  bool dry_run = false;  ///< copied to the report, for the senders of events
};

class Engine {
 public:
  struct Step {
    std::shared_ptr<const Report> report;
    std::vector<FaultEvent> events;
    PortMoves moves;                   ///< ports whose stable key changed since the last step
    std::vector<std::string> remarks;  ///< about the configuration, for the log: each once
    /// Ports whose errors began in this step: light readings from before do not show the cause, so
    /// their modules should be read now.
    std::vector<PortKey> unread_modules;
  };

  explicit Engine(EngineSettings settings);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  /// Adds one snapshot. REQUIRES: snapshots in the order of taken_at.
  Step step(const Snapshot& snapshot);

  /// What must survive a restart.
  [[nodiscard]] LedgerState ledger_state() const;
  /// Continues with the ledger of an earlier run. REQUIRES: before the first step.
  void restore(const LedgerState& state);
  /// The baselines of each port, which also survive a restart.
  [[nodiscard]] ReferenceState references() const;
  /// REQUIRES: before the first step.
  void restore(const ReferenceState& state);
  /// The settings take effect in the next step. The node's name does not change.
  void reconfigure(const EngineSettings& settings);

  // Actions of operators. Each takes effect, and is reported as an event, in the next step.

  /// Acknowledges the port's fault; `until` nullopt: until it closes. An error if it is already
  /// acknowledged.
  Result<FaultReport> acknowledge(const PortKey& port, const std::string& by,
                                  const std::string& reason, std::optional<WallTime> until);
  /// The fault is reported as reopened.
  Result<FaultReport> withdraw_acknowledgement(const PortKey& port);
  /// Maintenance of a port, or (`port` "") of the node. Replaces an earlier one of the same port or
  /// node.
  Result<Maintenance> begin_maintenance(const PortKey& port, Maintenance maintenance);
  /// An error if none was begun for exactly this port or node.
  Result<Maintenance> end_maintenance(const PortKey& port);
  /// Maintenance from files; `port` is any name of a port, "" for all.
  void set_maintenance_files(std::vector<Maintenance> files);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace linkhealth
