// The sampler's part that listens: what the feeds tell, and what it prompts.
#include <algorithm>
#include <utility>

#include "daemon/sampler.h"
#include "daemon/sampler_cycle.h"

namespace linkhealth {

namespace {

/// What the kernel's events call it: where there is a verbs device, that one decides.
const std::string& name_of(const PortId& id) { return id.verbs ? id.device : id.netdev; }

}  // namespace

void Sampler::take_events(Cycle& cycle) {
  for (Feed& feed : feeds_) {
    if (feed.rests_until > cycle.now) continue;
    FeedNews news = feed.feed->receive(*host_, cycle.now);
    if (news.heard && !news.more) feed.rests_until = cycle.now + feed.feed->rest();
    take_news(cycle, news);
  }
}

void Sampler::take_news(Cycle& cycle, FeedNews& news) {
  search_ = search_ || news.search;
  FeedNews& prompts = cycle.prompts;
  prompts.look = prompts.look || news.look;
  prompts.ports.merge(news.ports);
  prompts.modules.merge(news.modules);
  for (const auto& [name, number] : news.removed) removed_[name] = std::max(removed_[name], number);
  for (const auto& [name, number] : news.added) added_[name] = std::max(added_[name], number);
  if (!news.moved.empty())
    for (auto& [key, port] : ports_)
      port.moved = port.moved || news.moved.contains(static_cast<std::uint32_t>(port.port.ifindex));
  Snapshot& snapshot = cycle.snapshot;
  if (!news.gaps.empty()) cycle.content = true;
  snapshot.gaps.insert(snapshot.gaps.end(), news.gaps.begin(), news.gaps.end());
  snapshot.events.insert(snapshot.events.end(), news.events.begin(), news.events.end());
}

/// What was found before it was removed is gone, also when a new device has its name: counters,
/// descriptors and settings began anew. The events may be heard after a search that has seen the
/// new one; their numbers tell.
void Sampler::forget_removed() {
  const auto removed = std::exchange(removed_, {});
  added_.clear();
  for (auto& [key, port] : ports_) {
    const auto name = removed.find(name_of(port.port.id));
    if (name != removed.end() && port.found_after < name->second) port.gone = true;
  }
}

/// A removal is told before the device is gone from /sys. One that is listed still, and was not
/// added again, is on its way out: neither gone nor back.
bool Sampler::is_leaving(const Inventory& found) const {
  return std::any_of(ports_.begin(), ports_.end(), [&](const auto& entry) {
    const std::string& name = name_of(entry.second.port.id);
    const auto removed = removed_.find(name);
    if (removed == removed_.end() || entry.second.found_after >= removed->second) return false;
    const auto added = added_.find(name);
    return (added == added_.end() || added->second < removed->second) &&
           std::any_of(found.ports.begin(), found.ports.end(),
                       [&name](const InventoryPort& port) { return name_of(port.id) == name; });
  });
}

void Sampler::tell_feeds(SteadyTime now) {
  std::vector<InventoryPort> ports;
  ports.reserve(ports_.size());
  for (const auto& [key, port] : ports_) ports.push_back(port.port);
  for (Feed& feed : feeds_) feed.feed->set_ports(*host_, ports, now);
}

void Sampler::follow_prompts(const Cycle& cycle) {
  for (const PortKey& key : cycle.prompts.ports) {
    const auto port = ports_.find(key);
    if (port == ports_.end()) continue;
    submit(port->second, ReadGroup::kKernel);
    if (modules_ && !port->second.netdev) modules_->request(key);
  }
  if (!modules_) return;
  for (const PortKey& key : cycle.prompts.modules) modules_->request(key);
}

}  // namespace linkhealth
