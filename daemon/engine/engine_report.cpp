// Stage 3: the report of a port, its faults, and their impact.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "daemon/engine/engine_state.h"
#include "diagnosis/coverage.h"
#include "diagnosis/exempt.h"
#include "diagnosis/explain.h"
#include "diagnosis/trends.h"
#include "model/history/saturated_counters.h"

namespace linkhealth {

bool by_number(const std::string& a, const std::string& b) {
  return strverscmp(a.c_str(), b.c_str()) < 0;  // glibc: digits compare as numbers
}

namespace {

// ------------------------------------------------------------------------------- the port's health

FaultLife life_of(const FaultReport& fault) {
  const Fault* row = find_fault(fault.fault, fault.end);
  return row == nullptr ? FaultLife{} : row->life;
}

bool counters_hidden(const FaultReport& fault) {
  const std::string_view blind = symptom(SymptomId::kCountersBlind).name;
  return std::ranges::any_of(fault.evidence,
                             [blind](const Evidence& one) { return one.symptom == blind; });
}

Health health_with(const FaultReport& fault, const Features& f) {
  if (fault.state == FaultState::kProving) return Health::kAtRisk;
  const bool degraded = fault.severity == Severity::kCritical || f.signal.ber ||
                        life_of(fault).effect == Effect::kDegrades;
  return degraded ? Health::kDegraded : Health::kAtRisk;
}

/// The driver offers it, but it cannot be read. What a driver does not offer is not hidden.
bool is_hidden(const PortHistory& port, SourceId source) {
  const SourceStatus* blind = port.blind_to(source);
  return blind != nullptr && blind->state == SourceState::kFailing;
}

/// Sources that a healthy link is judged by and that have not answered for an hour; usually "".
/// Excludes what a driver does not offer, and what the monitor is not permitted to read.
std::string long_unread(const PortStep& step) {
  constexpr double kLongS = 3600;
  constexpr std::array kNeeded = {SourceId::kCounters,     SourceId::kHwCounters,
                                  SourceId::kNetdevStats,  SourceId::kFec,
                                  SourceId::kEthtoolStats, SourceId::kDriverStats};
  constexpr std::array<std::string_view, 6> kNoAnswer = {"EIO",       "ETIMEDOUT", "EBUSY",
                                                         "EREMOTEIO", "EAGAIN",    "EINTR"};
  const PortHistory& port = step.port;
  const Counters none;
  const Counters& read = port.latest.counters ? *port.latest.counters : none;
  if (step.features.up && port.lacks_counters() && read.known().empty() && read.other().empty())
    return "no counter of this port is readable";
  std::string text;
  for (const SourceId source : kNeeded) {
    const SourceStatus* blind = port.blind_to(source);
    if (blind == nullptr || blind->state == SourceState::kNotOffered) continue;
    const double failing_s = in_seconds(step.features.now - blind->since);
    const bool once_read = in_seconds(blind->since - port.first_seen) > 60;
    const bool fails = blind->state == SourceState::kHung || once_read ||
                       std::ranges::any_of(kNoAnswer, [&](std::string_view error) {
                         return blind->reason.find(error) != std::string::npos;
                       });
    if (failing_s < kLongS || !fails) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "partial: unreadable for 1 h or more: " : ", ",
                        source_info(source).what, blind->reason);
  }
  return text;
}

/// REQUIRES: the report's faults and exemption are filled in.
Health health_of(const PortReport& report, const PortStep& step) {
  const Features& f = step.features;
  if (!report.exempt.empty()) return Health::kExempt;
  if ((f.down || f.port.carrier.is_shut_out(f.now)) && f.port.present) return Health::kDown;
  // A port that is absent is not known to be healthy, nor is a link that RDMA cannot use.
  const bool whole = f.port.present && f.port.blind_to(SourceId::kRdmaDevice) == nullptr &&
                     !is_hidden(f.port, SourceId::kCounters) && long_unread(step).empty();
  // A dead card carries nothing, even if its link is up. After a stuck queue the other queues still
  // work, and a card that fails repeatedly may be working at the moment.
  const bool works = f.up && (f.port.device.fatal_is_queue || !f.port.device.fatal_at);
  Health health = step.verdict.judged && whole ? Health::kHealthy : Health::kUnknown;
  for (const FaultReport& fault : report.faults) {
    const Effect effect = life_of(fault).effect;
    if (effect == Effect::kBlinds && counters_hidden(fault)) return Health::kUnknown;
    if (effect == Effect::kStops && !works && fault.state == FaultState::kOpen)
      return Health::kDown;
    if (effect == Effect::kBlinds || fault.severity == Severity::kNotice) continue;
    const Health now = health_with(fault, f);
    if (health == Health::kHealthy || health == Health::kUnknown || now == Health::kDegraded)
      health = now;
  }
  return health;
}

PortFigures figures_of(const Features& f) {
  constexpr double kDayS = 86400;
  PortFigures figures;
  figures.pre_fec_ber = f.signal.ber;
  if (f.signal.ber) figures.ber_window_s = f.signal.ber_window_s;
  if (f.signal.ber && f.signal.ber_range) {
    figures.pre_fec_ber_low = f.signal.ber_range->low;
    figures.pre_fec_ber_high = f.signal.ber_range->high;
  }
  figures.pre_fec_ber_normal = f.signal.ber_baseline;
  figures.worst_rx_power_dbm = f.light.worst_rx_dbm;
  if (f.light.worst_rx_lane >= 0)
    figures.worst_rx_lane = static_cast<std::uint32_t>(f.light.worst_rx_lane + 1);
  figures.rx_power_margin_db = f.light.margin_db;
  figures.pre_fec_ber_limit = f.signal.ber_limit;
  // A loss relative to the siblings is not a loss relative to the link's own baseline.
  const auto lost = [](const std::optional<LightLossEstimate>& loss) {
    return loss && loss->against_past() ? std::optional(loss->loss_db) : std::nullopt;
  };
  figures.rx_power_lost_db = lost(f.light.rx);
  if (figures.rx_power_lost_db && f.light.rx->lane >= 0)
    figures.rx_power_lost_lane = static_cast<std::uint32_t>(f.light.rx->lane + 1);
  figures.far_rx_power_lost_db = lost(f.light.far_rx);
  figures.tx_power_lost_db = lost(f.light.tx);
  figures.far_tx_power_lost_db = lost(f.light.far_tx);
  figures.involuntary_downs_24h = f.port.carrier.unplanned_losses(f.now, kDayS);
  figures.involuntary_downs_total = f.port.carrier.unplanned_total;
  figures.voluntary_downs_total = f.port.carrier.planned_total;
  figures.involuntary_downs_told = f.port.carrier.unplanned_exported;
  figures.last_involuntary_down_at = f.port.carrier.last_unplanned_loss_at();
  figures.carrier_since = f.port.carrier.since;
  return figures;
}

/// Information about the port that is not a fault.
std::string note_of(const PortStep& step, bool plan_known) {
  const GroupStats& group = step.features.group;
  std::string note;
  if (step.exempt.empty()) {
    if (group.siblings_hotter >= 2 && step.temperature_drop_c.value_or(0) <= -kSharedRiseC)
      note = fmt::format(
          "{:.0f} modules of this node are hotter than usual: check the room, the inlet "
          "temperature and the fans",
          group.siblings_hotter + 1);
    else if (step.port.carrier.is_shut_out(step.features.now))
      note = step.port.latest.link->state +
             ": the link is trained but no subnet manager makes it ACTIVE: ask the fabric's "
             "operator whether the port is excluded";
    else if (step.alone_without_link && !step.port.carrier.was_up)
      note = "never linked, unlike all other ports on cards of this type";
    else if (std::string blind = long_unread(step); step.port.present && !blind.empty())
      note = std::move(blind);
    else
      note = unexpected_note(step.port, step.features.expected, plan_known);
    if (note.empty() && step.features.of_provider)
      note = step.features.down ? "the cable belongs to the provider: open a case there"
                                : "only its link is judged; the rest belongs to the provider";
  }
  const auto add = [&note](const std::string& text) {
    if (!text.empty()) note += (note.empty() ? "" : "; ") + text;
  };
  if (!step.twins.empty()) add("one cable, which shares its link with " + step.twins);
  add(step.state.config.contradiction);
  return note;
}

/// Updates the ages of the far end's readings.
void age_peer(PeerSample& peer, const PortHistory& port, SteadyTime now) {
  if (peer.age_s && port.peer_at) {
    const double since_s = in_seconds(now - *port.peer_at) - *peer.age_s;
    for (auto* age_s : {&peer.age_s, &peer.link_age_s, &peer.counters_age_s})
      if (*age_s) **age_s += since_s;
  }
  if (peer.module && port.far.read_at) peer.module_age_s = in_seconds(now - *port.far.read_at);
}

/// Adds the reason why a port is absent to the summary of a NIC fault.
void add_reason_of_absence(std::string& summary, const PortHistory& port,
                           const std::string& idle_cards) {
  if (port.never_seen) {
    summary = "the configuration expects this port but it was never found: " +
              (idle_cards.empty() ? "no such device, or no driver for it" : idle_cards);
    return;
  }
  // Once: while the fault is being verified, the last text is kept.
  const std::string bus = "; the card was " + port.device.gone_reason;
  if (!port.present && !port.device.gone_reason.empty() && summary.find(bus) == std::string::npos)
    summary += bus + " when the port disappeared";
}

}  // namespace

