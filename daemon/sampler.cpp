#include "daemon/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "probes/rtnl_link.h"

namespace linkhealth {

namespace {

/// Seconds since boot: the first number of /proc/uptime.
std::optional<double> read_uptime_s(Host& host) {
  const auto text = host.read_file("/proc/uptime");
  if (!text) return std::nullopt;
  return parse_double(split(*text, ' ').front());
}

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
  }
  return "";
}

}  // namespace

/// One poll on its way to a snapshot.
struct Sampler::Cycle {
  SteadyTime now;
  Snapshot snapshot;
  bool content = false;  ///< something was read that is worth a snapshot
  bool rescan = false;
  bool look = false;  ///< an event says that a link changed
};

Sampler::Sampler(HostFactory hosts, std::unique_ptr<ModuleReader> modules, const Clock& clock, SamplerSettings settings,
                 RecordingHeader header)
    : hosts_(std::move(hosts)),
      host_(hosts_()),
      statistics_host_(hosts_()),
      health_host_(hosts_()),
      modules_(std::move(modules)),
      worker_(clock, settings.read_patience),
      clock_(clock),
      settings_(settings),
      header_(std::move(header)) {
  const SteadyTime now = clock_.steady();
  link_ = {settings.link_period, now};
  counters_ = {settings.counters_period, now};
  pcie_ = {settings.pcie_period, now};
  driver_ = {settings.driver_period, now};
  inventory_due_ = {settings.rescan_period, now};
  auto events = listen_to_links(*host_);
  if (events) {
    link_events_ = *std::move(events);
  } else if (events.error().errnum != EOPNOTSUPP) {
    no_link_events_ = events.error();
  }
}

Sampler::~Sampler() = default;

std::optional<Snapshot> Sampler::poll() {
  Cycle cycle;
  cycle.now = clock_.steady();
  cycle.snapshot.taken_at = cycle.now;
  cycle.snapshot.wall_time = clock_.wall();
  if (std::exchange(first_, false)) cycle.snapshot.events.push_back({cycle.now, "", PortEventKind::kMonitorStart, ""});
  drain_link_events(cycle);
  if (cycle.rescan || inventory_due_.is_due(cycle.now)) rescan(cycle);
  for (const auto& [key, port] : ports_) cycle.snapshot.ports[key].id = port.port.id;
  if (cycle.look || link_.is_due(cycle.now)) read_links(cycle);
  submit_due(cycle.now);
  take_readings(cycle);
  if (modules_) take_modules(cycle);
  report_stuck(cycle);
  put_links(cycle);
  finish(cycle);
  if (!cycle.content) return std::nullopt;
  return std::move(cycle.snapshot);
}

void Sampler::drain_link_events(Cycle& cycle) {
  if (!link_events_) return;
  const auto messages = link_events_->receive();
  if (!messages) {  // ENOBUFS: the kernel dropped some, so look at everything
    cycle.look = cycle.rescan = true;
    return;
  }
  for (const Bytes& message : *messages) {
    const auto event = parse_link_event(message);
    if (!event || !*event) continue;
    cycle.look = true;
    if ((*event)->kind != LinkEventKind::kChanged) cycle.rescan = true;
  }
}

void Sampler::rescan(Cycle& cycle) {
  inventory_due_.done(cycle.now);
  Inventory found = take_inventory(*host_);
  node_gaps_ = std::move(found.gaps);
  if (no_link_events_) node_gaps_.push_back({"", "link_events", no_link_events_->message});
  const bool first_search = ports_.empty();
  std::map<PortKey, SampledPort> ports;
  std::vector<ModulePort> with_module;
  for (InventoryPort& port : found.ports) {
    const PortKey key = port.id.key();
    port.id.exempt = port.exempt_reason;
    if (port.ifindex != 0 && port.exempt_reason.empty())
      with_module.push_back({key, static_cast<std::uint32_t>(port.ifindex)});
    const auto known = ports_.find(key);
    if (known != ports_.end() && !known->second.gone && known->second.port.id == port.id &&
        known->second.port.ifindex == port.ifindex) {
      ports.insert(ports_.extract(known));
      continue;
    }
    if (known == ports_.end() && !first_search)
      cycle.snapshot.events.push_back({cycle.now, key, PortEventKind::kDeviceAdded, ""});
    SampledPort& fresh = ports[key];
    fresh.reader = std::make_shared<PortReader>(hosts_(), port, settings_.firmware_reads);
    auto files = NetdevReader::open(*host_, port, NetdevReader::Speed::kSkip);
    if (files) fresh.files.emplace(*std::move(files));
    fresh.port = std::move(port);
    counters_.at = cycle.now;  // a new port is read at once
  }
  for (const auto& [key, port] : ports_)
    if (!ports.contains(key)) cycle.snapshot.events.push_back({cycle.now, key, PortEventKind::kDeviceGone, ""});
  ports_ = std::move(ports);
  if (modules_) modules_->set_ports(with_module);
}

