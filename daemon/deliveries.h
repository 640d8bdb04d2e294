// The thread that sends: asleep until an event comes or something is due.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "config/outputs.h"
#include "daemon/delivery.h"

namespace linkhealth {

class Deliveries {
 public:
  explicit Deliveries(const Clock& clock) : clock_(clock) {}
  ~Deliveries() { stop(); }
  Deliveries(const Deliveries&) = delete;
  Deliveries& operator=(const Deliveries&) = delete;

  struct Origin {
    AlertOrigin alerts;
    std::function<std::string(const FaultEvent&)> event_json;
  };
  /// What start() would refuse.
  static Result<void> check(const Outputs& outputs);
  /// Makes what is configured and starts the thread; nothing when nothing is. `outbox` and
  /// `publisher` must outlive it.
  Result<void> start(const Outputs& outputs, const Origin& origin, Outbox& outbox,
                     const Publisher& publisher, const Retry::Say& say);
  /// After each step of the deciding thread: `news` when there were events. Cheap, and silent
  /// unless there is something.
  void on_step(bool news);
  /// A dry run begins or ends: while it lasts nothing is sent, and what comes never will be.
  void set_muted(bool muted);
  /// Ends the thread: what is not sent stays in the outbox.
  void stop();

 private:
  Result<void> add(const Outputs& outputs, const Origin& origin, Outbox& outbox,
                   const Publisher& publisher, const Retry::Say& say);
  void run();

  const Clock& clock_;
  std::vector<std::unique_ptr<Delivery>> all_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool news_ = false, began_ = false, muted_ = false;
  std::thread thread_;
};

}  // namespace linkhealth
