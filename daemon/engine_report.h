// Parts of a report that follow from a port's view alone: the order of ports, health, figures, the
// peer's name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "diagnosis/faults.h"
#include "diagnosis/port_view.h"
#include "model/history.h"
#include "model/report.h"

#include "model/ledger_state.h"

namespace linkhealth {

/// Nothing when nobody took note, or that is over.
std::optional<Acknowledgement> acknowledgement_of(const LedgerFault& fault, WallTime now);

/// Ports as people count: mlx5_2 before mlx5_10.
bool by_number(const std::string& a, const std::string& b);
/// Something that is seen must speak for a fault: what is merely not known opens nothing.
bool supported(const Cause& cause, const Findings& findings);
/// How many of the watched ports went at one time, by driver: of those that had several ports and
/// have none left.
std::map<std::string, std::size_t> gone_at_once(const std::vector<const PortHistory*>& watched,
                                                double within_s);
/// REQUIRES: the report's faults and exemption are filled in. `judged`: enough could be read.
Health health_of(const PortReport& report, const PortView& view, bool judged);
PortFigures figures_of(const PortView& view);
/// "leaf-12 Ethernet17/1": what the peer says of itself, else the plan; "" when neither does.
std::string peer_of(const PortHistory& port, const ExpectedPort* expected);

/// `use` with one more opening of `fault`, and of each symptom that spoke for it.
std::shared_ptr<const RuleUse> counted(const RuleUse& use, const FaultReport& fault);

/// Fills in what the faults of each port, and of the node, cost.
void weigh(Report& report, const History& history);

}  // namespace linkhealth
