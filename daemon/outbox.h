// The events that are still to be sent, by who sends them. The durable one keeps them over a kill
// (storage/); this one in memory is for a daemon without a state directory and for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/port_past.h"
#include "model/report.h"

namespace linkhealth {

struct OutboxEvent {
  std::string id;  ///< event_id(): the same whenever it is sent
  FaultEvent event;
};

/// Any thread.
class Outbox {
 public:
  virtual ~Outbox() = default;
  /// Makes `sink` known. One that is new begins with the next event.
  virtual void add_sink(const std::string& sink) = 0;
  /// What `sink` was not marked to have sent, oldest first, at most `limit`.
  virtual Result<std::vector<OutboxEvent>> undelivered(const std::string& sink,
                                                       std::size_t limit) = 0;
  /// This event and all before it were sent by `sink`, or never will be.
  virtual void mark_delivered(const std::string& sink, const std::string& id) = 0;
};

class MemoryOutbox : public Outbox {
 public:
  static constexpr std::size_t kMaxEvents = 2000;  ///< the oldest is forgotten, sent or not

  void put(const FaultEvent& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back({event_id(event), event});
    ++end_;
    if (events_.size() > kMaxEvents) events_.pop_front();
  }
  void add_sink(const std::string& sink) override {
    const std::lock_guard lock(mutex_);
    sent_.emplace(sink, end_);
  }
  Result<std::vector<OutboxEvent>> undelivered(const std::string& sink,
                                               std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    const auto found = sent_.find(sink);
    if (found == sent_.end()) return std::vector<OutboxEvent>();
    const std::uint64_t first = end_ - events_.size();
    std::vector<OutboxEvent> out;
    for (std::uint64_t at = std::max(found->second, first); at < end_ && out.size() < limit; ++at)
      out.push_back(events_[static_cast<std::size_t>(at - first)]);
    return out;
  }
  void mark_delivered(const std::string& sink, const std::string& id) override {
    const std::lock_guard lock(mutex_);
    const std::uint64_t first = end_ - events_.size();
    for (std::uint64_t at = end_; at > first; --at)
      if (events_[static_cast<std::size_t>(at - 1 - first)].id == id) {
        sent_[sink] = std::max(sent_[sink], at);
        return;
      }
  }

 private:
  std::mutex mutex_;
  std::deque<OutboxEvent> events_;
  std::uint64_t end_ = 0;  ///< how many there ever were
  std::map<std::string, std::uint64_t> sent_;
};

}  // namespace linkhealth