void Sampler::read_links(Cycle& cycle) {
  link_.done(cycle.now);
  const SteadyTime begun = clock_.steady();
  for (auto& [key, port] : ports_)
    if (port.files) read_link(cycle, port);
  cycle.snapshot.timings.push_back({"link", in_seconds(clock_.steady() - begun)});
}

void Sampler::read_link(Cycle& cycle, SampledPort& port) {
  PortSample sample;
  if (port.files->read_link(sample, cycle.snapshot.gaps) == ReadStatus::kGone) {
    port.gone = true;
    return;
  }
  if (!sample.link) return;
  const bool first = !port.netdev.has_value();
  if (!first) {
    const auto changes = link_changes(port.port.id.key(), as_netdev(*port.netdev), as_netdev(*sample.link), cycle.now);
    cycle.snapshot.events.insert(cycle.snapshot.events.end(), changes.begin(), changes.end());
    if (!changes.empty()) {
      port.kernel.down_reason.reset();  // of another outage
      submit(port, ReadGroup::kKernel);
      if (modules_) modules_->request(port.port.id.key());
    }
  }
  port.netdev = std::move(sample.link);
}

void Sampler::submit(SampledPort& port, ReadGroup group) {
  const PortKey key = port.port.id.key();
  if (!port.watched() || worker_.is_out(key, group)) return;
  worker_.submit(
      {key, group, [reader = port.reader, group, now = clock_.steady()] { return reader->read(group, now); }});
}

void Sampler::submit_due(SteadyTime now) {
  const bool pcie_due = pcie_.is_due(now);
  const bool counters_due = counters_.is_due(now);
  // First what waits for no lock, so that a module that holds RTNL delays as little as can be.
  if (counters_due) {
    for (auto& [key, port] : ports_) submit(port, ReadGroup::kCounters);
  }
  if (pcie_due) {
    pcie_.done(now);
    for (auto& [key, port] : ports_) submit(port, ReadGroup::kPcie);
  }
  if (counters_due) {
    counters_.done(now);
    if (!worker_.is_out("", ReadGroup::kStatistics))
      worker_.submit({"", ReadGroup::kStatistics, [host = statistics_host_] { return read_statistics(*host); }});
    for (auto& [key, port] : ports_) submit(port, ReadGroup::kKernel);
  }
  if (driver_.is_due(now)) {
    driver_.done(now);
    for (auto& [key, port] : ports_) submit(port, ReadGroup::kDriver);
    if (!worker_.is_out("", ReadGroup::kHealth))
      worker_.submit({"", ReadGroup::kHealth, [host = health_host_] { return read_health(*host); }});
  }
}

void Sampler::take_readings(Cycle& cycle) {
  for (Reading& reading : worker_.take_finished()) take_reading(cycle, reading);
}

void Sampler::take_reading(Cycle& cycle, Reading& reading) {
  cycle.content = true;
  cycle.snapshot.timings.push_back({std::string(probe_of(reading.group)), reading.duration_s});
  firmware_reads_ += reading.firmware_reads;
  cycle.snapshot.gaps.insert(cycle.snapshot.gaps.end(), reading.gaps.begin(), reading.gaps.end());
  for (auto& [key, port] : ports_) {
    const auto statistics = reading.statistics.find(static_cast<std::uint32_t>(port.port.ifindex));
    if (statistics == reading.statistics.end() || !port.watched()) continue;
    auto& counters = cycle.snapshot.ports[key].counters;
    if (!counters) counters.emplace();
    counters->merge(statistics->second);
  }
  take_health(cycle, reading.health);
  const auto at = ports_.find(reading.port);
  if (at == ports_.end()) return;
  SampledPort& port = at->second;
  PortSample& sample = cycle.snapshot.ports[reading.port];
  port.gone = port.gone || reading.gone;
  if (reading.sample.counters) {
    if (!sample.counters) sample.counters.emplace();
    sample.counters->merge(*reading.sample.counters);
  }
  if (!reading.sample.fec_lanes.empty()) sample.fec_lanes = std::move(reading.sample.fec_lanes);
  if (reading.sample.pcie) sample.pcie = reading.sample.pcie;
  if (reading.group == ReadGroup::kKernel && reading.sample.link) {
    port.kernel = *std::move(reading.sample.link);
    port.show = true;
  }
}

void Sampler::take_health(Cycle& cycle, const std::vector<HealthReporter>& reporters) {
  for (auto& [key, port] : ports_) {
    bool fatal = false;
    for (const HealthReporter& reporter : reporters) {
      if (reporter.pci.empty() || reporter.pci != port.port.id.pci || !port.watched()) continue;
      auto& counters = cycle.snapshot.ports[key].counters;
      if (!counters) counters.emplace();
      const std::string prefix = "devlink_" + reporter.name;
      if (reporter.errors) counters->set(prefix + "_errors", *reporter.errors);
      if (reporter.recoveries) counters->set(prefix + "_recoveries", *reporter.recoveries);
      fatal = fatal || is_fatal(reporter);
    }
    if (reporters.empty()) continue;
    if (fatal && !port.fatal_health)
      cycle.snapshot.events.push_back({cycle.now, key, PortEventKind::kDeviceFatal, "devlink health: error"});
    port.fatal_health = fatal;
  }
}

