// Operators' actions on the engine. They take effect at once, under the lock that the deciding
// thread holds during a step, and are stored before they are answered.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "daemon/api/operator_actions.h"
#include "daemon/engine/engine.h"

namespace linkhealth {

class EngineActions : public OperatorActions {
 public:
  struct Hooks {
    /// Stores the ledger, so that it survives a restart; called with the lock held.
    std::function<Result<void>(const LedgerState&)> store;
    std::function<void(const std::string&)> log;
  };
  /// `engine` and `deciding` must outlive the object. `deciding` is held while the engine is used.
  EngineActions(Engine& engine, std::mutex& deciding, Hooks hooks)
      : engine_(engine), deciding_(deciding), hooks_(std::move(hooks)) {}

  Result<FaultReport> acknowledge(const PortKey& port, const std::string& by,
                                  const std::string& reason,
                                  std::optional<WallTime> until) override;
  Result<FaultReport> withdraw_acknowledgement(const PortKey& port, const std::string& by) override;
  Result<Maintenance> begin_maintenance(const PortKey& port,
                                        const Maintenance& maintenance) override;
  Result<Maintenance> end_maintenance(const PortKey& port, const std::string& by) override;
  [[nodiscard]] std::string storage_error() const override {
    const std::lock_guard lock(deciding_);
    return storage_error_;
  }

 private:
  void store(const std::string& log_line);

  Engine& engine_;
  std::mutex& deciding_;
  Hooks hooks_;
  std::string storage_error_;
};

}  // namespace linkhealth
