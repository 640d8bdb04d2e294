// Hands the lines of a running recording to those who asked for one (`linkhealth record`). The deciding thread
// publishes and never waits; a listener that is too slow loses its recording, with a reason, rather than slowing the
// daemon.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace linkhealth {

class RecordingHub {
 public:
  class Subscription {
   public:
    /// The next line, newline included; waits at most `patience`. nullopt: none came, or it is over (see over()).
    std::optional<std::string> next(Milliseconds patience);
    /// True when no line will come any more: the daemon stops, or this listener was too slow.
    [[nodiscard]] bool over() const;

   private:
    friend class RecordingHub;
    mutable std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::string> lines_;
    std::size_t bytes_ = 0;
    bool over_ = false;
  };

  /// At most `max_listeners` at once, each at most `max_bytes` behind.
  explicit RecordingHub(std::size_t max_listeners = 4, std::size_t max_bytes = std::size_t{64} << 20U);

  /// nullptr when there are too many listeners already.
  std::shared_ptr<Subscription> subscribe();
  /// True when somebody has come since the last publish(): the next line should hold everything that is known.
  [[nodiscard]] bool has_newcomer() const;
  [[nodiscard]] bool has_listeners() const;
  /// `opening` goes to newcomers instead of `line`: the header and a snapshot with every group.
  void publish(const std::string& opening, const std::string& line);
  /// Ends all subscriptions.
  void close();

 private:
  struct Listener {
    std::weak_ptr<Subscription> subscription;
    bool newcomer = true;
  };

  std::size_t max_listeners_;
  std::size_t max_bytes_;
  mutable std::mutex mutex_;
  std::vector<Listener> listeners_;
  bool closed_ = false;
};

}  // namespace linkhealth
