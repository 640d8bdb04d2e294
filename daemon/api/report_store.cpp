#include "daemon/api/report_store.h"

#include <algorithm>

#include "exporters/json/json.h"

namespace linkhealth {

const std::string& ListedEvent::json() const {
  std::call_once(made_, [this] { json_ = event_json_line(*this); });
  return json_;
}

void ReportStore::publish(std::shared_ptr<const Report> report,
                          const std::vector<FaultEvent>& events, MonitorFigures monitor) {
  for (const FaultEvent& event : events) counts_.add(event);
  std::shared_ptr<const ReportSnapshot> next = std::make_shared<const ReportSnapshot>(
      ReportSnapshot{std::move(report), counts_, std::move(monitor), &facts_});
  const std::lock_guard lock(mutex_);
  current_ = std::move(next);
  append(events);
}

void ReportStore::append(const std::vector<FaultEvent>& events) {
  for (const FaultEvent& event : events)
    events_.push_back(std::make_shared<const ListedEvent>(event));
  event_count_ += events.size();
  while (events_.size() > kMaxEvents) events_.pop_front();
}

void ReportStore::restore_events(const std::vector<FaultEvent>& events) {
  const std::lock_guard lock(mutex_);
  append(events);
}

void ReportStore::set_configuration(ConfigurationSummary configuration) {
  const std::lock_guard lock(mutex_);
  configuration_ = std::move(configuration);
}

ConfigurationSummary ReportStore::configuration() const {
  const std::lock_guard lock(mutex_);
  return configuration_;
}

std::shared_ptr<const ReportSnapshot> ReportStore::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

ReportStore::EventsAfter ReportStore::events_after(std::uint64_t after) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t oldest = event_count_ - events_.size();  // the event before the oldest kept
  const auto skipped = std::min(std::max(after, oldest), event_count_) - oldest;
  return {{events_.begin() + static_cast<std::ptrdiff_t>(skipped), events_.end()}, event_count_};
}

}  // namespace linkhealth