void Sampler::take_modules(Cycle& cycle) {
  for (ModuleRound& round : modules_->take_finished()) {
    const auto at = ports_.find(round.port);
    if (at == ports_.end()) continue;
    cycle.content = at->second.module_seen = true;
    Snapshot& snapshot = cycle.snapshot;
    snapshot.timings.push_back({"module", round.duration_s});
    if (round.change == ModuleChange::kRemoved || round.change == ModuleChange::kSwapped)
      snapshot.events.push_back({cycle.now, round.port, PortEventKind::kModuleRemoved, ""});
    if (round.change == ModuleChange::kInserted || round.change == ModuleChange::kSwapped)
      snapshot.events.push_back({cycle.now, round.port, PortEventKind::kModuleInserted, ""});
    if (round.gap) snapshot.gaps.push_back(*std::move(round.gap));
    if (round.sample) snapshot.ports[round.port].module = *std::move(round.sample);
  }
}

void Sampler::report_stuck(Cycle& cycle) {
  const double patience_s = in_seconds(settings_.read_patience);
  std::map<std::string, SteadyTime> stuck;
  const auto report = [&](const PortKey& port, std::string_view probe, SteadyTime since) {
    // Said when it begins and then with every snapshot: a gap is of the last attempt, and this one is still going on.
    // The same words each time, because the reason is a metric's label.
    cycle.snapshot.gaps.push_back({port, std::string(probe), fmt::format("no answer within {:g} s", patience_s)});
    const std::string what = port + " " + std::string(probe);
    if (!stuck_.contains(what)) cycle.content = true;
    stuck.emplace(what, since);
  };
  for (const ReadWorker::Stuck& read : worker_.check_stuck()) report(read.port, probe_of(read.group), read.since);
  const auto busy = modules_ ? modules_->busy() : std::nullopt;
  if (busy && cycle.now - busy->since >= settings_.read_patience) report(busy->port, "module", busy->since);
  stuck_ = std::move(stuck);
}

void Sampler::put_links(Cycle& cycle) {
  for (auto& [key, port] : ports_) {
    LinkSample link = port.link();
    if (!std::exchange(port.show, false) && port.last_shown == link) continue;
    cycle.content = true;
    cycle.snapshot.ports[key].link = link;
    if (port.port.ifindex == 0 && port.last_shown && port.last_shown->carrier != link.carrier && link.carrier) {
      const auto kind = *link.carrier ? PortEventKind::kCarrierUp : PortEventKind::kCarrierDown;
      cycle.snapshot.events.push_back({cycle.now, key, kind, ""});
    }
    port.last_shown = std::move(link);
  }
}

void Sampler::finish(Cycle& cycle) {
  Snapshot& snapshot = cycle.snapshot;
  if (!snapshot.events.empty()) cycle.content = true;
  const bool gone = std::any_of(ports_.begin(), ports_.end(), [](const auto& port) { return port.second.gone; });
  if (gone) inventory_due_.at = cycle.now;  // the next poll searches anew
  if (!cycle.content) return;
  std::map<std::string, double> now_s;
  for (const ProbeTiming& timing : snapshot.timings) now_s[timing.probe] += timing.duration_s;
  for (const auto& [probe, duration_s] : now_s) durations_s_[probe] = duration_s;
  snapshot.timings.clear();  // every probe each time: a metric that comes and goes is of no use
  for (const auto& [probe, duration_s] : durations_s_)
    snapshot.timings.push_back({probe, duration_s, probe == "counters" ? firmware_reads_ : 0});
  snapshot.uptime_s = read_uptime_s(*host_);
  snapshot.gaps.insert(snapshot.gaps.end(), node_gaps_.begin(), node_gaps_.end());
}

std::optional<Milliseconds> Sampler::until_due() const {
  const SteadyTime next = std::min({link_.at, counters_.at, pcie_.at, driver_.at, inventory_due_.at});
  return std::max(next - clock_.steady(), Milliseconds(0));
}

std::vector<int> Sampler::wake_fds() const {
  std::vector<int> fds = {worker_.event_fd()};
  if (link_events_) fds.push_back(link_events_->fd());
  if (modules_) fds.push_back(modules_->event_fd());
  return fds;
}

std::vector<InventoryPort> Sampler::inventory() const {
  std::vector<InventoryPort> ports;
  for (const auto& [key, port] : ports_) ports.push_back(port.port);
  return ports;
}

bool Sampler::settled() const {
  const bool modules = !modules_ || std::all_of(ports_.begin(), ports_.end(), [](const auto& entry) {
    return entry.second.module_seen || !entry.second.watched() || entry.second.port.ifindex == 0;
  });
  return modules && worker_.idle() && !first_;
}

}  // namespace linkhealth
