// What operators may change: acknowledgements and maintenance.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/repair.h"
#include "model/report.h"

namespace linkhealth {

/// Called by the servers' threads. An error: not done, with the reason.
class OperatorActions {
 public:
  virtual ~OperatorActions() = default;
  virtual Result<FaultReport> acknowledge(const PortKey& port, const std::string& by,
                                          const std::string& reason,
                                          std::optional<WallTime> until) = 0;
  virtual Result<FaultReport> withdraw_acknowledgement(const PortKey& port,
                                                       const std::string& by) = 0;
  /// `port` "": all ports of the node.
  virtual Result<Maintenance> begin_maintenance(const PortKey& port,
                                                const Maintenance& maintenance) = 0;
  virtual Result<Maintenance> end_maintenance(const PortKey& port, const std::string& by) = 0;
  /// Why the last action would not survive a restart; "" if it will.
  [[nodiscard]] virtual std::string storage_error() const = 0;
};

}  // namespace linkhealth