// ------------------------------------------------------------------------------------- the faults

void copy_kept(const LedgerFault& kept, FaultReport& report) {
  report.id = kept.id;
  report.fault = kept.fault;
  report.end = kept.end;
  report.severity = kept.severity;
  report.confidence = kept.confidence;
  report.state = kept.state;
  report.opened_at = kept.opened_at;
  report.last_seen_at = kept.last_seen_at;
}

/// What a restart does not lose of a fault that does not show now.
void fill_from_kept(const LedgerFault& kept, FaultReport& report) {
  if (report.summary.empty()) report.summary = kept.summary;
  if (report.repair.empty()) report.repair = kept.repair;
  if (report.verify.empty()) report.verify = kept.verify;
}

std::vector<PortKey> Engine::State::keys_of(const std::vector<std::string>& stable_keys) const {
  std::vector<PortKey> keys;
  for (const std::string& stable : stable_keys) {
    const auto port = history.ports().find(stable);
    keys.push_back(port == history.ports().end() ? stable : port->second.key);
  }
  return keys;
}

void finish_report(PortReport& report, const PortStep& step) {
  std::ranges::stable_sort(report.faults, [](const FaultReport& a, const FaultReport& b) {
    const bool proving_a = a.state == FaultState::kProving,
               proving_b = b.state == FaultState::kProving;
    if (proving_a != proving_b) return proving_b;
    if (a.confidence != b.confidence) return a.confidence > b.confidence;
    return a.severity > b.severity;
  });
  report.health = health_of(report, step);
}

