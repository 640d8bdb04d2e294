// One source of far-end knowledge on a thread of its own. Nobody waits for it: finished rounds are
// picked up when the event descriptor says so, and a round that hangs is named, not waited for.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "probes/peer_probe.h"

namespace linkhealth {

/// What one call of PeerProbe::read gave.
struct PeerRound {
  std::vector<PeerReading> readings;
  double duration_s = 0;
};

class PeerReader {
 public:
  /// Starts the thread; `probe` is used by it alone. `clock` must outlive every read, also those
  /// left behind: it belongs to main().
  PeerReader(std::unique_ptr<PeerProbe> probe, const Clock& clock);
  /// Ends the thread. A read that hangs cannot be cancelled: after kStopPatience its thread is left
  /// behind; it touches only what it owns, and ends when the read does.
  ~PeerReader();
  PeerReader(const PeerReader&) = delete;
  PeerReader& operator=(const PeerReader&) = delete;

  /// The ports from now on; a change is read at once. Nothing is read before the first call.
  void set_ports(std::vector<InventoryPort> ports);
  /// Rounds that have ended. Makes event_fd() unreadable.
  std::vector<PeerRound> take_finished();
  /// Since when the round takes that has not ended.
  [[nodiscard]] std::optional<SteadyTime> busy_since() const;
  /// Whether a round has ended.
  [[nodiscard]] bool has_answered() const;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int event_fd() const;

  static constexpr Milliseconds kStopPatience{200};
  /// Not more often than this, whatever a probe says of its next time.
  static constexpr Milliseconds kShortestPause{50};

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);
  static void read_round(Shared& shared, std::unique_lock<std::mutex>& lock);

  std::string name_;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace linkhealth
