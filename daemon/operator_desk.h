// Takes what people say to the engine while nobody else does anything with it, and keeps it before
// it is answered.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "daemon/api_operator.h"
#include "daemon/engine.h"

namespace linkhealth {

class OperatorDesk : public Operator {
 public:
  struct Hooks {
    /// Keeps the ledger over a restart; called with the lock held.
    std::function<Result<void>(const LedgerState&)> keep;
    std::function<void(const std::string&)> say;  ///< one line for the log
  };
  /// `engine` and `deciding` must outlive it. `deciding` is held by whoever uses the engine.
  OperatorDesk(Engine& engine, std::mutex& deciding, Hooks hooks)
      : engine_(engine), deciding_(deciding), hooks_(std::move(hooks)) {}

  Result<FaultReport> acknowledge(const PortKey& port, const std::string& by,
                                  const std::string& reason,
                                  std::optional<WallTime> until) override;
  Result<FaultReport> withdraw(const PortKey& port, const std::string& by) override;
  Result<Maintenance> begin_maintenance(const PortKey& port,
                                        const Maintenance& maintenance) override;
  Result<Maintenance> end_maintenance(const PortKey& port, const std::string& by) override;
  [[nodiscard]] std::string not_kept() const override { return not_kept_; }

 private:
  void keep(const std::string& line);
  Engine& engine_;
  std::mutex& deciding_;
  Hooks hooks_;
  std::string not_kept_;
};

}  // namespace linkhealth
