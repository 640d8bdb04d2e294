// Operators' actions that are only recorded.
#pragma once

#include <string>

#include "daemon/api/operator_actions.h"
#include "tests/support/report_builder.h"

namespace linkhealth::test {

class FakeActions : public OperatorActions {
 public:
  Result<FaultReport> acknowledge(const PortKey& port, const std::string& by,
                                  const std::string& reason,
                                  std::optional<WallTime> until) override {
    noted = "ack " + port + "|" + by + "|" + reason + "|" + (until ? format_rfc3339(*until) : "-");
    if (!refusal.empty()) return Error{refusal};
    return dirty_port().faults.front();
  }
  Result<FaultReport> withdraw_acknowledgement(const PortKey& port,
                                               const std::string& by) override {
    noted = "withdraw " + port + "|" + by;
    return dirty_port().faults.front();
  }
  Result<Maintenance> begin_maintenance(const PortKey& port,
                                        const Maintenance& maintenance) override {
    noted = "begin " + port + "|" + maintenance.by + "|" + maintenance.reason + "|" +
            format_rfc3339(*maintenance.until) +
            (maintenance.module_reads == false ? "|no module reads" : "");
    return maintenance;
  }
  Result<Maintenance> end_maintenance(const PortKey& port, const std::string& by) override {
    noted = "end " + port + "|" + by;
    if (!refusal.empty()) return Error{refusal};
    Maintenance ended;
    ended.since = example_now() - std::chrono::minutes(5);
    return ended;
  }
  [[nodiscard]] std::string storage_error() const override { return not_stored; }

  std::string noted, refusal, not_stored;
};

}  // namespace linkhealth::test
