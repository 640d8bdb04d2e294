// The sampler's part that accepts what the module reader and the far ends give.
#include <utility>

#include "daemon/sampler.h"

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
  for (ModuleRound& round : modules_->take_finished()) {
    const auto at = ports_.find(round.port);
    if (at == ports_.end()) continue;
    SampledPort& port = at->second;
    port.module_seen = true;
    add_duration("module", round.duration_s);
    note_module_change(next_, now_, round, port.module_serial);
    note_module_round(port, round);
    if (round.gap && !port.module_imported) next_.gaps.push_back(*std::move(round.gap));
    if (round.sample) next_.ports[round.port].module = *std::move(round.sample);
  }
  report_left_modules();
}

void Sampler::leave_modules(std::set<PortKey> ports) {
  if (ports == modules_left_) return;
  modules_left_ = std::move(ports);
  std::erase_if(modules_reported_,
                [this](const PortKey& port) { return !modules_left_.contains(port); });
  publish_module_ports();
}

/// Once: it is no failure that is tried again.
void Sampler::report_left_modules() {
  for (const PortKey& port : modules_left_) {
    if (!ports_.contains(port) || !modules_reported_.insert(port).second) continue;
    next_.gaps.push_back({port, "module", std::string(kModuleLeft)});
    has_news_ = true;
  }
}

void Sampler::accept_far_ends() {
  if (!far_ends_) return;
  FarEnds::News news = far_ends_->take(now_);
  if (!news.ports.empty() || news.node_gaps_changed) has_news_ = true;
  for (const ProbeTiming& timing : news.timings) add_duration(timing.probe, timing.duration_s);
  for (auto& [key, merged] : news.ports) {
    const auto at = ports_.find(key);
    if (at == ports_.end()) continue;
    next_.gaps.insert(next_.gaps.end(), merged.gaps.begin(), merged.gaps.end());
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
  const bool was_refused = !port.import_refused.empty();
  if (merged.module) port.import_refused = why_refused(port, merged.module_read_at);
  if (merged.module_ended) port.import_refused = {};
  // Without this the gap would stand until some source names the far end again.
  if (was_refused && port.import_refused.empty()) next_.gaps_ended.push_back({key, "import", ""});
  if (merged.module_ended && std::exchange(port.module_imported, false)) {
    next_.ports[key].module = ModuleSample{};  // what it said holds no longer
    next_.gaps.push_back({key, "module", std::string(kImportEnded) + ", and ethtool gives none"});
  }
  if (!port.import_refused.empty())
    next_.gaps.push_back({key, "import", std::string(port.import_refused)});
  if (!merged.module || !port.import_refused.empty()) return;
  port.module_imported = true;
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
