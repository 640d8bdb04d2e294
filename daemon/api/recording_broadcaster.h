// Recordings of the running daemon for several listeners. The deciding thread publishes the line of
// each snapshot and never waits; the HTTP server takes lines at its client's pace, and a listener
// that falls too far behind is cut.
#pragma once

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
#include "daemon/http/http_message.h"

namespace linkhealth {

class RecordingBroadcaster {
 public:
  /// One recording. It ends with its owner.
  class Listener {
   public:
    /// Appends the lines that wait, header first. `now`: of the clock that listen() was given.
    HttpStream::State next(SteadyTime now, std::string& lines);

   private:
    friend class RecordingBroadcaster;
    std::mutex mutex_;
    std::deque<std::string> lines_;
    std::size_t waiting_bytes_ = 0;
    Milliseconds duration_{0};
    SteadyTime deadline_;              ///< on the listener's clock
    std::optional<SteadyTime> until_;  ///< on the snapshots' clock: a played recording has its own
    std::optional<SteadyTime> begins_after_;  ///< the first line has everything known until then
    bool ended_ = false;
    bool fell_behind_ = false;
  };

  explicit RecordingBroadcaster(std::size_t max_listeners = 2,
                                std::size_t max_waiting_bytes = std::size_t{16} << 20U)
      : max_listeners_(max_listeners), max_waiting_bytes_(max_waiting_bytes) {}

  /// The first line of every recording; without it listen() fails.
  void set_header(std::string line);
  /// A line with everything that is known at the step of `t`, without a newline: else what is not
  /// due while a client listens would be missing. `make` is called on the listener's thread, at any
  /// later time. Before that step's publish().
  void set_known(SteadyTime t, std::function<std::string()> make);
  /// What is known at once, then each line that is published, until `duration` has passed since
  /// `now`, or between the first snapshot and the last. An error when too many listen already.
  Result<std::shared_ptr<Listener>> listen(SteadyTime now, Milliseconds duration);
  /// Whether the next line has a listener.
  [[nodiscard]] bool has_listeners() const { return !listeners().empty(); }
  /// One snapshot's line, without its newline.
  void publish(SteadyTime t, const std::string& line);
  /// Ends all recordings in good order.
  void close();

 private:
  [[nodiscard]] std::vector<std::shared_ptr<Listener>> listeners() const;

  const std::size_t max_listeners_;
  const std::size_t max_waiting_bytes_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::string header_;
  SteadyTime known_at_;
  std::function<std::string()> make_known_;
  bool closed_ = false;
  mutable std::vector<std::weak_ptr<Listener>> listeners_;
};

}  // namespace linkhealth
