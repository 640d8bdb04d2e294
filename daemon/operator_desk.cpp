#include "daemon/operator_desk.h"

#include <fmt/format.h>

namespace linkhealth {

namespace {

std::string because(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }
std::string until_text(const std::optional<WallTime>& until) {
  return until ? " until " + format_rfc3339(*until) : std::string();
}
std::string whom(const PortKey& port) { return port.empty() ? "all ports" : port; }

}  // namespace

void OperatorDesk::keep(const std::string& line) {
  const auto kept = hooks_.keep(engine_.ledger_state());
  not_kept_ = kept ? "" : kept.error().message;
  hooks_.say(line);
}

Result<FaultReport> OperatorDesk::acknowledge(const PortKey& port, const std::string& by,
                                              const std::string& reason,
                                              std::optional<WallTime> until) {
  const std::lock_guard lock(deciding_);
  auto fault = engine_.acknowledge(port, by, reason, until);
  if (fault)
    keep(fmt::format("{}: {} acknowledged by {}{}{}", port, fault->fault, by, until_text(until),
                     because(reason)));
  return fault;
}

Result<FaultReport> OperatorDesk::withdraw(const PortKey& port, const std::string& by) {
  const std::lock_guard lock(deciding_);
  auto fault = engine_.withdraw_acknowledgement(port);
  if (fault)
    keep(fmt::format("{}: the acknowledgement of {} was taken back by {}", port, fault->fault, by));
  return fault;
}

Result<Maintenance> OperatorDesk::begin_maintenance(const PortKey& port,
                                                    const Maintenance& maintenance) {
  const std::lock_guard lock(deciding_);
  auto work = engine_.begin_maintenance(port, maintenance);
  if (work)
    keep(fmt::format("{}: maintenance begun by {}{}{}", whom(port), work->by,
                     until_text(work->until), because(work->reason)));
  return work;
}

Result<Maintenance> OperatorDesk::end_maintenance(const PortKey& port, const std::string& by) {
  const std::lock_guard lock(deciding_);
  auto work = engine_.end_maintenance(port);
  if (work) keep(fmt::format("{}: maintenance ended by {}", whom(port), by));
  return work;
}

}  // namespace linkhealth
