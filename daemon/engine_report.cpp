#include "daemon/engine_report.h"

#include <algorithm>
#include <map>
#include <set>

namespace linkhealth {

bool by_number(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      std::size_t end_a = i, end_b = j;
      while (end_a < a.size() && digit(a[end_a])) ++end_a;
      while (end_b < b.size() && digit(b[end_b])) ++end_b;
      std::string_view na = std::string_view(a).substr(i, end_a - i),
                       nb = std::string_view(b).substr(j, end_b - j);
      na.remove_prefix(std::min(na.find_first_not_of('0'), na.size()));
      nb.remove_prefix(std::min(nb.find_first_not_of('0'), nb.size()));
      if (na.size() != nb.size()) return na.size() < nb.size();
      if (na != nb) return na < nb;
      i = end_a;
      j = end_b;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

/// Something that is seen must speak for a fault: what is merely not known opens nothing.
bool supported(const Cause& cause, const Findings& findings) {
  if (at(findings, SymptomId::kReceiveErrors).present() ||
      at(findings, SymptomId::kLosingData).present())
    return true;
  return std::any_of(cause.expects.begin(), cause.expects.end(),
                     [&](const Expectation& row) { return at(findings, row.symptom).present(); });
}

std::map<std::string, std::size_t> gone_at_once(const std::vector<const PortHistory*>& watched,
                                                double within_s) {
  struct Group {
    std::size_t ports = 0, gone = 0;
    SteadyTime first = SteadyTime::max(), last = SteadyTime::min();
  };
  const auto is_absent = [](const PortHistory* port) {
    return !port->present && port->absent_since;
  };
  if (std::ranges::none_of(watched, is_absent)) return {};
  std::map<std::string, Group> groups;
  for (const PortHistory* port : watched) {
    Group& group = groups[port->latest.id.driver];
    ++group.ports;
    if (!is_absent(port)) continue;
    ++group.gone;
    group.first = std::min(group.first, *port->absent_since);
    group.last = std::max(group.last, *port->absent_since);
  }
  std::map<std::string, std::size_t> gone;
  for (const auto& [driver, group] : groups)
    if (group.ports >= 2 && group.gone == group.ports &&
        in_seconds(group.last - group.first) <= within_s)
      gone[driver] = group.ports;
  return gone;
}

Health health_of(const PortReport& report, const PortView& view, bool judged) {
  if (!report.exempt.empty()) return Health::kExempt;
  if ((view.down || view.port.carrier.is_shut_out(view.now)) && view.port.present)
    return Health::kDown;
  // Of a port that is not there nobody can say that it is well, nor of a link that RDMA can't use.
  const bool whole = view.port.present && view.port.blind_to("rdma_device") == nullptr;
  Health health = judged && whole ? Health::kHealthy : Health::kUnknown;
  for (const FaultReport& fault : report.faults) {
    if (fault.fault == "monitor_blind") {
      const bool blind =
          std::any_of(fault.evidence.begin(), fault.evidence.end(),
                      [](const Evidence& e) { return e.symptom == "counters_blind"; });
      if (blind) return Health::kUnknown;
      continue;
    }
    // A dead card carries nothing, whatever its link says; where one queue was stuck the others
    // went on, and one that failed again and again may work just now.
    const bool works = view.up && (view.port.device.fatal_is_queue || !view.port.device.fatal_at);
    const bool dead_card = fault.fault == "nic_fault" && !works;
    if (dead_card && fault.state == FaultState::kOpen) return Health::kDown;
    if (fault.severity == Severity::kNotice) continue;
    const Health now =
        fault.state == FaultState::kProving     ? Health::kAtRisk
        : fault.severity == Severity::kCritical ? Health::kDegraded
        : view.signal.ber || fault.fault == "reduced_speed" || fault.fault == "pcie_degraded"
            ? Health::kDegraded
            : Health::kAtRisk;
    if (health == Health::kHealthy || health == Health::kUnknown || now == Health::kDegraded)
      health = now;
  }
  return health;
}

PortFigures figures_of(const PortView& view) {
  PortFigures figures;
  figures.pre_fec_ber = view.signal.ber;
  if (view.signal.ber) figures.ber_window_s = view.signal.ber_window_s;
  if (view.signal.ber && view.signal.ber_range) {
    figures.pre_fec_ber_low = view.signal.ber_range->low;
    figures.pre_fec_ber_high = view.signal.ber_range->high;
  }
  figures.pre_fec_ber_normal = view.signal.ber_reference;
  figures.worst_rx_power_dbm = view.light.worst_rx_dbm;
  if (view.light.worst_rx_lane >= 0)
    figures.worst_rx_lane = static_cast<std::uint32_t>(view.light.worst_rx_lane + 1);
  figures.rx_power_margin_db = view.light.margin_db;
  figures.pre_fec_ber_limit = view.signal.ber_limit;
  // A drop against the siblings instead of the own past says nothing about what was before.
  const auto lost = [](const std::optional<Drop>& drop) {
    return drop && drop->sigma_db <= 0.4 ? std::optional(drop->db) : std::nullopt;
  };
  figures.rx_power_lost_db = lost(view.light.rx);
  figures.far_rx_power_lost_db = lost(view.light.far_rx);
  figures.tx_power_lost_db = lost(view.light.tx);
  figures.far_tx_power_lost_db = lost(view.light.far_tx);
  figures.involuntary_downs_24h = view.port.carrier.unplanned_losses(view.now, 86400);
  figures.involuntary_downs_total = view.port.carrier.unplanned_total;
  figures.voluntary_downs_total = view.port.carrier.planned_total;
  figures.involuntary_downs_told = view.port.carrier.unplanned_exported;
  figures.last_involuntary_down_at = view.port.carrier.last_unplanned_loss_at();
  figures.carrier_since = view.port.carrier.since;
  return figures;
}

namespace {

double lost_mbps(const PortReport& port, double should) {
  const auto& link = port.latest.link;
  const bool carries = port.health != Health::kDown && link && link->carrier == true;
  if (!carries) return port.health == Health::kDown ? should : 0;  // unknown is not lost
  return std::max(0.0, should - link->speed_mbps.value_or(static_cast<std::uint32_t>(should)));
}

}  // namespace

void weigh(Report& report, const History& history) {
  double total = 0;
  std::map<std::string, double> rail_total, rail_hit;
  std::vector<std::pair<PortReport*, Impact>> hit;
  for (PortReport& port : report.ports) {
    if (port.health == Health::kExempt) continue;
    const PortHistory* past = history.find(port.port);
    const double best = past == nullptr ? 0 : past->carrier.best_speed_mbps;
    const double should = port.expected.speed_mbps ? *port.expected.speed_mbps : best;
    total += should;
    rail_total[port.expected.rail] += should;
    Impact impact;
    impact.bandwidth_lost_mbps = lost_mbps(port, should);
    const bool warned =
        std::any_of(port.faults.begin(), port.faults.end(), [](const FaultReport& fault) {
          return fault.severity != Severity::kNotice && fault.fault != "monitor_blind" &&
                 fault.fault != "wrong_cabling";
        });
    if (warned) impact.bandwidth_at_risk_mbps = should - impact.bandwidth_lost_mbps;
    const double hit_mbps = impact.bandwidth_lost_mbps + impact.bandwidth_at_risk_mbps;
    if (hit_mbps > 0) hit.emplace_back(&port, impact);
    rail_hit[port.expected.rail] += hit_mbps;
  }
  if (hit.empty()) return;
  Impact node;
  for (auto& [port, impact] : hit) {
    impact.share = (impact.bandwidth_lost_mbps + impact.bandwidth_at_risk_mbps) / total;
    if (const std::string& rail = port->expected.rail; !rail.empty()) {
      impact.rail = rail;
      impact.rail_share = rail_hit[rail] / rail_total[rail];
    }
    port->impact = impact;
    node.bandwidth_lost_mbps += impact.bandwidth_lost_mbps;
    node.bandwidth_at_risk_mbps += impact.bandwidth_at_risk_mbps;
    node.share += impact.share;
  }
  node.share = std::min(node.share, 1.0);
  report.impact = node;
}

std::string peer_of(const PortHistory& port, const ExpectedPort* expected) {
  std::string system, name;
  if (port.latest.peer) {
    system = port.latest.peer->system;
    name = port.latest.peer->port;
  }
  if (system.empty() && name.empty() && expected != nullptr) {
    system = expected->peer_system;
    name = expected->peer_port;
  }
  return name.empty() ? system : system + " " + name;
}

std::shared_ptr<const RuleUse> counted(const RuleUse& use, const FaultReport& fault) {
  RuleUse next = use;
  ++next.faults[fault.fault + "/" + std::string(to_string(fault.end))];
  std::set<std::string> spoke;
  for (const Evidence& evidence : fault.evidence)
    if (evidence.supports) spoke.insert(evidence.symptom);
  for (const std::string& symptom : spoke) ++next.symptoms[symptom];
  return std::make_shared<const RuleUse>(std::move(next));
}

}  // namespace linkhealth
