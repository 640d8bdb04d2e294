// All sources of far-end knowledge, each read on a thread of its own, and their readings merged by
// port. A source that hangs delays no other.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/sampling/blocking_read_pool.h"
#include "daemon/sampling/peer_merge.h"
#include "model/expected_ports.h"

namespace linkhealth {

struct FarEndTiming {
  /// How long a reading without an end of its own is valid.
  Milliseconds hold{300'000};
  /// A round that takes longer is reported as hung.
  Milliseconds patience{30'000};
};

class FarEnds {
 public:
  /// The shortest time between two rounds, whatever a probe returns as its next time.
  static constexpr Milliseconds kShortestPause{50};

  /// `clock` must outlive every read, also those that hang: it belongs to main().
  FarEnds(std::vector<std::unique_ptr<PeerProbe>> probes, const Clock& clock, FarEndTiming timing,
          ExpectedPorts plan);
  ~FarEnds();
  FarEnds(const FarEnds&) = delete;
  FarEnds& operator=(const FarEnds&) = delete;

  /// Another plan, in force with the next set_ports().
  void set_plan(ExpectedPorts plan) { plan_ = std::move(plan); }
  /// The ports from now on; sources read a change at once, and nothing before the first call.
  /// Probes get exempt ports too: see PeerProbe::read().
  void set_ports(std::vector<InventoryPort> ports);
  /// Whether a port has carrier: when that is first known, and when it changes.
  void set_carrier(const PortKey& port, bool carrier) { merge_.set_carrier(port, carrier); }

  struct News {
    std::map<PortKey, MergedPeer> ports;
    std::vector<ProbeTiming> timings;
  };
  /// Starts the rounds that are due, and gives what came since the last call; never waits.
  News poll();
  /// When poll() has a round to start.
  [[nodiscard]] std::optional<SteadyTime> next_due() const;
  /// Of the whole node: sources that could not be read at all, and sources that hang.
  [[nodiscard]] SourceReports reports() const;

  /// The sources that are on: "peer_mad", "peer_lldp", "import".
  [[nodiscard]] std::set<std::string> sources() const;
  /// Whether each source has answered once.
  [[nodiscard]] bool settled() const;
  /// Readable when a round has ended.
  [[nodiscard]] std::vector<int> wake_fds() const;

 private:
  struct Source;
  void start_round(Source& source);

  const Clock& clock_;
  FarEndTiming timing_;
  ExpectedPorts plan_;  ///< by any name of a port
  std::vector<InventoryPort> ports_;
  bool has_ports_ = false;
  PeerMerge merge_;
  News news_;
  std::vector<std::unique_ptr<Source>> sources_;  ///< last: rounds need all of the above
};

}  // namespace linkhealth
