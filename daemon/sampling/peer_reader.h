// One source of far-end readings on its own thread. Finished rounds are fetched
// when the event descriptor is readable; a round that hangs is named, never
// waited for.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "probes/peer/peer_probe.h"

namespace linkhealth {

/// The result of one PeerProbe::read().
struct PeerRound {
  std::vector<PeerReading> readings;
  double duration_s = 0;
};

class PeerReader {
 public:
  /// Starts the thread, which alone uses `probe`. `clock` must outlive every
  /// read, also those left behind: it belongs to main().
  PeerReader(std::unique_ptr<PeerProbe> probe, const Clock& clock);
  /// Ends the thread. A read that hangs cannot be cancelled: after
  /// kStopPatience its thread is left behind; it touches only what it owns, and
  /// ends when the read does.
  ~PeerReader();
  PeerReader(const PeerReader&) = delete;
  PeerReader& operator=(const PeerReader&) = delete;

  /// The ports from now on; a change is read at once. Nothing is read before
  /// the first call.
  void set_ports(std::vector<InventoryPort> ports);
  /// Rounds that have ended. Makes event_fd() unreadable.
  std::vector<PeerRound> take_finished();
  /// When the round that has not ended began.
  [[nodiscard]] std::optional<SteadyTime> busy_since() const;
  /// Whether a round has ended.
  [[nodiscard]] bool has_answered() const;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int event_fd() const;

  static constexpr Milliseconds kStopPatience{200};
  /// The shortest time between two rounds, whatever a probe returns as its next
  /// time.
  static constexpr Milliseconds kShortestPause{50};

 private:
  struct Shared;
  static void run(Shared& shared);
  static void read_round(Shared& shared, std::unique_lock<std::mutex>& lock);

  std::string name_;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace linkhealth
