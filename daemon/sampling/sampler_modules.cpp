// The part of the sampler that accepts the readings of modules and far ends.
#include <utility>

#include "daemon/sampling/sampler.h"

namespace linkhealth {

namespace {

/// Decides whether this module's readings come from ethtool or from the import. One failure may be
/// a busy bus; after several, an imported reading is better than none.
void note_module_round(SampledPort& port, const ModuleRound& round) {
  constexpr unsigned kMaxFailures = 3;
  if (round.sample) {
    port.has_module_reader = true;
    port.module_imported = false;
    port.module_failures = 0;
  } else if (round.gap && ++port.module_failures >= kMaxFailures) {
    port.has_module_reader = false;
  }
}

/// Why an imported reading of this end's module is ignored; "": it is used, because ethtool can't
/// read the module (InfiniBand).
std::string_view why_refused(const SampledPort& port, SteadyTime module_read_at) {
  if (port.has_module_reader)
    return "its module is read through ethtool: the imported one is ignored";
  if (port.link_changed_at && module_read_at < *port.link_changed_at)
    return "its module was read before the last link change: waiting for the next reading";
  return "";
}

void add_module_event(Snapshot& snapshot, SteadyTime at, const PortKey& port, PortEventKind kind,
                      const std::string& serial) {
  snapshot.events.push_back({at, port, kind, serial.empty() ? "" : "serial " + serial});
}

/// A swap is both events, each with its serial number. After a driver reload the reader does not
/// know the previous module: the serial number reveals the swap.
void note_module_change(Snapshot& snapshot, SteadyTime at, const ModuleRound& round,
                        std::string& serial) {
  const std::string now = round.sample && round.sample->present ? round.sample->serial : "";
  const bool another = !now.empty() && !serial.empty() && now != serial;
  const bool exchanged =
      round.change == ModuleChange::kSwapped || (round.change == ModuleChange::kNone && another);
  const bool inserted = exchanged || round.change == ModuleChange::kInserted;
  if (exchanged || round.change == ModuleChange::kRemoved)
    add_module_event(snapshot, at, round.port, PortEventKind::kModuleRemoved, serial);
  if (inserted) add_module_event(snapshot, at, round.port, PortEventKind::kModuleInserted, now);
  // An inserted module without a serial number has none: its removal must not name the previous
  // one.
  if (!now.empty() || inserted) serial = now;
}

}  // namespace

void Sampler::accept_modules() {
  if (!modules_) return;
  for (ModuleRound& round : modules_->collect_rounds()) {
    const auto at = ports_.find(round.port);
    if (at == ports_.end()) continue;
    SampledPort& port = at->second;
    port.module_seen = true;
    add_duration("module", round.duration_s);
    note_module_change(next_, now_, round, port.module_serial);
    note_module_round(port, round);
    port.by_module_reader.reset();
    if (round.gap && !port.module_imported)
      port.by_module_reader =
          problem_of(SourceId::kModule, round.gap->reason, round.sample.has_value());
    if (round.sample) next_.ports[round.port].module = *std::move(round.sample);
  }
}

void Sampler::read_modules_now(const std::vector<PortKey>& ports) {
  if (!modules_) return;
  for (const PortKey& port : ports)
    if (!modules_left_.contains(port)) modules_->request(port);
}

void Sampler::leave_modules(std::set<PortKey> ports) {
  if (ports == modules_left_) return;
  modules_left_ = std::move(ports);
  publish_module_ports();
}

void Sampler::accept_far_ends() {
  if (!far_ends_) return;
  FarEnds::News news = far_ends_->poll();
  if (!news.ports.empty()) has_news_ = true;
  for (const ProbeTiming& timing : news.timings) add_duration(timing.probe, timing.duration_s);
  for (auto& [key, merged] : news.ports) {
    const auto at = ports_.find(key);
    if (at == ports_.end()) continue;
    at->second.by_far_ends.clear();
    for (const Gap& gap : merged.gaps)
      if (const auto source = find_source(gap.probe))
        add_report(at->second.by_far_ends, *source, problem_of(*source, gap.reason, false));
    if (merged.peer) next_.ports[key].peer = *std::move(merged.peer);
    accept_imported_module(at->second, merged);
  }
}

void Sampler::accept_imported_module(SampledPort& port, MergedPeer& merged) {
  const PortKey key = port.port.id.key();
  if (merged.module) port.import_refused = why_refused(port, merged.module_read_at);
  if (merged.module_ended) port.import_refused = {};
  if (merged.module_ended && std::exchange(port.module_imported, false)) {
    next_.ports[key].module = ModuleSample{};  // revokes the imported one
    port.by_module_reader = problem_of(
        SourceId::kModule, std::string(kImportEnded) + ", and ethtool reports none", false);
  }
  if (!merged.module || !port.import_refused.empty()) return;
  port.module_imported = true;
  port.by_module_reader.reset();
  note_imported_change(port, *merged.module);
  next_.ports[key].module = *std::move(merged.module);
}

/// Swapping the module takes the link down: without the event the loss would appear unplanned.
void Sampler::note_imported_change(SampledPort& port, const ModuleSample& now) {
  const PortKey key = port.port.id.key();
  const bool was_present = port.imported_present.value_or(now.present);
  const bool another = now.present && !now.serial.empty() && !port.imported_serial.empty() &&
                       now.serial != port.imported_serial;
  if (was_present && (!now.present || another))
    add_module_event(next_, now_, key, PortEventKind::kModuleRemoved, port.imported_serial);
  if (now.present && (!was_present || another))
    add_module_event(next_, now_, key, PortEventKind::kModuleInserted, now.serial);
  port.imported_present = now.present;
  if (!now.serial.empty()) port.imported_serial = now.serial;
}

}  // namespace linkhealth
