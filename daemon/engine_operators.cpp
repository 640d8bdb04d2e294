// What people say to the engine: acknowledgements, maintenance, another configuration.
#include <algorithm>

#include "daemon/engine_report.h"
#include "daemon/engine_state.h"

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

void Engine::State::tell_place(FaultEvent& event, const PortKey& port) const {
  if (!settings.site.empty()) event.site = settings.site;
  const PortHistory* known = history.find(port);
  if (known == nullptr) return;
  if (const auto asked = asked_of(settings, known->key, known->latest.id); asked.expected)
    event.rail = asked.expected->rail;
}

/// The event of something that was said comes with the next step.
FaultReport Engine::State::wait_with(const LedgerChange& change, const PortKey& port) {
  FaultEvent event;
  event.t = last_step.value_or(SteadyTime());
  event.at = wall;
  event.kind = change.kind;
  event.port = port;
  const auto text = texts.find(change.entry.kept.id);
  if (text != texts.end()) event.fault = text->second;
  event.fault.state = change.entry.kept.state;
  event.fault.acknowledged = acknowledgement_of(change.entry.kept, wall);
  tell_place(event, port);
  waiting.push_back(event);
  return event.fault;
}

void Engine::reconfigure(const EngineSettings& settings) {
  EngineSettings& now = state_->settings;
  now.knobs.take_values(settings.knobs);
  static_cast<AskedByName&>(now) = settings;
  ++state_->settings_made;
  now.site = settings.site;
  now.dry_run = settings.dry_run;
  state_->expects_anew = true;
}

/// What is kept of a port goes where its card is now.
void Engine::State::follow_cards() {
  const PortMoves& moves = history.moves();
  if (moves.empty()) return;
  for (const auto& [from, to] : moves)
    if (to.empty()) release(from, from, "another card has this PCI address now");
  move_keys(judged, moves);
  ledger.follow(moves);
  repairs.follow(moves);
  for (std::vector<Maintenance>* list : {&maintenance, &maintenance_log})
    for (Maintenance& one : *list)
      if (const std::string& to = moved(one.port, moves); !to.empty()) one.port = to;
}

/// Awaits what is expected and not there, and no longer what never came and nobody expects now.
void Engine::State::expect_anew() {
  std::vector<std::pair<std::string, PortKey>> idle;
  for (const auto& [stable, port] : history.ports())
    if (port.awaited && !awaits(settings, port.key)) idle.emplace_back(stable, port.key);
  for (const auto& [stable, key] : idle) {
    release(stable, key, "configuration no longer expects this port");
    history.await_no_more(stable);
    judged.erase(stable);
  }
  for (const auto* entries : {&settings.expected, &settings.planned})
    for (const auto& [key, expected] : *entries)
      if (awaits(settings, key)) history.await(key);
}

const AskedOfPort& Engine::State::asked_of_port(const PortHistory& port, Judged& own) {
  if (own.asked_by == settings_made && own.asked_id == port.latest.id) return own.asked;
  AskedOfPort asked = asked_of(settings, port.key, port.latest.id);
  if (!asked.contradiction.empty() && asked.contradiction != own.asked.contradiction)
    remarks.push_back(port.key + ": " + asked.contradiction);
  own.asked = std::move(asked);
  own.asked_id = port.latest.id;
  own.asked_by = settings_made;
  return own.asked;
}

void Engine::State::release_left_out(const std::vector<Subject>& all) {
  for (const Subject& subject : all)
    if (const std::string& why = subject.judged->asked.exempt; !why.empty())
      release(subject.stable, subject.port->key, "configuration leaves this port out: " + why);
}

namespace {

/// Long enough for a slow driver to bring its ports back after a boot.
constexpr double kLostS = 600;

}  // namespace

/// What an earlier run left open on a port that is neither there nor expected any more would stay
/// open for ever.
void Engine::State::release_lost(SteadyTime now) {
  if (!first_step) first_step = now;
  if (looked_for_lost || in_seconds(now - *first_step) < kLostS) return;
  looked_for_lost = true;
  for (const LedgerFault& fault : ledger.state().faults)
    if (!history.ports().contains(fault.port))
      release(fault.port, fault.port, "this port is not there any more, and nobody expects it");
}

/// Closes what is open on a port of which nothing is asked any more.
void Engine::State::release(const std::string& stable, const PortKey& port,
                            const std::string& why) {
  for (const LedgerChange& change : ledger.release(stable)) {
    const LedgerFault& kept = change.entry.kept;
    FaultEvent event;
    event.t = last_step.value_or(SteadyTime());
    event.at = wall;
    event.kind = change.kind;
    event.port = port;
    if (const auto text = texts.find(kept.id); text != texts.end()) event.fault = text->second;
    event.fault.id = kept.id;
    event.fault.fault = kept.fault;
    event.fault.end = kept.end;
    event.fault.severity = kept.severity;
    event.fault.confidence = kept.confidence;
    event.fault.state = kept.state;
    event.fault.opened_at = kept.opened_at;
    event.fault.last_seen_at = kept.last_seen_at;
    event.fault.summary = why;
    event.fault.proof.reset();
    tell_place(event, port);
    texts.erase(kept.id);
    waiting.push_back(std::move(event));
  }
}

Result<FaultReport> Engine::acknowledge(const PortKey& port, const std::string& by,
                                        const std::string& reason, std::optional<WallTime> until) {
  const auto stable = state_->stable_of(port);
  if (!stable) return stable.error();
  auto change = state_->ledger.acknowledge(*stable, by, reason, until, state_->wall);
  if (!change) return change.error();
  return state_->wait_with(*change, port);
}

Result<FaultReport> Engine::withdraw_acknowledgement(const PortKey& port) {
  const auto stable = state_->stable_of(port);
  if (!stable) return stable.error();
  auto change = state_->ledger.withdraw_acknowledgement(*stable, state_->wall);
  if (!change) return change.error();
  return state_->wait_with(*change, port);
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
    Maintenance ended = *at;
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

/// What is in force is in the log, and what is no longer has an end: whoever ended it, and wherever
/// it was said.
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
        *known = one;  // read again after a restart, or written anew
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

/// Of several the one that lasts longest.
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
