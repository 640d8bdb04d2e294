#include "daemon/sampling/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "probes/netlink/kernel_events.h"
#include "probes/netlink/rtnl_link.h"
#include "probes/sysfs/kernel_log.h"
#include "probes/sysfs/sysfs_text.h"

namespace linkhealth {

namespace {

/// Minimum time between two discoveries prompted by events.
constexpr Milliseconds kDiscoveryRest{500};
/// Minimum time between two discoveries for devices that hung and answer again.
constexpr Milliseconds kHungDeviceRest{60'000};
/// Number of discoveries that may find a device which was removed and not added again.
constexpr unsigned kLeavingLooks = 6;

/// Its name in the kernel's device events: the verbs device, if it has one.
const std::string& name_of(const PortId& id) { return id.verbs ? id.device : id.netdev; }

}  // namespace

Sampler::Sampler(HostFactory hosts, std::unique_ptr<ModuleReader> modules, const Clock& clock,
                 SamplerSettings settings, RecordingHeader header,
                 std::vector<std::unique_ptr<EventFeed>> feeds)
    : hosts_(std::move(hosts)),
      host_(hosts_()),
      statistics_host_(hosts_()),
      health_host_(hosts_()),
      modules_(std::move(modules)),
      clock_(clock),
      settings_(settings),
      header_(std::move(header)),
      links_due_(settings.link_period, clock.steady()),
      counters_due_(settings.counters_period, clock.steady()),
      discovery_due_(settings.rescan_period, clock.steady()),
      discovery_(clock, settings.read_patience),
      pool_(clock, settings.read_patience) {
  const SteadyTime now = clock_.steady();
  feeds_.push_back({std::make_unique<LinkEvents>(*host_), now});
  feeds_.push_back({std::make_unique<DeviceEvents>(*host_), now});
  if (settings.kernel_log) feeds_.push_back({std::make_unique<KernelLog>(*host_), now});
  for (auto& feed : feeds) feeds_.push_back({std::move(feed), now});
  // A copied tree has no kernel that sends events.
  std::erase_if(feeds_,
                [](const Feed& feed) { return feed.feed->fd() < 0 && feed.feed->gaps().empty(); });
}

Sampler::~Sampler() = default;

void Sampler::expect(const std::map<PortKey, ExpectedPort>& expected, ExpectedPorts planned) {
  header_.expected = expected;
  if (far_ends_ == nullptr) return;
  far_ends_->set_plan(std::move(planned));
  far_ends_->set_ports(inventory());
}

std::optional<Snapshot> Sampler::poll() {
  now_ = clock_.steady();
  if (std::exchange(first_, false))
    next_.events.push_back({now_, "", PortEventKind::kMonitorStart, ""});
  receive_events();
  if ((discover_ && now_ >= discovery_rests_until_) || discovery_due_.is_due(now_))
    start_discovery();
  pool_.finish();
  if (discovered_) {
    if (prompts_.look || links_due_.is_due(now_)) read_links();
    follow_prompts();
    submit_due();
    accept_modules();
    accept_far_ends();
  }
  check_hung();
  publish_links();
  publish_sources();
  return finish_snapshot();
}

// --- events and discovery

void Sampler::receive_events() {
  prompts_ = {};
  for (Feed& feed : feeds_) {
    if (feed.rests_until > now_) continue;
    FeedNews news = feed.feed->receive(*host_, now_);
    if (news.heard && !news.more) feed.rests_until = now_ + feed.feed->rest();
    if (!news.gaps.empty()) {
      feed.lost = news.gaps.back().reason;
      feed.lost_at = now_;
    }
    accept_news(news);
  }
}

void Sampler::accept_news(FeedNews& news) {
  discover_ = discover_ || news.search;
  prompts_.look = prompts_.look || news.look;
  prompts_.ports.merge(news.ports);
  prompts_.modules.merge(news.modules);
  for (const auto& [name, number] : news.removed) removed_[name] = std::max(removed_[name], number);
  for (const auto& [name, number] : news.added) added_[name] = std::max(added_[name], number);
  for (auto& [key, port] : ports_)
    if (news.moved.contains(static_cast<std::uint32_t>(port.port.ifindex))) port.moved = true;
  next_.events.insert(next_.events.end(), news.events.begin(), news.events.end());
}

void Sampler::follow_prompts() {
  for (const PortKey& key : prompts_.ports) {
    const auto port = ports_.find(key);
    if (port == ports_.end()) continue;
    read_kernel_now(port->second);
    if (modules_ && !port->second.netdev) modules_->request(key);
  }
  if (!modules_) return;
  for (const PortKey& key : prompts_.modules) modules_->request(key);
}

/// On the pool: the kernel answers a port's phys_port_name under its RTNL lock
/// (net/core/net-sysfs.c).
void Sampler::start_discovery() {
  discovery_due_.done(now_);
  discovery_rests_until_ = now_ + kDiscoveryRest;
  discover_ = discovery_.is_out();
  if (discover_) return;  // once more after the current one
  pool_.submit(
      {discovery_.start(hosts_(), [this](std::optional<Inventory> found, double duration_s) {
        add_duration("inventory", duration_s);
        if (found)
          accept_inventory(*std::move(found));
        else
          discovery_due_.at = std::min(discovery_due_.at, last_discovery_ + kHungDeviceRest);
      })});
}

void Sampler::accept_inventory(Inventory found) {
  has_news_ = true;
  last_discovery_ = now_;
  discovered_ = true;
  if (is_leaving(found) && ++leaving_looks_ <= kLeavingLooks) {
    discover_ = true;
    return;
  }
  leaving_looks_ = 0;
  forget_removed();
  // The discovery may have found a device that was removed meanwhile; a later removal shows in the
  // port's own files.
  const std::uint64_t found_after = std::max(found.found_after, latest_device_event(*host_));
  adopt(ports_search_.compare(std::move(found), std::move(ports_), now_), found_after);
}

void Sampler::adopt(PortsFound result, std::uint64_t found_after) {
  ports_ = std::move(result.ports);
  for (auto& [key, port] : ports_) {
    port.id = port.port.id;
    open_files(port);
  }
  by_discovery_.clear();
  if (result.complete)
    for (auto& [key, port] : ports_) port.by_discovery.clear();
  for (const Gap& gap : result.gaps) {
    const auto source = find_source(gap.probe);
    if (!source) continue;
    const auto port = ports_.find(gap.port);
    // A device that can't be read has no port.
    const std::string reason =
        port != ports_.end() || gap.port.empty() ? gap.reason : gap.port + ": " + gap.reason;
    SourceReports& reports = port != ports_.end() ? port->second.by_discovery : by_discovery_;
    add_report(reports, *source, problem_of(*source, reason, false));
  }
  next_.events.insert(next_.events.end(), result.events.begin(), result.events.end());
  for (const PortKey& key : result.fresh) {
    SampledPort& fresh = ports_[key];
    fresh.found_after = found_after;
    fresh.reader = std::make_shared<PortReader>(hosts_(), fresh.port);
    links_due_.at = counters_due_.at = now_;  // a new port is read at once
  }
  if (result.again_soon) discovery_due_.at = now_ + settings_.link_period;
  std::erase_if(next_.ports, [this](const auto& entry) { return !ports_.contains(entry.first); });
  publish_ports();
}

void Sampler::publish_ports() {
  publish_module_ports();
  const std::vector<InventoryPort> ports = inventory();
  for (Feed& feed : feeds_) feed.feed->set_ports(*host_, ports, now_);
  if (far_ends_) far_ends_->set_ports(ports);
}

void Sampler::publish_module_ports() {
  if (!modules_) return;
  std::vector<ModulePort> with_module;
  for (const auto& [key, port] : ports_)
    if (port.port.ifindex != 0 && port.watched())
      with_module.push_back({key, static_cast<std::uint32_t>(port.port.ifindex), port.no_cable,
                             modules_left_.contains(key)});
  modules_->set_ports(with_module);
}

/// A port that was found before its removal is gone, even if a new device has its name, because the
/// new counters start at zero. A removal event may be received after the discovery that found the
/// new device; the event numbers show that.
void Sampler::forget_removed() {
  const auto removed = std::exchange(removed_, {});
  added_.clear();
  for (auto& [key, port] : ports_) {
    const auto name = removed.find(name_of(port.port.id));
    if (name != removed.end() && port.found_after < name->second) port.gone = true;
  }
}

/// The event precedes the removal from /sys. A device that is still listed and was not added again
/// is being removed: neither gone nor back.
bool Sampler::is_leaving(const Inventory& found) const {
  return std::ranges::any_of(ports_, [&](const auto& entry) {
    const std::string& name = name_of(entry.second.port.id);
    const auto removed = removed_.find(name);
    if (removed == removed_.end() || entry.second.found_after >= removed->second) return false;
    const auto added = added_.find(name);
    return (added == added_.end() || added->second < removed->second) &&
           std::ranges::any_of(found.ports, [&name](const InventoryPort& port) {
             return name_of(port.id) == name;
           });
  });
}

// --- links

/// Tried in each discovery until it works. The discovery itself reports a netdev that does not
/// exist.
void Sampler::open_files(SampledPort& port) {
  if (port.files || port.lent || !port.port.has_link_of_netdev()) return;
  auto files = NetdevReader::open(*host_, port.port);
  std::string reason;
  if (files) {
    port.files.emplace(*std::move(files));
  } else if (files.error().errnum != ENOENT && files.error().errnum != ENODEV) {
    reason = "net/" + port.port.id.netdev + ": " + errno_name(files.error().errnum);
    port.netdev.reset();  // from before a rename
  }
  port.link_problem = std::move(reason);
}

void Sampler::read_links() {
  links_due_.done(now_);
  const Microseconds begun = clock_.fine();
  for (auto& [key, port] : ports_)
    if (port.files) read_link(port);
  add_duration("link", in_seconds(clock_.fine() - begun));
}

void Sampler::read_link(SampledPort& port) {
  std::optional<LinkSample> link;
  std::vector<Gap> gaps;
  if (port.files->read_link(link, gaps) == ReadStatus::kGone) {
    port.gone = true;
    return;
  }
  port.link_problem = gaps.empty() ? "" : std::move(gaps.front().reason);
  if (!link) return;
  if (port.netdev) {
    const PortId& id = port.port.id;
    const auto changes = link_changes(id.key(), id.driver, *port.netdev, *link, now_);
    next_.events.insert(next_.events.end(), changes.begin(), changes.end());
    if (!changes.empty()) {
      port.link_changed_at = now_;
      port.kernel.down_reason.reset();  // from an earlier outage
      read_kernel_now(port);
      if (modules_) modules_->request(id.key());
    }
  }
  port.netdev = std::move(link);
}

void Sampler::publish_links() {
  for (auto& [key, port] : ports_) {
    LinkSample link = port.link();
    const bool changed = port.published != link;
    if (!std::exchange(port.publish, false) && !changed) continue;
    has_news_ = true;
    next_.ports[key].link = link;
    const bool other_carrier = port.published && port.published->carrier != link.carrier;
    if (other_carrier && link.carrier && !port.port.has_link_of_netdev()) {
      const auto kind = *link.carrier ? PortEventKind::kCarrierUp : PortEventKind::kCarrierDown;
      next_.events.push_back({now_, key, kind, ""});
    }
    if (other_carrier) port.link_changed_at = now_;
    if (far_ends_ && link.carrier && (!port.published || other_carrier))
      far_ends_->set_carrier(key, *link.carrier);
    port.published = std::move(link);
  }
}

// --- snapshots and time

void Sampler::add_duration(std::string_view probe, double duration_s) {
  has_news_ = has_news_ || probe != "link";
  const auto at = spent_s_.find(probe);
  (at != spent_s_.end() ? at : spent_s_.emplace(probe, 0).first)->second += duration_s;
}

/// nullopt while there is nothing to publish: before the first discovery, unless it hangs.
std::optional<Snapshot> Sampler::finish_snapshot() {
  // The next poll starts a discovery, but a device that is listed while its files answer ENODEV
  // must not prompt one after the other.
  if (std::ranges::any_of(ports_, [](const auto& port) { return port.second.gone; }))
    discovery_due_.at =
        std::min(discovery_due_.at, std::max(now_, last_discovery_ + settings_.link_period));
  if (!next_.events.empty()) has_news_ = true;
  for (const auto& [probe, spent_s] : std::exchange(spent_s_, {})) durations_s_[probe] = spent_s;
  if (!has_news_ || (!discovered_ && hung_.empty())) return std::nullopt;
  has_news_ = false;
  Snapshot snapshot = std::exchange(next_, {});
  snapshot.taken_at = now_;
  snapshot.wall_time = clock_.wall();
  for (const auto& [key, port] : ports_) snapshot.ports[key].id = port.id;
  // All probes each time, so that no metric comes and goes.
  for (const auto& [probe, duration_s] : durations_s_)
    snapshot.timings.push_back({probe, duration_s});
  // The monotonic clock starts at boot (linux: CLOCK_MONOTONIC). Not from /proc/uptime, which may
  // hang: in an LXC container it is a FUSE file.
  if (host_->has_kernel()) snapshot.uptime_s = in_seconds(now_.time_since_epoch());
  std::ranges::stable_sort(snapshot.events, {}, &PortEvent::t);
  return snapshot;
}

std::optional<Milliseconds> Sampler::until_due() const {
  const SteadyTime now = clock_.steady();
  if (!discovered_)
    return discover_ ? std::max(discovery_rests_until_ - now, Milliseconds(0))
                     : settings_.read_patience;
  SteadyTime next = std::min({links_due_.at, counters_due_.at, discovery_due_.at});
  if (discover_) next = std::min(next, discovery_rests_until_);
  for (const Feed& feed : feeds_)
    if (feed.rests_until > now) next = std::min(next, feed.rests_until);
  if (far_ends_) next = std::min(next, far_ends_->next_due().value_or(next));
  return std::max(next - now, Milliseconds(0));
}

std::vector<int> Sampler::wake_fds() const {
  const SteadyTime now = clock_.steady();
  std::vector<int> fds = {pool_.event_fd()};
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
  const bool modules = !modules_ || std::ranges::all_of(ports_, [](const auto& entry) {
    return entry.second.module_seen || !entry.second.watched() || entry.second.port.ifindex == 0;
  });
  return modules && (!far_ends_ || far_ends_->settled()) && pool_.idle() && !first_;
}

}  // namespace linkhealth
