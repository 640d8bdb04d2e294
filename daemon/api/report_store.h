// What the deciding thread publishes for the HTTP server: one immutable snapshot per step, and the
// latest fault events. Metrics and JSON are rendered for each request.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/selfcheck/doctor.h"
#include "exporters/metrics/metrics.h"
#include "model/report.h"

namespace linkhealth {

/// One step of the engine, as published.
struct ReportSnapshot {
  std::shared_ptr<const Report> report;
  FaultEventCounts counts;
  MonitorFigures monitor;
  const NodeFacts* facts = nullptr;  ///< owned by the ReportStore

  [[nodiscard]] std::string metrics(MetricGroups groups) const {
    MonitorFigures figures = monitor;
    if (facts != nullptr) figures.sight = count_sight_of_ports(*report, *facts);
    return metrics_text(*report, counts, figures, groups);
  }
};

/// What `status` shows of the configuration in force.
struct ConfigurationSummary {
  std::string note;  ///< result of the last reload; "" without one
  WallTime noted_at;
};

/// An event with its JSON, which is rendered once: rendering a list of a thousand takes so long
/// that clients that request it repeatedly would delay all others.
class ListedEvent : public FaultEvent {
 public:
  explicit ListedEvent(const FaultEvent& event) : FaultEvent(event) {}
  /// From any thread.
  [[nodiscard]] const std::string& json() const;

 private:
  mutable std::once_flag made_;
  mutable std::string json_;
};

/// One thread publishes, any thread reads.
class ReportStore {
 public:
  static constexpr std::size_t kMaxEvents = 1000;
  using Events = std::vector<std::shared_ptr<const ListedEvent>>;

  void publish(std::shared_ptr<const Report> report, const std::vector<FaultEvent>& events,
               MonitorFigures monitor);
  /// Events of an earlier run, oldest first, before the first step. They are listed, but not
  /// counted in the event metrics.
  void restore_events(const std::vector<FaultEvent>& events);
  /// For `linkhealth doctor`; call once, before the server starts.
  void set_node_facts(NodeFacts facts) { facts_ = std::move(facts); }
  [[nodiscard]] const NodeFacts& node_facts() const { return facts_; }
  void set_configuration(ConfigurationSummary configuration);
  [[nodiscard]] ConfigurationSummary configuration() const;
  /// nullptr before the first step.
  [[nodiscard]] std::shared_ptr<const ReportSnapshot> current() const;
  /// Events are numbered; the first restored or published one is 1.
  struct EventsAfter {
    Events events;
    std::uint64_t last = 0;  ///< the number of the latest event
  };
  /// The kept events after number `after`, oldest first.
  [[nodiscard]] EventsAfter events_after(std::uint64_t after) const;

 private:
  void append(const std::vector<FaultEvent>& events);

  NodeFacts facts_;
  FaultEventCounts counts_;   // used only by the publishing thread
  mutable std::mutex mutex_;  // protects what follows
  ConfigurationSummary configuration_;
  std::shared_ptr<const ReportSnapshot> current_;
  std::deque<std::shared_ptr<const ListedEvent>> events_;
  std::uint64_t event_count_ = 0;  ///< of all events, including those no longer kept
};

/// The present time; for a played recording, the time of its latest snapshot, so that ages are
/// relative to it.
class ReportClock : public Clock {
 public:
  ReportClock(const Clock& clock, const ReportStore& reports, bool played)
      : clock_(clock), reports_(reports), played_(played) {}
  [[nodiscard]] SteadyTime steady() const override { return clock_.steady(); }
  [[nodiscard]] WallTime wall() const override {
    const auto current = played_ ? reports_.current() : nullptr;
    return current ? current->report->at : clock_.wall();
  }

 private:
  const Clock& clock_;
  const ReportStore& reports_;
  bool played_;
};

}  // namespace linkhealth