/// Writes what the port shows now of the fault. nullptr: nothing, or it is being verified.
const RankedFault* Engine::State::explain_now(FaultReport& report, const LedgerEntry& entry,
                                              const PortStep& step) const {
  if (entry.kept.state == FaultState::kProving) return nullptr;
  for (const auto* differential : {&step.first, &step.second}) {
    // The figures of a healthy link do not describe a fault.
    if (!*differential ||
        (differential == &step.first ? step.wrong : 1 - step.second->healthy) < diagnosis.open_at)
      continue;
    const auto row = std::ranges::find((*differential)->ranked, entry.fault, &RankedFault::fault);
    if (row == (*differential)->ranked.end()) continue;
    explain(report, step.features, step.findings, **differential, *row,
            repairs.failed(entry.kept.port, entry.kept.id));
    if (differential == &step.first)
      report.shares =
          explain_shares(observations_of(step.features, step.findings, true), **differential, *row);
    return &*row;
  }
  return nullptr;
}

/// Whether what the port shows now describes the fault also later, when its repair is verified: not
/// while a hand is at the link, which looks like another fault, nor just after that, before the
/// module has been read again.
bool Engine::State::describes(const RankedFault& shown, const LedgerEntry& entry,
                              const PortStep& step) const {
  constexpr double kMuchWeaker = 0.7;  // judgement
  if (entry.kept.summary.empty()) return true;
  const auto last = texts.find(entry.kept.id);
  if (last != texts.end() && shown.confidence < kMuchWeaker * last->second.confidence) return false;
  const auto names = [&entry](const std::optional<PortVerdict::Named>& named) {
    return named && named->fault == entry.fault;
  };
  return names(step.verdict.primary) || names(step.verdict.secondary);
}

FaultReport Engine::State::fault_report(const LedgerEntry& entry, const PortStep& step) {
  FaultReport report;
  const RankedFault* shown = explain_now(report, entry, step);
  const bool rewrites = shown != nullptr && describes(*shown, entry, step);
  FaultReport& text = texts[entry.kept.id];
  const double confidence = text.confidence;  // of the text; 0: there is none yet
  if (rewrites) {
    ledger.describe(entry.kept.id, report.summary, report.repair, report.verify);
  } else if (shown == nullptr) {
    report = text;
    fill_from_kept(entry.kept, report);
  }
  if (step.shared != nullptr && step.shared->fault == entry.fault->id)
    tell_shared(report, *step.shared, step);
  if (entry.fault->life.effect == Effect::kStops)
    add_reason_of_absence(report.summary, step.port, idle_cards);
  copy_kept(entry.kept, report);
  report.ports = keys_of(entry.kept.ports);
  report.repairs = repairs.of(entry.kept.port, entry.kept.id);
  report.past = ledger.past(entry.kept.port);
  report.proof = ledger.proof(entry);
  if (report.proof) report.undecided.reset();  // nothing is left that a test could distinguish
  report.acknowledged = acknowledgement_of(entry.kept, wall);
  if (shown == nullptr || rewrites) {
    text = report;
  } else {
    copy_kept(entry.kept, text);
    fill_from_kept(entry.kept, text);
  }
  if (!rewrites && confidence > 0) text.confidence = confidence;
  return report;
}

