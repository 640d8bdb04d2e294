#include "daemon/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "daemon/sampler_cycle.h"
#include "probes/device_events.h"
#include "probes/kernel_log.h"
#include "probes/link_events.h"
#include "probes/rtnl_link.h"
#include "probes/sysfs_text.h"

namespace linkhealth {

namespace {

/// An event asks for a search at once; the next one waits this long.
constexpr Milliseconds kSearchRest{500};

/// So often a device that was removed may be listed still, and was not added again that we heard
/// of.
constexpr unsigned kLeavingLooks = 6;

}  // namespace

Sampler::Sampler(HostFactory hosts, std::unique_ptr<ModuleReader> modules, const Clock& clock,
                 SamplerSettings settings, RecordingHeader header,
                 std::vector<std::unique_ptr<EventFeed>> feeds)
    : hosts_(std::move(hosts)),
      host_(hosts_()),
      statistics_host_(hosts_()),
      health_host_(hosts_()),
      modules_(std::move(modules)),
      worker_(clock, settings.read_patience, settings.read_threads),
      searches_(clock, settings.read_patience),
      clock_(clock),
      settings_(settings),
      header_(std::move(header)) {
  const SteadyTime now = clock_.steady();
  link_ = Due(settings.link_period, now);
  counters_ = Due(settings.counters_period, now);
  pcie_ = Due(settings.pcie_period, now);
  driver_ = Due(settings.driver_period, now);
  inventory_due_ = Due(settings.rescan_period, now);
  feeds_.push_back({std::make_unique<LinkEvents>(*host_), now});
  feeds_.push_back({std::make_unique<DeviceEvents>(*host_), now});
  if (settings.kernel_log) feeds_.push_back({std::make_unique<KernelLog>(*host_), now});
  for (auto& feed : feeds) feeds_.push_back({std::move(feed), now});
  // A copied tree has no kernel that tells of anything.
  std::erase_if(feeds_,
                [](const Feed& feed) { return feed.feed->fd() < 0 && feed.feed->gaps().empty(); });
}

Sampler::~Sampler() = default;

void Sampler::expect(const std::map<PortKey, ExpectedPort>& expected, AskedByName planned) {
  header_.expected = expected;
  if (far_ends_ == nullptr) return;
  far_ends_->set_plan(std::move(planned));
  far_ends_->set_ports(inventory());
}

std::optional<Snapshot> Sampler::poll() {
  Cycle cycle;
  cycle.now = clock_.steady();
  cycle.snapshot.taken_at = cycle.now;
  cycle.snapshot.wall_time = clock_.wall();
  cycle.snapshot.events = std::exchange(early_events_, {});
  if (std::exchange(first_, false))
    cycle.snapshot.events.push_back({cycle.now, "", PortEventKind::kMonitorStart, ""});
  take_events(cycle);
  if ((search_ && cycle.now >= search_rests_) || inventory_due_.is_due(cycle.now)) rescan(cycle);
  if (!searched_) take_readings(cycle);
  if (searched_) read_all(cycle);
  report_stuck(cycle);
  // Nothing can be said before the ports are known, unless what looks for them hangs.
  if (!searched_ && stuck_.empty()) {
    early_events_ = std::move(cycle.snapshot.events);
    return std::nullopt;
  }
  put_links(cycle);
  say_link_gaps(cycle);
  finish(cycle);
  if (!cycle.content) return std::nullopt;
  return std::move(cycle.snapshot);
}

void Sampler::read_all(Cycle& cycle) {
  if (cycle.prompts.look || link_.is_due(cycle.now)) read_links(cycle);
  follow_prompts(cycle);
  take_readings(cycle);
  submit_due(cycle.now);  // after the readings: a search among them may have found a port
  if (modules_) take_modules(cycle);
  if (modules_) say_left_modules(cycle);
  if (far_ends_) take_far_ends(cycle);
}

void Sampler::rescan(Cycle& cycle) {
  inventory_due_.done(cycle.now);
  search_rests_ = cycle.now + kSearchRest;
  search_ = searches_.is_out();
  if (search_) return;  // something came while a search was under way: once more after it
  // Not here: a port's phys_port_name is answered under the kernel's RTNL lock
  // (net/core/net-sysfs.c).
  worker_.submit(searches_.begin(hosts_()));
}

void Sampler::take_search(Cycle& cycle, Inventory found) {
  last_search_ = cycle.now;
  searched_ = true;
  ++searches_done_;
  if (is_leaving(found) && ++leaving_looks_ <= kLeavingLooks) {
    search_ = true;
    return;
  }
  leaving_looks_ = 0;
  forget_removed();
  // A removal that was told while the search was under way is of a device that the search may have
  // found again; one after it is noticed by the port's own files.
  const std::uint64_t found_after = std::max(found.found_after, latest_device_event(*host_));
  PortsFound result = ports_search_.compare(std::move(found), std::move(ports_), cycle.now);
  ports_ = std::move(result.ports);
  for (auto& [key, port] : ports_) {
    port.id = port.port.id;
    open_files(port);
  }
  node_gaps_.clear();
  for (Gap& gap : result.gaps) {
    const bool of_port = ports_.contains(gap.port);
    // A device that can't be looked into has no port that could say it.
    if (!of_port && !gap.port.empty()) gap = {"", gap.probe, gap.port + ": " + gap.reason};
    (of_port ? cycle.snapshot.gaps : node_gaps_).push_back(std::move(gap));
  }
  cycle.snapshot.gaps_ended.insert(cycle.snapshot.gaps_ended.end(), result.gaps_ended.begin(),
                                   result.gaps_ended.end());
  cycle.snapshot.events.insert(cycle.snapshot.events.end(), result.events.begin(),
                               result.events.end());
  for (const PortKey& key : result.fresh) {
    SampledPort& fresh = ports_[key];
    fresh.found_after = found_after;
    // A virtual function may have its physical one's LID, and be told from it by a GRH only (linux:
    // mlx5's get_core_cap_flags(), grh_required): the answer would be of that one.
    const bool by_mads = settings_.port_mads && fresh.watched();
    fresh.reader = std::make_shared<PortReader>(hosts_(), fresh.port, settings_.firmware_reads,
                                                by_mads ? own_ports_ : MadOpener(), ++readers_);
    counters_.at = cycle.now;  // a new port is read at once
  }
  if (result.again_soon) inventory_due_.at = cycle.now + settings_.link_period;
  std::erase_if(cycle.snapshot.ports,
                [this](const auto& entry) { return !ports_.contains(entry.first); });
  tell_modules();
  tell_feeds(cycle.now);
  if (far_ends_) far_ends_->set_ports(inventory());
}

/// With each search until it works. Of a netdev that is not there the search says what is missing.
void Sampler::open_files(SampledPort& port) {
  if (port.files || port.lent || !port.port.has_link_of_netdev()) return;
  auto files = NetdevReader::open(*host_, port.port, NetdevReader::Speed::kSkip);
  std::string reason;
  if (files) {
    port.files.emplace(*std::move(files));
  } else if (files.error().errnum != ENOENT && files.error().errnum != ENODEV) {
    reason = "net/" + port.port.id.netdev + ": " + errno_name(files.error().errnum);
    port.netdev.reset();  // of before a rename: nobody can say that it still holds
  }
  note_link_gap(port, std::move(reason));
}

/// What changes of it is worth a snapshot.
void Sampler::note_link_gap(SampledPort& port, std::string reason) {
  if (reason == port.link_gap) return;
  port.link_gap = std::move(reason);
  port.show = true;
}

void Sampler::tell_modules() {
  if (!modules_) return;
  std::vector<ModulePort> with_module;
  for (const auto& [key, port] : ports_)
    if (port.port.ifindex != 0 && port.watched())
      with_module.push_back({key, static_cast<std::uint32_t>(port.port.ifindex), port.no_cable,
                             modules_left_.contains(key)});
  modules_->set_ports(with_module);
}

void Sampler::leave_modules(std::set<PortKey> ports) {
  if (ports == modules_left_) return;
  modules_left_ = std::move(ports);
  std::erase_if(modules_said_,
                [this](const PortKey& port) { return !modules_left_.contains(port); });
  tell_modules();
}

/// Once: it is no failure that is tried again.
void Sampler::say_left_modules(Cycle& cycle) {
  for (const PortKey& port : modules_left_) {
    if (!ports_.contains(port) || !modules_said_.insert(port).second) continue;
    cycle.snapshot.gaps.push_back({port, "module", std::string(kModuleLeft)});
    cycle.content = true;
  }
}

void Sampler::read_links(Cycle& cycle) {
  link_.done(cycle.now);
  const Microseconds begun = clock_.fine();
  const auto with_files = [](const auto& entry) { return entry.second.files.has_value(); };
  for (auto port = ports_.begin();
       (port = std::find_if(port, ports_.end(), with_files)) != ports_.end();) {
    NetdevReader::LinkReads reads;
    const auto first = port;
    for (; port != ports_.end() && reads.has_room(NetdevReader::kAhead); ++port)
      if (port->second.files) port->second.files->begin_link(reads);
    reads.read(*host_);
    for (auto at = first; at != port; ++at)
      if (at->second.files) read_link(cycle, at->second);
  }
  cycle.add_duration("link", in_seconds(clock_.fine() - begun));
}

void Sampler::read_link(Cycle& cycle, SampledPort& port) {
  std::optional<LinkSample> link;
  std::vector<Gap> gaps;
  if (port.files->read_link(link, gaps) == ReadStatus::kGone) {
    port.gone = true;
    return;
  }
  note_link_gap(port, gaps.empty() ? "" : std::move(gaps.front().reason));
  if (!link || link == port.netdev) return;
  port.link_news = true;
  const bool first = !port.netdev.has_value();
  if (!first) {
    const PortId& id = port.port.id;
    const auto changes = link_changes(id.key(), id.driver, *port.netdev, *link, cycle.now);
    cycle.snapshot.events.insert(cycle.snapshot.events.end(), changes.begin(), changes.end());
    if (!changes.empty()) {
      port.link_changed_at = cycle.now;
      port.kernel.down_reason.reset();  // of another outage
      submit(port, ReadGroup::kKernel);
      if (modules_) modules_->request(port.port.id.key());
    }
  }
  port.netdev = std::move(link);
}

void Sampler::report_stuck(Cycle& cycle) {
  std::map<std::string, SteadyTime> stuck;
  const auto no_answer = [this] {
    return fmt::format("no answer within {:g} s", in_seconds(settings_.read_patience));
  };
  const auto report = [&](const PortKey& port, std::string_view probe, SteadyTime since,
                          const std::string& reason) {
    // Said when it begins and then with every snapshot: a gap is of the last attempt, and this one
    // is still going on. The same words each time, because the reason is a metric's label.
    cycle.snapshot.gaps.push_back({port, std::string(probe), reason});
    const std::string what = fmt::format("{} {} {}", port, probe, reason);
    if (!stuck_.contains(what)) cycle.content = true;
    stuck.emplace(what, since);
  };
  std::set<std::pair<PortKey, ReadGroup>> out;
  for (const ReadWorker::Stuck& read : worker_.check_stuck()) {
    const bool search = read.group == ReadGroup::kInventory;  // its gap ends with the list
    if (!search) out.emplace(read.port, read.group);
    SearchDesk::Hang hang;
    if (search && !read.waiting) hang = searches_.hang(read.port);
    search_ = search_ || hang.again;
    report(search ? "" : read.port, probe_of(read.group), read.since,
           read.waiting ? "not read: too many other reads hang" : no_answer() + hang.where);
  }
  end_hangs(cycle, std::move(out));
  for (const std::string& words : searches_.resting())
    cycle.snapshot.gaps.push_back({"", std::string(probe_of(ReadGroup::kInventory)), words});
  const auto busy = modules_ ? modules_->busy() : std::nullopt;
  if (busy && cycle.now - busy->since >= settings_.read_patience)
    report(busy->port, "module", busy->since, no_answer());
  stuck_ = std::move(stuck);
}

void Sampler::put_links(Cycle& cycle) {
  for (auto& [key, port] : ports_) {
    if (!std::exchange(port.link_news, false) && !port.show) continue;
    LinkSample link = port.link();
    if (!std::exchange(port.show, false) && port.last_shown == link) continue;
    cycle.content = true;
    cycle.snapshot.ports[key].link = link;
    if (!port.port.has_link_of_netdev() && port.last_shown &&
        port.last_shown->carrier != link.carrier && link.carrier) {
      const auto kind = *link.carrier ? PortEventKind::kCarrierUp : PortEventKind::kCarrierDown;
      cycle.snapshot.events.push_back({cycle.now, key, kind, ""});
    }
    if (port.last_shown && port.last_shown->carrier != link.carrier)
      port.link_changed_at = cycle.now;
    if (far_ends_ && link.carrier && (!port.last_shown || port.last_shown->carrier != link.carrier))
      far_ends_->set_carrier(key, *link.carrier);
    port.last_shown = std::move(link);
  }
}

/// With each link that is shown, also by what other sources say of it: one without its gap would
/// say that all of it was seen.
void Sampler::say_link_gaps(Cycle& cycle) {
  for (const auto& [key, port] : ports_) {
    if (port.link_gap.empty() || !port.watched()) continue;
    const auto shown = cycle.snapshot.ports.find(key);
    if (shown != cycle.snapshot.ports.end() && shown->second.link)
      cycle.snapshot.gaps.push_back({key, "link", port.link_gap});
  }
}

void Sampler::finish(Cycle& cycle) {
  Snapshot& snapshot = cycle.snapshot;
  if (!snapshot.events.empty()) cycle.content = true;
  const bool gone =
      std::any_of(ports_.begin(), ports_.end(), [](const auto& port) { return port.second.gone; });
  // The next poll searches anew; a device that is still listed while it answers ENODEV must not
  // keep us busy.
  if (gone)
    inventory_due_.at =
        std::min(inventory_due_.at, std::max(cycle.now, last_search_ + settings_.link_period));
  if (!cycle.content) return;
  for (const auto& [key, port] : ports_) snapshot.ports[key].id = port.id;
  for (const auto& [probe, duration_s] : cycle.durations_s) durations_s_[probe] = duration_s;
  snapshot.timings.reserve(durations_s_.size());
  // Every probe each time: a metric that comes and goes is of no use.
  for (const auto& [probe, duration_s] : durations_s_) {
    ProbeTiming& timing = snapshot.timings.emplace_back(ProbeTiming{probe, duration_s});
    if (probe != "counters") continue;
    timing.firmware_reads = firmware_reads_;
    timing.port_readings = counter_readings_;
    timing.ports.reserve(ports_.size());
    for (const auto& [key, port] : ports_)
      if (port.firmware_reads > 0) timing.ports.push_back({port.id, port.firmware_reads});
  }
  // The monotonic clock begins with the boot (linux: CLOCK_MONOTONIC). /proc/uptime says it too,
  // and may hang: in a container of LXC it is a file of FUSE.
  if (host_->has_kernel()) snapshot.uptime_s = in_seconds(cycle.now.time_since_epoch());
  snapshot.gaps.insert(snapshot.gaps.end(), node_gaps_.begin(), node_gaps_.end());
  for (const Feed& feed : feeds_) {
    const std::vector<Gap> gaps = feed.feed->gaps();
    snapshot.gaps.insert(snapshot.gaps.end(), gaps.begin(), gaps.end());
  }
  std::stable_sort(snapshot.events.begin(), snapshot.events.end(),
                   [](const PortEvent& a, const PortEvent& b) { return a.t < b.t; });
  if (far_ends_)
    snapshot.gaps.insert(snapshot.gaps.end(), far_ends_->node_gaps().begin(),
                         far_ends_->node_gaps().end());
}

bool Sampler::hasten(Milliseconds slack) {
  if (!searched_) return false;
  const SteadyTime now = clock_.steady();
  bool any = false;
  for (Due* due : {&link_, &counters_, &pcie_, &driver_, &inventory_due_})
    any = due->hasten(now, slack) || any;
  return any;
}

std::optional<Milliseconds> Sampler::until_due() const {
  const SteadyTime now = clock_.steady();
  if (!searched_)
    return search_ ? std::max(search_rests_ - now, Milliseconds(0)) : settings_.read_patience;
  SteadyTime next = std::min({link_.at, counters_.at, pcie_.at, driver_.at, inventory_due_.at});
  if (search_) next = std::min(next, search_rests_);
  for (const Feed& feed : feeds_)
    if (feed.rests_until > now) next = std::min(next, feed.rests_until);
  return std::max(next - now, Milliseconds(0));
}

std::vector<int> Sampler::wake_fds() const {
  const SteadyTime now = clock_.steady();
  std::vector<int> fds = {worker_.event_fd()};
  for (const Feed& feed : feeds_)
    if (feed.feed->fd() >= 0 && feed.rests_until <= now) fds.push_back(feed.feed->fd());
  if (modules_) fds.push_back(modules_->event_fd());
  if (far_ends_)
    for (const int fd : far_ends_->wake_fds()) fds.push_back(fd);
  return fds;
}

std::vector<InventoryPort> Sampler::inventory() const {
  std::vector<InventoryPort> ports;
  for (const auto& [key, port] : ports_) ports.push_back(port.port);
  return ports;
}

std::set<std::string> Sampler::sources() const {
  std::set<std::string> names = far_ends_ ? far_ends_->sources() : std::set<std::string>();
  for (const Feed& feed : feeds_)
    if (feed.feed->fd() >= 0) names.emplace(feed.feed->name());
  return names;
}

bool Sampler::settled() const {
  const bool modules =
      !modules_ || std::all_of(ports_.begin(), ports_.end(), [](const auto& entry) {
        return entry.second.module_seen || !entry.second.watched() ||
               entry.second.port.ifindex == 0;
      });
  return modules && (!far_ends_ || far_ends_->settled()) && worker_.idle() && !first_;
}

}  // namespace linkhealth
