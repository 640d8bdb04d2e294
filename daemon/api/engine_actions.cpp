#include "daemon/api/engine_actions.h"

#include <fmt/format.h>

namespace linkhealth {

namespace {

std::string reason_text(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }
std::string until_text(const std::optional<WallTime>& until) {
  return until ? " until " + format_rfc3339(*until) : std::string();
}
std::string port_text(const PortKey& port) { return port.empty() ? "all ports" : port; }

}  // namespace

void EngineActions::store(const std::string& log_line) {
  const auto stored = hooks_.store(engine_.ledger_state());
  storage_error_ = stored ? "" : stored.error().message;
  hooks_.log(log_line);
}

Result<FaultReport> EngineActions::acknowledge(const PortKey& port, const std::string& by,
                                               const std::string& reason,
                                               std::optional<WallTime> until) {
  const std::lock_guard lock(deciding_);
  auto fault = engine_.acknowledge(port, by, reason, until);
  if (fault)
    store(fmt::format("{}: {} acknowledged by {}{}{}", port, fault->fault, by, until_text(until),
                      reason_text(reason)));
  return fault;
}

Result<FaultReport> EngineActions::withdraw_acknowledgement(const PortKey& port,
                                                            const std::string& by) {
  const std::lock_guard lock(deciding_);
  auto fault = engine_.withdraw_acknowledgement(port);
  if (fault)
    store(fmt::format("{}: acknowledgement of {} withdrawn by {}", port, fault->fault, by));
  return fault;
}

Result<Maintenance> EngineActions::begin_maintenance(const PortKey& port,
                                                     const Maintenance& maintenance) {
  const std::lock_guard lock(deciding_);
  auto work = engine_.begin_maintenance(port, maintenance);
  if (work)
    store(fmt::format("{}: maintenance begun by {}{}{}", port_text(port), work->by,
                      until_text(work->until), reason_text(work->reason)));
  return work;
}

Result<Maintenance> EngineActions::end_maintenance(const PortKey& port, const std::string& by) {
  const std::lock_guard lock(deciding_);
  auto work = engine_.end_maintenance(port);
  if (work) store(fmt::format("{}: maintenance ended by {}", port_text(port), by));
  return work;
}

}  // namespace linkhealth
