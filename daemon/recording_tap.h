// Where a running daemon's recording can be listened to. The deciding thread pushes each snapshot's
// line and never waits; a listener (a server thread) takes lines at its own pace and is dropped
// when it falls too far behind.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace linkhealth {

class RecordingTap {
 public:
  enum class State { kLine, kNothingYet, kEnded, kFellBehind };

  class Listener {
   public:
    /// The next line, header first, waiting at most `wait` for it. `now`: of the clock that
    /// listen() was told.
    State next(SteadyTime now, Milliseconds wait, std::string& line);

   private:
    friend class RecordingTap;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::string> lines_;
    std::size_t bytes_ = 0;
    Milliseconds duration_{0};
    SteadyTime deadline_;  ///< on the listener's clock
    std::optional<SteadyTime>
        until_;  ///< on the snapshots' clock, which a played recording has of its own
    std::optional<SteadyTime>
        begins_at_;  ///< of the first line, which says all that was known then
    bool ended_ = false;
    bool fell_behind_ = false;
  };

  explicit RecordingTap(std::size_t max_listeners = 2, std::size_t max_waiting_bytes = 16U << 20U)
      : max_listeners_(max_listeners), max_waiting_bytes_(max_waiting_bytes) {}

  /// The first line of every recording; without it nobody can listen.
  void set_header(std::string line);
  /// What is known (note()) at once, then everything that comes, until `duration` has passed from
  /// `now` on, also when nothing comes, or between the first snapshot that comes and the last one.
  /// An error when too many listen already. Hold the pointer for as long as you listen.
  Result<std::shared_ptr<Listener>> listen(SteadyTime now, Milliseconds duration);
  /// Whether anybody listens: the line need not be made when not.
  [[nodiscard]] bool wanted() const;
  /// How to say all that is known at the step of `t`, without a newline: groups that are not due
  /// while somebody listens would be missing. Called on the listener's thread, at any later time.
  /// Before that step's push().
  void note(SteadyTime t, std::function<std::string()> all_known);
  /// One snapshot's line, without its newline. Never blocks on a listener.
  void push(SteadyTime t, const std::string& line);
  /// Ends all recordings in good order.
  void close();

 private:
  std::vector<std::shared_ptr<Listener>> listeners() const;

  mutable std::mutex mutex_;
  std::size_t max_listeners_;
  std::size_t max_waiting_bytes_;
  std::string header_;
  SteadyTime noted_at_;
  std::function<std::string()> all_known_;
  bool closed_ = false;
  mutable std::vector<std::weak_ptr<Listener>> listeners_;
};

}  // namespace linkhealth
