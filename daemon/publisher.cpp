#include "daemon/publisher.h"

#include <algorithm>

namespace linkhealth {

// No std::call_once: the library's wakes those who wait with a call of the kernel, also when nobody
// does.
template <typename Make>
SharedBytes Published::get(Lazy& lazy, std::mutex& making, Make make) {
  if (lazy.made) return lazy.bytes;
  const std::lock_guard lock(making);
  if (!lazy.made) {
    lazy.bytes = std::make_shared<const std::string>(make());
    lazy.made = true;
  }
  return lazy.bytes;
}

SharedBytes Published::metrics(MetricGroups groups) const {
  return get(metrics_[index_of(groups)], making_metrics_,
             [&] { return pages_->text(step(), groups); });
}

SharedBytes Published::metrics_gzip(MetricGroups groups) const {
  metrics_gzip_[index_of(groups)].asked = true;
  return make_gzip(groups);
}

void Published::prepare_as(const Published& former) const {
  for (const bool counters : {false, true})
    for (const bool optics : {false, true})
      if (const MetricGroups groups{counters, optics}; former.metrics_gzip_[index_of(groups)].asked)
        (void)make_gzip(groups);
}

SharedBytes Published::make_gzip(MetricGroups groups) const {
  return get(metrics_gzip_[index_of(groups)], making_metrics_,
             [&] { return pages_->gzip(step(), groups); });
}

SharedBytes Published::report_json() const {
  return get(report_json_, making_json_, [&] { return write_json_(*report_); });
}

void Publisher::publish(std::shared_ptr<const Report> report, const std::vector<FaultEvent>& events,
                        MonitorFigures monitor) {
  for (const FaultEvent& event : events) counts_.add(event);
  auto next = std::make_shared<const Published>(std::move(report), counts_, std::move(monitor),
                                                json_.report, pages_);
  const auto published = next;
  {
    const std::lock_guard lock(mutex_);
    current_.swap(next);  // the former step dies after the lock, or with its last reader
    for (const FaultEvent& event : events)
      events_.push_back(std::make_shared<const FaultEvent>(event));
    event_count_ += events.size();
    while (events_.size() > kMaxEvents) events_.pop_front();
  }
  // After the news is out. Not with every step: who scrapes seldom is answered from what is made
  // then.
  if (next) published->prepare_as(*next);
}

void Publisher::set_configuration(ShownConfiguration configuration) {
  const std::lock_guard lock(mutex_);
  std::swap(configuration_, configuration);  // the former dies after the lock
}

ShownConfiguration Publisher::configuration() const {
  const std::lock_guard lock(mutex_);
  return configuration_;
}

void Publisher::remember(std::vector<FaultEvent> events) {
  const std::lock_guard lock(mutex_);
  for (FaultEvent& event : events)
    events_.push_back(std::make_shared<const FaultEvent>(std::move(event)));
  event_count_ += events.size();
  while (events_.size() > kMaxEvents) events_.pop_front();
}

std::shared_ptr<const Published> Publisher::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

Publisher::EventsAfter Publisher::events_after(std::uint64_t after) const {
  const std::lock_guard lock(mutex_);
  EventsAfter out{{}, event_count_};
  const std::uint64_t first =
      event_count_ - events_.size();  // number of the one before the oldest kept
  for (std::uint64_t at = std::max(after, first); at < event_count_; ++at)
    out.events.push_back(events_[static_cast<std::size_t>(at - first)]);
  return out;
}

std::string Publisher::events_json(std::size_t limit) const {
  std::vector<std::shared_ptr<const FaultEvent>> latest;
  {
    const std::lock_guard lock(mutex_);
    const auto count = static_cast<std::ptrdiff_t>(std::min(limit, events_.size()));
    latest.assign(events_.end() - count, events_.end());
  }
  std::string text = "{\"events\":[";
  for (std::size_t i = 0; i < latest.size(); ++i)
    text += (i == 0 ? "" : ",") + json_.event(*latest[i]);
  return text + "]}\n";
}

}  // namespace linkhealth
