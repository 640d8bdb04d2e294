// The sampler's part that accepts what the module reader and the far ends give.
#include <utility>

#include "daemon/sampling/sampler.h"

namespace linkhealth {

namespace {

/// Which of ethtool and the import reads this module from now on. One failure is a busy bus;
/// several one after the other leave the port blind, and then an imported reading is worth more
/// than none.
void note_module_round(SampledPort& port, const ModuleRound& round) {
  constexpr unsigned kFailuresThatStand = 3;
  if (round.sample) {
    port.has_module_reader = true;
    port.module_imported = false;
    port.module_failures = 0;
  } else if (round.gap && ++port.module_failures >= kFailuresThatStand) {
    port.has_module_reader = false;
  }
}

std::string in_words(const std::string& serial) { return serial.empty() ? "" : "serial " + serial; }

/// A swap is both events, each with its serial. Behind a new interface of the same port (a driver
/// that was loaded anew) the reader knows nothing of the module that was there before: the serial
/// tells.
void note_module_change(Snapshot& snapshot, SteadyTime at, const ModuleRound& round,
                        std::string& serial) {
  const std::string now = round.sample && round.sample->present ? round.sample->serial : "";
  const bool another = !now.empty() && !serial.empty() && now != serial;
  const bool swapped =
      round.change == ModuleChange::kSwapped || (round.change == ModuleChange::kNone && another);
  const auto tell = [&](PortEventKind kind, const std::string& whose) {
    snapshot.events.push_back({at, round.port, kind, in_words(whose)});
  };
  if (swapped || round.change == ModuleChange::kRemoved)
    tell(PortEventKind::kModuleRemoved, serial);
  if (swapped || round.change == ModuleChange::kInserted) tell(PortEventKind::kModuleInserted, now);
  // One without a number that was put in has none: its removal is not that of the one before.
  if (!now.empty() || swapped || round.change == ModuleChange::kInserted) serial = now;
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

void Sampler::leave_modules(std::set<PortKey> ports) {
  if (ports == modules_left_) return;
  modules_left_ = std::move(ports);
  publish_module_ports();
}

void Sampler::accept_far_ends() {
  if (!far_ends_) return;
  FarEnds::News news = far_ends_->take(now_);
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

namespace {

/// Why an imported reading of this end's module is ignored; "": it is not. It is for ports whose
/// module ethtool can't read (InfiniBand).
std::string_view why_refused(const SampledPort& port, SteadyTime module_read_at) {
  if (port.has_module_reader)
    return "its module is read through ethtool: the imported one is ignored";
  if (port.link_changed_at && module_read_at < *port.link_changed_at)
    return "its module was read before the link's last change: the next reading of it counts";
  return "";
}

}  // namespace

void Sampler::accept_imported_module(SampledPort& port, MergedPeer& merged) {
  const PortKey key = port.port.id.key();
  if (merged.module) port.import_refused = why_refused(port, merged.module_read_at);
  if (merged.module_ended) port.import_refused = {};
  if (merged.module_ended && std::exchange(port.module_imported, false)) {
    next_.ports[key].module = ModuleSample{};  // what it said holds no longer
    port.by_module_reader = problem_of(
        SourceId::kModule, std::string(kImportEnded) + ", and ethtool gives none", false);
  }
  if (!merged.module || !port.import_refused.empty()) return;
  port.module_imported = true;
  port.by_module_reader.reset();
  note_imported_change(port, *merged.module);
  next_.ports[key].module = *std::move(merged.module);
}

/// An exchange of the module takes the link down: without the event the loss would look unplanned.
void Sampler::note_imported_change(SampledPort& port, const ModuleSample& now) {
  const PortKey key = port.port.id.key();
  const auto tell = [&](PortEventKind kind, const std::string& serial) {
    next_.events.push_back({now_, key, kind, in_words(serial)});
  };
  const bool was_present = port.imported_present.value_or(now.present);
  const bool another = now.present && !now.serial.empty() && !port.imported_serial.empty() &&
                       now.serial != port.imported_serial;
  if (was_present && (!now.present || another))
    tell(PortEventKind::kModuleRemoved, port.imported_serial);
  if (now.present && (!was_present || another)) tell(PortEventKind::kModuleInserted, now.serial);
  port.imported_present = now.present;
  if (!now.serial.empty()) port.imported_serial = now.serial;
}

}  // namespace linkhealth
