// The sampler's part that listens: what the feeds tell, and what it prompts.
#include <algorithm>
#include <utility>

#include "daemon/sampler.h"
#include "daemon/sampler_cycle.h"

namespace linkhealth {

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
  Snapshot& snapshot = cycle.snapshot;
  if (!news.gaps.empty()) cycle.content = true;
  snapshot.gaps.insert(snapshot.gaps.end(), news.gaps.begin(), news.gaps.end());
  snapshot.events.insert(snapshot.events.end(), news.events.begin(), news.events.end());
}

/// What was found before it was removed is gone, also when a new device has its name: counters, descriptors and
/// settings began anew. The events may be heard after a search that has seen the new one; their numbers tell.
void Sampler::forget_removed() {
  const auto removed = std::exchange(removed_, {});
  for (auto& [key, port] : ports_) {
    const PortId& id = port.port.id;
    // Where there is a verbs device, that one decides.
    const auto name = removed.find(id.verbs ? id.device : id.netdev);
    if (name != removed.end() && port.found_after < name->second) port.gone = true;
  }
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
