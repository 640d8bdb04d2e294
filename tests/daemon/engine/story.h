// One port through the engine: what happens to it, and what the engine reports.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/engine/engine.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {

struct Story {
  Feed feed;
  Engine engine{settings()};
  std::shared_ptr<const Report> report;
  std::string events;           ///< "opened:dirty_connector closed:dirty_connector "
  std::vector<FaultEvent> all;  ///< the same, whole

  /// After so many seconds in which nothing happens.
  explicit Story(double quiet_s = 0) { run(quiet_s); }
  explicit Story(std::map<PortKey, ExpectedPort> expected)
      : engine(settings(std::move(expected))) {}
  explicit Story(EngineSettings with) : engine(std::move(with)) {}
  static EngineSettings settings(std::map<PortKey, ExpectedPort> expected = {}) {
    EngineSettings settings;
    settings.node = "node";
    settings.setting_table = SettingTable(diagnosis_setting_groups());
    settings.expected = std::move(expected);
    return settings;
  }
  void run(double seconds) {
    for (const double end = feed.t + seconds; feed.t < end;) {
      const Engine::Step step = engine.step(feed.tick());
      report = step.report;
      for (const FaultEvent& event : step.events) {
        events += std::string(to_string(event.kind)) + ":" + event.fault.fault + " ";
        all.push_back(event);
      }
    }
  }
  void pull() { feed.pull(feed.t + 1); }
  void plug() { feed.plug(feed.t + 1); }
  void lose_light() {
    pull();
    feed.receive_mw(0);
  }
  /// 6 dB less light on lane 2, and errors.
  void soil_lane_2() {
    feed.module.lanes[1].rx_power_mw = 0.2;
    feed.bits_per_s = 4e7;
  }
  void clean_lane_2() {
    feed.module.lanes[1].rx_power_mw = 0.8;
    feed.bits_per_s = 4000;
  }
  /// A new run of the daemon that takes over the ledger.
  [[nodiscard]] Story restarted() const {
    Story after;
    after.feed = feed;
    after.engine.restore(engine.ledger_state());
    return after;
  }
  const PortReport& port() const { return report->ports.at(0); }
  void log(const char* text) { feed.event(PortEventKind::kKernelLog, feed.t + 1, text); }
  void set_down() {
    feed.link.admin_up = false;
    feed.event(PortEventKind::kAdminDown, feed.t + 1);
    feed.pull(feed.t + 1.1);
  }
  void set_up() {
    feed.link.admin_up = true;
    feed.event(PortEventKind::kAdminUp, feed.t + 1);
    feed.plug(feed.t + 3);
  }
};

}  // namespace linkhealth
