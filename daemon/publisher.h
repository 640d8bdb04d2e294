// What the deciding thread hands to those who answer requests: one immutable value a step, swapped
// in whole. Bytes are made by the first who asks and shared by all who ask after: rendered once a
// step, compressed once, and not at all when nobody asks.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/doctor.h"
#include "daemon/metrics_pages.h"
#include "exporters/metrics.h"
#include "model/report.h"

namespace linkhealth {

/// The report as JSON, by whoever knows how (exporters/json.h).
struct JsonWriters {
  std::function<std::string(const Report&)> report;
  std::function<std::string(const PortReport&)> port;
  std::function<std::string(const FaultEvent&)> event;
  std::function<std::string(const ModuleSample&)> module;
};

/// What people are shown of the configuration that is in force.
struct ShownConfiguration {
  std::string note;  ///< what the last reload came to; "" when there was none
  WallTime noted_at;
};

using SharedBytes = std::shared_ptr<const std::string>;

/// One step, as it is published. All methods may be called from any thread.
class Published {
 public:
  Published(std::shared_ptr<const Report> report, FaultEventCounts counts, MonitorFigures monitor,
            std::function<std::string(const Report&)> report_json,
            std::shared_ptr<MetricsPages> pages)
      : report_(std::move(report)),
        counts_(std::move(counts)),
        monitor_(std::move(monitor)),
        write_json_(std::move(report_json)),
        pages_(std::move(pages)) {}

  [[nodiscard]] const Report& report() const { return *report_; }
  [[nodiscard]] SharedBytes metrics(MetricGroups groups) const;
  [[nodiscard]] SharedBytes metrics_gzip(MetricGroups groups) const;
  [[nodiscard]] SharedBytes report_json() const;
  /// Makes those compressed metrics that were asked of `former`: whoever scrapes each step finds
  /// them made.
  void prepare_as(const Published& former) const;
  [[nodiscard]] bool is_made(MetricGroups groups) const {
    return metrics_gzip_[index_of(groups)].made;
  }

 private:
  /// Bytes that are made at most once.
  struct Lazy {
    SharedBytes bytes;
    std::atomic<bool> made = false;
    std::atomic<bool> asked = false;
  };
  [[nodiscard]] SharedBytes make_gzip(MetricGroups groups) const;
  [[nodiscard]] MetricsStep step() const { return {*report_, counts_, monitor_}; }
  /// Two who ask at once, of what is made under the same lock: the second waits.
  template <typename Make>
  static SharedBytes get(Lazy& lazy, std::mutex& making, Make make);
  static std::size_t index_of(MetricGroups groups) {
    return (groups.counters ? 1U : 0U) + (groups.optics ? 2U : 0U);
  }

  std::shared_ptr<const Report> report_;
  FaultEventCounts counts_;
  MonitorFigures monitor_;
  std::function<std::string(const Report&)> write_json_;
  std::shared_ptr<MetricsPages> pages_;  ///< of all steps
  mutable std::mutex making_metrics_, making_json_;
  mutable std::array<Lazy, 4> metrics_;
  mutable std::array<Lazy, 4> metrics_gzip_;
  mutable Lazy report_json_;
};

/// The current step and the latest events. One thread publishes, any thread reads.
class Publisher {
 public:
  static constexpr std::size_t kMaxEvents = 1000;

  explicit Publisher(JsonWriters json) : json_(std::move(json)) {}

  void publish(std::shared_ptr<const Report> report, const std::vector<FaultEvent>& events,
               MonitorFigures monitor);
  /// Events of an earlier run, oldest first, before the first step: they are shown, and counted by
  /// nobody.
  void remember(std::vector<FaultEvent> events);
  /// What the node says of itself, for `linkhealth doctor`; once, before the server starts.
  void set_node_facts(NodeFacts facts) { facts_ = std::move(facts); }
  [[nodiscard]] const NodeFacts& node_facts() const { return facts_; }
  void set_configuration(ShownConfiguration configuration);
  [[nodiscard]] ShownConfiguration configuration() const;
  /// nullptr before the first step.
  [[nodiscard]] std::shared_ptr<const Published> current() const;
  /// {"events":[…]}, oldest first, at most `limit` of the latest.
  [[nodiscard]] std::string events_json(std::size_t limit) const;
  /// Events by number: the first that was remembered or published is 1.
  struct EventsAfter {
    std::vector<std::shared_ptr<const FaultEvent>> events;
    std::uint64_t last = 0;  ///< the number of the latest that was published
  };
  /// Those after number `after` that are kept, oldest first.
  [[nodiscard]] EventsAfter events_after(std::uint64_t after) const;
  [[nodiscard]] std::string event_json(const FaultEvent& event) const { return json_.event(event); }
  [[nodiscard]] std::string port_json(const PortReport& port) const { return json_.port(port); }
  [[nodiscard]] std::string module_json(const ModuleSample& module) const {
    return json_.module(module);
  }

 private:
  JsonWriters json_;
  NodeFacts facts_;
  ShownConfiguration configuration_;  // of the mutex
  std::shared_ptr<MetricsPages> pages_ = std::make_shared<MetricsPages>();
  FaultEventCounts counts_;  // the publishing thread's own
  mutable std::mutex mutex_;
  std::shared_ptr<const Published> current_;
  std::deque<std::shared_ptr<const FaultEvent>> events_;
  std::uint64_t event_count_ = 0;  ///< how many there ever were
};

}  // namespace linkhealth
