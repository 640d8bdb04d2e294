// The sampler's part that sends reads out and takes what comes back.
#include <algorithm>
#include <utility>

#include "daemon/sampler.h"
#include "daemon/sampler_cycle.h"
#include "model/kernel_log.h"
#include "probes/ethtool_link.h"

namespace linkhealth {

std::string_view probe_of(ReadGroup group) {
  switch (group) {
    case ReadGroup::kCounters:
      return "counters";
    case ReadGroup::kKernel:
      return "ethtool";
    case ReadGroup::kPcie:
      return "pcie";
    case ReadGroup::kDriver:
      return "driver_stats";
    case ReadGroup::kHealth:
      return "devlink";
    case ReadGroup::kStatistics:
      return "netdev_stats";
    case ReadGroup::kInventory:
      return "inventory";
  }
  return "";
}

namespace {

/// Of a port that nobody judges: what it counts and its verbs state, each counters period. Its
/// module and its PCIe function's link are those of another port, or nobody's.
bool is_read(const SampledPort& port, ReadGroup group) {
  if (port.watched()) return true;
  return port.is_counted() && (group == ReadGroup::kCounters || group == ReadGroup::kKernel);
}

}  // namespace

void Sampler::add_job(std::vector<ReadWorker::Job>& jobs, const PortKey& key, SampledPort& port,
                      ReadGroup group) {
  if (!is_read(port, group) || worker_.is_out(key, group)) return;
  jobs.push_back({key, group, {}, port.reader});
}

/// Something happened to it: no reason to read what nobody judges.
void Sampler::submit(SampledPort& port, ReadGroup group) {
  if (!port.watched()) return;
  const PortKey key = port.port.id.key();
  if (group == ReadGroup::kKernel && worker_.is_out(key, group)) {
    port.kernel_again = true;  // what comes back may be of before
    return;
  }
  std::vector<ReadWorker::Job> jobs;
  add_job(jobs, key, port, group);
  worker_.submit(std::move(jobs));
}

namespace {

/// A link that changed lately: whether it fell its PHY says, by the driver's counts, sooner than
/// those are read else.
bool wants_phy_count(const SampledPort& port, SteadyTime now) {
  constexpr Milliseconds kLately{30'000};
  return port.link_changed_at && now - *port.link_changed_at < kLately;
}

}  // namespace

/// All that is due goes out as one batch: it is begun and it comes back at one time, so that a
/// cycle is one step, not as many as the worker has pauses.
void Sampler::submit_due(SteadyTime now) {
  const bool pcie_due = pcie_.is_due(now);
  const bool counters_due = counters_.is_due(now);
  const bool driver_due = driver_.is_due(now);
  const bool has_kernel = host_->has_kernel();
  std::vector<ReadWorker::Job> jobs;
  jobs.reserve((2 * std::size_t{counters_due} + std::size_t{pcie_due} + std::size_t{driver_due}) *
               (ports_.size() + 1));
  const auto add_all = [&](ReadGroup group) {
    for (auto& [key, port] : ports_)
      if (group != ReadGroup::kKernel || !port.reader->reads_all_at_once())
        add_job(jobs, key, port, group);
  };
  // First what waits for no lock, so that a module that holds RTNL delays as little as can be.
  if (counters_due) add_all(ReadGroup::kCounters);
  if (pcie_due) {
    pcie_.done(now);
    add_all(ReadGroup::kPcie);
  }
  if (counters_due) {
    counters_.done(now);
    if (has_kernel && !worker_.is_out("", ReadGroup::kStatistics))
      jobs.push_back({"", ReadGroup::kStatistics,
                      [host = statistics_host_] { return read_statistics(*host); }});
    add_all(ReadGroup::kKernel);
    for (auto& [key, port] : ports_)
      if (!driver_due && wants_phy_count(port, now)) add_job(jobs, key, port, ReadGroup::kDriver);
  }
  if (driver_due) {
    driver_.done(now);
    add_all(ReadGroup::kDriver);
    if (has_kernel && !worker_.is_out("", ReadGroup::kHealth))
      jobs.push_back({"", ReadGroup::kHealth, [host = health_host_, reporters = health_reporters_] {
                        return read_health(*host, *reporters);
                      }});
  }
  worker_.submit(std::move(jobs));
}

/// A read that hung and came back is no gap any more; what it could not read is a gap of its own.
void Sampler::end_hangs(Cycle& cycle, std::set<std::pair<PortKey, ReadGroup>> hang) {
  for (const auto& [port, group] : hang_) {
    if (hang.contains({port, group})) continue;
    cycle.snapshot.gaps_ended.push_back({port, std::string(probe_of(group)), ""});
    cycle.content = true;
  }
  hang_ = std::move(hang);
}

/// A port that has none of what is read for the whole node can't show that it was read again.
void Sampler::end_node_gap(Cycle& cycle, const Reading& reading) {
  if (!reading.gaps.empty())
    node_gaps_of_reads_.insert(reading.group);
  else if (node_gaps_of_reads_.erase(reading.group) > 0)
    cycle.snapshot.gaps_ended.push_back({"", std::string(probe_of(reading.group)), ""});
}

void Sampler::take_readings(Cycle& cycle) {
  for (Reading& reading : worker_.take_finished()) take_reading(cycle, reading);
}

void Sampler::take_reading(Cycle& cycle, Reading& reading) {
  cycle.content = true;
  cycle.add_duration(probe_of(reading.group), reading.duration_s);
  if (reading.node && reading.node->inventory) {
    const SearchDesk::Return search = searches_.take(reading.port);
    search_ = search_ || search.again;
    if (search.use) take_search(cycle, *std::move(reading.node->inventory));
    return;
  }
  if (reading.group == ReadGroup::kHealth || reading.group == ReadGroup::kStatistics)
    end_node_gap(cycle, reading);
  const bool costly = reading.firmware_reads > 0;
  firmware_reads_ += reading.firmware_reads;
  counter_readings_ += costly ? 1 : 0;
  const auto at = ports_.find(reading.port);
  // Of a device that had this name before: that it is gone, and what could not be read of it, is
  // not the new one's.
  if (at != ports_.end() && at->second.reader->number() != reading.reader) return;
  if (at != ports_.end() && costly)
    at->second.firmware_reads = static_cast<std::uint32_t>(reading.firmware_reads);
  Snapshot& snapshot = cycle.snapshot;
  snapshot.gaps.insert(snapshot.gaps.end(), reading.gaps.begin(), reading.gaps.end());
  snapshot.gaps_ended.insert(snapshot.gaps_ended.end(), reading.gaps_ended.begin(),
                             reading.gaps_ended.end());
  for (auto& [key, port] : ports_) {
    if (!reading.node) break;
    const auto statistics =
        reading.node->statistics.find(static_cast<std::uint32_t>(port.port.ifindex));
    if (statistics == reading.node->statistics.end() || !port.watched() ||
        !port.port.has_link_of_netdev())
      continue;
    auto& counters = cycle.snapshot.ports[key].counters;
    if (!counters) counters.emplace();
    counters->merge(statistics->second);
  }
  if (reading.node && !reading.node->health.empty()) take_health(cycle, reading.node->health);
  if (at == ports_.end()) return;
  SampledPort& port = at->second;
  PortSample& sample = cycle.snapshot.ports[reading.port];
  port.gone = port.gone || reading.gone;
  if (reading.sample.counters && sample.counters) sample.counters->merge(*reading.sample.counters);
  if (reading.sample.counters && !sample.counters)
    sample.counters = std::move(reading.sample.counters);
  if (!reading.sample.fec_lanes.empty()) sample.fec_lanes = std::move(reading.sample.fec_lanes);
  if (reading.sample.pcie) sample.pcie = std::move(reading.sample.pcie);
  if (reading.sample.link) {
    port.kernel = *std::move(reading.sample.link);
    port.link_news = port.show = true;
    if (std::exchange(port.kernel_again, false)) {
      port.kernel.down_reason.reset();  // maybe of another outage
      submit(port, ReadGroup::kKernel);
    } else {
      tell_no_cable(port);
    }
  }
}

/// An empty cage need not be looked into when the driver says that it is empty.
void Sampler::tell_no_cable(SampledPort& port) {
  const bool no_cable = port.kernel.down_reason && port.kernel.down_reason->state == kNoCable;
  if (std::exchange(port.no_cable, no_cable) != no_cable) tell_modules();
}

/// What a reporter says of a new error is as good as a line of the kernel log, whose words drivers
/// give to either.
void Sampler::tell_health(Cycle& cycle, const PortKey& port, const HealthReporter& reporter) {
  const KernelLogPattern* const pattern = classify_kernel_log(reporter.words);
  if (pattern == nullptr || pattern->what == KernelLogClass::kNoise) return;
  cycle.snapshot.events.push_back({cycle.now, port, PortEventKind::kKernelLog,
                                   "devlink health, " + reporter.name + ": " + reporter.words});
}

void Sampler::take_health(Cycle& cycle, const std::vector<HealthReporter>& reporters) {
  for (auto& [key, port] : ports_) {
    bool in_error = false;
    unsigned until_fatal = 0;
    for (const HealthReporter& reporter : reporters) {
      if (reporter.pci().empty() || reporter.pci() != port.port.id.pci || !port.watched()) continue;
      auto& counters = cycle.snapshot.ports[key].counters;
      if (!counters) counters.emplace();
      const std::string prefix = "devlink_" + reporter.name;
      if (reporter.errors) counters->set(prefix + "_errors", *reporter.errors);
      if (reporter.recoveries) counters->set(prefix + "_recoveries", *reporter.recoveries);
      tell_health(cycle, key, reporter);
      const unsigned readings = readings_until_fatal(port.port.id.driver, reporter.name);
      if (readings == 0 || reporter.in_error != true) continue;
      until_fatal = in_error ? std::min(until_fatal, readings) : readings;
      in_error = true;
    }
    port.fatal_health = in_error ? port.fatal_health + 1 : 0;
    if (!in_error) port.fatal_health_told = false;
    // At least: another reporter may have joined the first, one that needs fewer readings.
    if (in_error && port.fatal_health >= until_fatal &&
        !std::exchange(port.fatal_health_told, true))
      cycle.snapshot.events.push_back(
          {cycle.now, key, PortEventKind::kDeviceFatal, "devlink health: error"});
  }
}

namespace {

/// Which of ethtool and the import reads this module from now on. One failure is a busy bus;
/// several one after the other leave the port blind, and then somebody else's reading is worth more
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

void Sampler::take_modules(Cycle& cycle) {
  for (ModuleRound& round : modules_->take_finished()) {
    const auto at = ports_.find(round.port);
    if (at == ports_.end()) continue;
    cycle.content = at->second.module_seen = true;
    Snapshot& snapshot = cycle.snapshot;
    cycle.add_duration("module", round.duration_s);
    note_module_change(snapshot, cycle.now, round, at->second.module_serial);
    note_module_round(at->second, round);
    if (round.gap && !at->second.module_imported) snapshot.gaps.push_back(*std::move(round.gap));
    if (round.sample) snapshot.ports[round.port].module = *std::move(round.sample);
  }
}

void Sampler::take_far_ends(Cycle& cycle) {
  FarEnds::News news = far_ends_->take(cycle.now);
  if (!news.ports.empty() || !news.timings.empty() || news.node_gaps_changed) cycle.content = true;
  Snapshot& snapshot = cycle.snapshot;
  for (const ProbeTiming& timing : news.timings)
    cycle.add_duration(timing.probe, timing.duration_s);
  for (auto& [key, merged] : news.ports) {
    const auto at = ports_.find(key);
    if (at == ports_.end()) continue;
    snapshot.gaps.insert(snapshot.gaps.end(), merged.gaps.begin(), merged.gaps.end());
    if (merged.peer) snapshot.ports[key].peer = *std::move(merged.peer);
    take_imported_module(cycle, at->second, merged);
  }
}

namespace {

/// Why somebody else's reading of this end's module is not taken; "": it is. It is for ports whose
/// module ethtool can't read (InfiniBand).
std::string_view why_refused(const SampledPort& port, SteadyTime module_read_at) {
  if (port.has_module_reader)
    return "its module is read through ethtool: the imported one is ignored";
  if (port.link_changed_at && module_read_at < *port.link_changed_at)
    return "its module was read before the link's last change: the next reading of it counts";
  return "";
}

}  // namespace

void Sampler::take_imported_module(Cycle& cycle, SampledPort& port, MergedPeer& merged) {
  const PortKey key = port.port.id.key();
  const bool was_refused = !port.import_refused.empty();
  if (merged.module) port.import_refused = why_refused(port, merged.module_read_at);
  if (merged.module_ended) port.import_refused = {};
  // Without this the gap would stand until some source names the far end again.
  if (was_refused && port.import_refused.empty())
    cycle.snapshot.gaps_ended.push_back({key, "import", ""});
  if (merged.module_ended && std::exchange(port.module_imported, false)) {
    cycle.snapshot.ports[key].module = ModuleSample{};  // what it said holds no longer
    cycle.snapshot.gaps.push_back(
        {key, "module", std::string(kImportEnded) + ", and ethtool gives none"});
  }
  if (!port.import_refused.empty())
    cycle.snapshot.gaps.push_back({key, "import", std::string(port.import_refused)});
  if (!merged.module || !port.import_refused.empty()) return;
  port.module_imported = true;
  note_imported_change(cycle, port, *merged.module);
  cycle.snapshot.ports[key].module = *std::move(merged.module);
}

/// Who exchanges a module takes the link down: without the event that would be a loss nobody
/// wanted.
void Sampler::note_imported_change(Cycle& cycle, SampledPort& port, const ModuleSample& now) {
  const PortKey key = port.port.id.key();
  const auto tell = [&](PortEventKind kind, const std::string& serial) {
    cycle.snapshot.events.push_back({cycle.now, key, kind, in_words(serial)});
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