FaultEvent Engine::State::event_of(FaultEventKind kind, const PortKey& port) const {
  FaultEvent event;
  event.t = last_step.value_or(SteadyTime());
  event.at = wall;
  event.kind = kind;
  event.port = port;
  if (!settings.site.empty()) event.site = settings.site;
  if (const PortHistory* known = history.find(port))
    if (const auto config = expected_for(settings, known->key, known->latest.id); config.expected)
      event.rail = config.expected->rail;
  return event;
}

void Engine::State::report_on(PortReport& report, const PortStep& step) {
  const PortHistory& port = step.port;
  const SteadyTime now = step.features.now;
  report.port = port.key;
  report.exempt = step.exempt;
  report.note = note_of(step, !settings.empty());
  report.peer = peer_of(port, step.features.expected);
  // The last readings of an absent port are stale: no series, no "link up".
  if (port.present)
    report.latest = port.latest;
  else
    report.latest.id = port.latest.id;
  if (report.latest.peer) age_peer(*report.latest.peer, port, now);
  report.figures = figures_of(step.features);
  if (step.exempt.empty() && port.present) report.trends = trends_of(step.features);
  if (port.latest.sources) report.gaps = gaps_of(port.key, *port.latest.sources);
  if (!port.counters.saturated.empty())  // in addition to unreadable files
    report.gaps.push_back(
        {port.key, "counters", format_saturated(port.latest.id, port.counters.saturated)});
  if (step.features.expected != nullptr) report.expected = *step.features.expected;
  if (step.exempt.empty()) {
    for (const LedgerEntry* entry : ledger.open(step.stable))
      report.faults.push_back(fault_report(*entry, step));
    report.symptoms = symptom_verdicts(step.findings);
    if (port.present)
      report.partial = missing_coverage(step.features, step.findings,
                                        is_ok(history.sources(), SourceId::kLinkEvents));
    if (step.features.down && port.present && report.faults.empty())
      report.checks = undiagnosed_checks(step.features);
  }
  if (step.work == nullptr) return;
  report.maintenance = *step.work;
  if (leaves_module(port, step.stable)) report.maintenance->module_reads = false;
}

// ------------------------------------------------------------------------------------- the impact

namespace {

double lost_mbps(const PortReport& port, double should_mbps) {
  if (port.health == Health::kDown) return should_mbps;
  const auto& link = port.latest.link;
  if (!link || link->carrier != true) return 0;  // unknown is not lost
  return std::max(0.0,
                  should_mbps - link->speed_mbps.value_or(static_cast<std::uint32_t>(should_mbps)));
}

bool at_risk(const PortReport& port) {
  return std::ranges::any_of(port.faults, [](const FaultReport& fault) {
    return fault.severity != Severity::kNotice && !life_of(fault).spares_traffic;
  });
}

}  // namespace

void weigh_impact(Report& report, const History& history, const std::set<PortKey>& twins) {
  double total = 0;
  std::map<std::string, double> rail_total, rail_hit;
  std::vector<std::pair<PortReport*, Impact>> hit;
  for (PortReport& port : report.ports) {
    if (port.health == Health::kExempt || twins.contains(port.port)) continue;
    const PortHistory* past = history.find(port.port);
    double best = past == nullptr ? 0 : past->carrier.best_speed_mbps;
    // Another module or card that has had no link yet: use the speed of its predecessor.
    if (best == 0 && past != nullptr) best = history.place_speed_mbps(past->latest.id.stable_key());
    if (best > 0) port.figures.best_speed_mbps = best;
    const double should = port.expected.speed_mbps ? *port.expected.speed_mbps : best;
    total += should;
    rail_total[port.expected.rail] += should;
    Impact impact;
    impact.bandwidth_lost_mbps = lost_mbps(port, should);
    if (at_risk(port)) impact.bandwidth_at_risk_mbps = should - impact.bandwidth_lost_mbps;
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

}  // namespace linkhealth
