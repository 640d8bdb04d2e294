// Recordings of the running daemon for several listeners. The deciding thread publishes each
// snapshot and never waits for a client; the HTTP server fetches lines at its client's pace, and a
// listener that falls too far behind is disconnected.
#pragma once

#include <cstddef>
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
  using MakeLine = std::function<std::string()>;

  /// One recording. It ends when its owner destroys it.
  class Listener {
   public:
    /// Appends the waiting lines, header first. `now`: on the clock passed to listen().
    HttpStream::State next(SteadyTime now, std::string& lines);

   private:
    friend class RecordingBroadcaster;
    std::mutex mutex_;
    std::string lines_;
    Milliseconds duration_{0};
    SteadyTime deadline_;  ///< on the listener's clock
    /// On the snapshots' clock, which differs for a played recording.
    std::optional<SteadyTime> until_;
    bool ended_ = false;
    bool fell_behind_ = false;
  };

  explicit RecordingBroadcaster(std::size_t max_listeners = 2,
                                std::size_t max_waiting_bytes = std::size_t{16} << 20U)
      : max_listeners_(max_listeners), max_waiting_bytes_(max_waiting_bytes) {}

  /// Sets the function that makes the first line of every recording; without it listen() fails.
  /// listen() calls it.
  void set_header(MakeLine make_header);
  /// Publishes the snapshot of `t`. `make_known` returns a line with the last value of every group,
  /// with which a later recording begins; listen() calls it. `make_line` returns the snapshot's own
  /// line; it is called at once, if there is a listener. Lines have no newline.
  void publish(SteadyTime t, MakeLine make_known, const MakeLine& make_line);
  /// The known values at once, then each snapshot, until `duration` has passed since `now` or
  /// between the first and the last snapshot. An error if there are too many listeners.
  Result<std::shared_ptr<Listener>> listen(SteadyTime now, Milliseconds duration);
  [[nodiscard]] bool has_listeners() const;
  /// Ends all recordings regularly.
  void close();

 private:
  /// REQUIRES: mutex_ is held.
  [[nodiscard]] std::vector<std::shared_ptr<Listener>> listeners() const;

  const std::size_t max_listeners_;
  const std::size_t max_waiting_bytes_;
  mutable std::mutex mutex_;  ///< protects what follows
  MakeLine make_header_;
  MakeLine make_known_;
  bool closed_ = false;
  mutable std::vector<std::weak_ptr<Listener>> listeners_;
};

}  // namespace linkhealth
