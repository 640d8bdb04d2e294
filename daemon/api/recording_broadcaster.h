// Recordings of the running daemon for several listeners. The deciding thread publishes each
// snapshot and never waits for a client; the HTTP server takes lines at its client's pace, and a
// listener that falls too far behind is cut.
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

  /// One recording. It ends with its owner.
  class Listener {
   public:
    /// Appends the lines that wait, header first. `now`: of the clock that listen() was given.
    HttpStream::State next(SteadyTime now, std::string& lines);

   private:
    friend class RecordingBroadcaster;
    std::mutex mutex_;
    std::string lines_;
    Milliseconds duration_{0};
    SteadyTime deadline_;              ///< on the listener's clock
    std::optional<SteadyTime> until_;  ///< on the snapshots' clock: a played recording has its own
    bool ended_ = false;
    bool fell_behind_ = false;
  };

  explicit RecordingBroadcaster(std::size_t max_listeners = 2,
                                std::size_t max_waiting_bytes = std::size_t{16} << 20U)
      : max_listeners_(max_listeners), max_waiting_bytes_(max_waiting_bytes) {}

  /// Makes the first line of every recording; without it listen() fails. It is called by listen().
  void set_header(MakeLine make_header);
  /// The snapshot of `t`. `make_known` gives a line with the last value of every group, with which
  /// a recording that starts later begins; listen() calls it. `make_line` gives the snapshot's own
  /// line; called at once, if there is a listener. Lines are without a newline.
  void publish(SteadyTime t, MakeLine make_known, const MakeLine& make_line);
  /// What is known at once, then each snapshot, until `duration` has passed since `now`, or between
  /// the first snapshot and the last. An error when too many listen already.
  Result<std::shared_ptr<Listener>> listen(SteadyTime now, Milliseconds duration);
  [[nodiscard]] bool has_listeners() const;
  /// Ends all recordings in good order.
  void close();

 private:
  /// REQUIRES: mutex_ is held.
  [[nodiscard]] std::vector<std::shared_ptr<Listener>> listeners() const;

  const std::size_t max_listeners_;
  const std::size_t max_waiting_bytes_;
  mutable std::mutex mutex_;  ///< guards what follows
  MakeLine make_header_;
  MakeLine make_known_;
  bool closed_ = false;
  mutable std::vector<std::weak_ptr<Listener>> listeners_;
};

}  // namespace linkhealth
