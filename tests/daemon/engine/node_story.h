// A node with several ports that are alike.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/daemon/engine/story.h"

namespace linkhealth {

/// A node with `count` ports that are alike; a test changes one port's sample.
struct Node {
  explicit Node(std::size_t ports, std::map<PortKey, ExpectedPort> expected = {})
      : count(ports), engine(Story::settings(std::move(expected))) {}
  Snapshot tick() {
    std::vector<Gap> gaps, ended;
    gaps.swap(feed.gaps);
    ended.swap(feed.gaps_ended);
    Snapshot snapshot = feed.tick();
    feed.gaps = gaps;
    const PortSample sample = snapshot.ports.begin()->second;
    snapshot.ports.clear();
    for (std::size_t i = 0; i < count; ++i) {
      if (gone.contains(i)) continue;
      PortSample port = sample;
      port.id.device = "mlx5_" + std::to_string(i);
      port.id.pci = "0000:" + std::to_string(10 + i) + ":00.0";
      if (port.module) port.module->serial = "S" + std::to_string(i);
      if (change) change(i, port);
      snapshot.ports[port.id.key()] = port;
    }
    feed.convert(snapshot, std::move(gaps), std::move(ended));
    return snapshot;
  }
  void step(const Snapshot& snapshot) {
    const Engine::Step step = engine.step(snapshot);
    report = step.report;
    events.insert(events.end(), step.events.begin(), step.events.end());
  }
  void run(double seconds) {
    for (const double end = feed.t + seconds; feed.t < end;) step(tick());
  }
  const PortReport* port(const std::string& key) const {
    for (const PortReport& each : report->ports)
      if (each.port == key) return &each;
    return nullptr;
  }

  Feed feed;
  std::size_t count;
  std::set<std::size_t> gone;  ///< of the ports
  std::function<void(std::size_t, PortSample&)> change;
  Engine engine;
  std::shared_ptr<const Report> report;
  std::vector<FaultEvent> events;
};

}  // namespace linkhealth
