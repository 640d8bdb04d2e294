// The engine's input other than snapshots: acknowledgements, maintenance, a new configuration.
#include <algorithm>

#include "daemon/engine/engine_state.h"

namespace linkhealth {

std::optional<Acknowledgement> acknowledgement_of(const LedgerFault& fault, WallTime now) {
  if (!is_acknowledged(fault, now)) return std::nullopt;
  return Acknowledgement{fault.acknowledged_by, fault.acknowledged_reason,
                         fault.acknowledged_at.value_or(fault.opened_at), fault.acknowledged_until};
}

Result<std::string> Engine::State::stable_of(const PortKey& key) const {
  const PortHistory* found = history.find(key);
  if (found == nullptr) return Error{"no port \"" + key + "\""};
  return found->latest.id.device.empty() ? key : found->latest.id.stable_key();
}

/// The port that reports its fault: for a shared one, another port.
Result<std::string> Engine::State::teller_of(const PortKey& key) const {
  auto stable = stable_of(key);
  if (!stable || !ledger.open(stable.value()).empty()) return stable;
  for (const auto& [other, port] : history.ports())
    for (const LedgerEntry* entry : ledger.open(other))
      if (std::ranges::count(entry->kept.ports, stable.value()) > 0) return other;
  return stable;
}

/// The event of an operator's action is delivered with the next step.
FaultReport Engine::State::report_later(const LedgerChange& change, const PortKey& port) {
  FaultEvent event = event_of(change.kind, port);
  const auto text = texts.find(change.entry.kept.id);
  if (text != texts.end()) event.fault = text->second;
  event.fault.state = change.entry.kept.state;
  event.fault.acknowledged = acknowledgement_of(change.entry.kept, wall);
  waiting.push_back(event);
  return event.fault;
}

void Engine::reconfigure(const EngineSettings& settings) {
  const std::string node = state_->settings.node;
  state_->settings = settings;
  state_->settings.node = node;
  state_->diagnosis = diagnosis_settings(settings.setting_table);
  state_->expectations_changed = true;
}

/// Moves the state of ports to the new PCI addresses of their cards.
void Engine::State::follow_cards() {
  const PortMoves& moves = history.moves();
  if (moves.empty()) return;
  for (const auto& [from, to] : moves)
    if (to.empty()) release(from, from, "another card now has this PCI address");
  move_keys(ports, moves);
  ledger.follow(moves);
  repairs.follow(moves);
  for (std::vector<Maintenance>* list : {&maintenance, &maintenance_log})
    for (Maintenance& one : *list)
      if (const std::string& to = moved(one.port, moves); !to.empty()) one.port = to;
}

/// Adds the ports that are expected and absent, and removes those that never appeared and are no
/// longer expected.
void Engine::State::update_expectations() {
  std::vector<std::pair<std::string, PortKey>> idle;
  for (const auto& [stable, port] : history.ports())
    if (port.never_seen && !is_expected(settings, port.key)) idle.emplace_back(stable, port.key);
  for (const auto& [stable, key] : idle) {
    release(stable, key, "the configuration no longer expects this port");
    history.expect_no_more(stable);
    ports.erase(stable);
  }
  for (const auto* entries : {&settings.expected, &settings.planned})
    for (const auto& [key, expected] : *entries)
      if (is_expected(settings, key)) history.expect(key);
}

/// Closes faults that an earlier run left open on ports that neither exist nor are expected any
/// longer; they would stay open for ever.
void Engine::State::release_lost() {
  constexpr double kLostS = 600;  // a slow driver brings its ports back after a boot
  if (released_lost || in_seconds(*last_step - *first_step) < kLostS) return;
  released_lost = true;
  for (const LedgerFault& fault : ledger.state().faults)
    if (!history.ports().contains(fault.port))
      release(fault.port, fault.port, "this port disappeared and is not expected");
}

/// Closes the faults of a port that is no longer monitored.
void Engine::State::release(const std::string& stable, const PortKey& port,
                            const std::string& why) {
  for (const LedgerChange& change : ledger.release(stable)) {
    const LedgerFault& kept = change.entry.kept;
    FaultEvent event = event_of(change.kind, port);
    if (const auto text = texts.find(kept.id); text != texts.end()) event.fault = text->second;
    copy_kept(kept, event.fault);
    event.fault.summary = why;
    event.fault.proof.reset();
    texts.erase(kept.id);
    waiting.push_back(std::move(event));
  }
}

Result<FaultReport> Engine::acknowledge(const PortKey& port, const std::string& by,
                                        const std::string& reason, std::optional<WallTime> until) {
  const auto stable = state_->teller_of(port);
  if (!stable) return stable.error();
  auto change = state_->ledger.acknowledge(*stable, by, reason, until, state_->wall);
  if (!change) return change.error();
  return state_->report_later(*change, state_->history.ports().at(*stable).key);
}

Result<FaultReport> Engine::withdraw_acknowledgement(const PortKey& port) {
  const auto stable = state_->teller_of(port);
  if (!stable) return stable.error();
  auto change = state_->ledger.withdraw_acknowledgement(*stable, state_->wall);
  if (!change) return change.error();
  return state_->report_later(*change, state_->history.ports().at(*stable).key);
}

Result<Maintenance> Engine::begin_maintenance(const PortKey& port, Maintenance maintenance) {
  if (!port.empty()) {
    const auto stable = state_->stable_of(port);
    if (!stable) return stable.error();
    maintenance.port = *stable;
  }
  std::erase_if(state_->maintenance,
                [&](const Maintenance& old) { return old.port == maintenance.port; });
  state_->maintenance.push_back(maintenance);
  state_->log_maintenance();
  return maintenance;
}

Result<Maintenance> Engine::end_maintenance(const PortKey& port) {
  std::string stable;
  if (!port.empty()) {
    const auto known = state_->stable_of(port);
    if (!known) return known.error();
    stable = *known;
  }
  auto& all = state_->maintenance;
  const auto at = std::ranges::find(all, stable, &Maintenance::port);
  if (at != all.end()) {
    const Maintenance ended = *at;
    all.erase(at);
    state_->log_maintenance();
    return ended;
  }
  const PortHistory* found = port.empty() ? nullptr : state_->history.find(port);
  const Maintenance* other = found == nullptr ? nullptr : state_->maintenance_of(*found, stable);
  if (other == nullptr)
    return Error{port.empty() ? "the node is not in maintenance" : port + " is not in maintenance"};
  if (!other->file.empty())
    return Error{port + " is in maintenance by " + other->file + ": remove that file"};
  return Error{"the whole node is in maintenance: end it with \"maintenance end all\""};
}

void Engine::set_maintenance_files(std::vector<Maintenance> files) {
  state_->maintenance_files = std::move(files);
}

void Engine::State::end_old_maintenance() {
  for (std::vector<Maintenance>* list : {&maintenance, &maintenance_files})
    std::erase_if(*list,
                  [this](const Maintenance& one) { return one.until && wall >= *one.until; });
}

namespace {

constexpr std::size_t kMostLogged = 500;
constexpr double kLoggedS = 90.0 * 86400;  ///< as long as events are kept by default

bool same_work(const Maintenance& a, const Maintenance& b) {
  return a.port == b.port && a.by == b.by && a.since == b.since && a.file == b.file;
}
bool holds(const std::vector<Maintenance>& all, const Maintenance& one) {
  return std::ranges::any_of(all,
                             [&one](const Maintenance& other) { return same_work(one, other); });
}

}  // namespace

/// Logs maintenance in force; maintenance that is over gets its end there, whether begun by command
/// or by file.
void Engine::State::log_maintenance() {
  for (Maintenance& one : maintenance_log)
    if (!one.ended_at && !holds(maintenance, one) && !holds(maintenance_files, one))
      one.ended_at =
          one.until ? std::min(std::max(wall, one.since), *one.until) : std::max(wall, one.since);
  for (const std::vector<Maintenance>* list : {&maintenance, &maintenance_files})
    for (const Maintenance& one : *list) {
      const auto known = std::ranges::find_if(
          maintenance_log, [&](const Maintenance& old) { return same_work(one, old); });
      if (known == maintenance_log.end()) {
        maintenance_log.push_back(one);
      } else if (known->ended_at || known->until != one.until || known->reason != one.reason) {
        *known = one;  // read again after a restart, or changed
      }
    }
  std::erase_if(maintenance_log, [this](const Maintenance& one) {
    return one.ended_at && in_seconds(wall - *one.ended_at) > kLoggedS;
  });
  if (maintenance_log.size() > kMostLogged) maintenance_log.erase(maintenance_log.begin());
}

namespace {

bool is_of(const Maintenance& one, const PortHistory& port, const std::string& stable) {
  const PortId& id = port.latest.id;
  const std::string& name = one.port;
  return name.empty() || name == stable || name == port.key || name == id.device ||
         name == id.netdev || name == id.pci;
}

}  // namespace

bool Engine::State::leaves_module(const PortHistory& port, const std::string& stable) const {
  const auto leaves = [&](const Maintenance& one) {
    return one.module_reads == false && is_of(one, port, stable);
  };
  return std::ranges::any_of(maintenance, leaves) || std::ranges::any_of(maintenance_files, leaves);
}

const Maintenance* Engine::State::maintenance_of(const PortHistory& port,
                                                 const std::string& stable) const {
  const Maintenance* found = nullptr;
  const auto consider = [&](const Maintenance& one) {
    if (!is_of(one, port, stable)) return;
    const bool longer =
        found != nullptr && found->until && (!one.until || *one.until > *found->until);
    if (found == nullptr || longer) found = &one;
  };
  for (const Maintenance& one : maintenance) consider(one);
  for (const Maintenance& one : maintenance_files) consider(one);
  return found;
}

}  // namespace linkhealth
