// All sources of far-end data, each read on its own thread, and their readings merged by port. A
// source that hangs delays no other.
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
  /// Validity of a reading that does not state its own end.
  Milliseconds hold{300'000};
  /// A round that takes longer is reported as hung.
  Milliseconds patience{30'000};
};

class FarEnds {
 public:
  /// The shortest time between two rounds, whatever next time a probe returns.
  static constexpr Milliseconds kShortestPause{50};

  /// `clock` must outlive every read, also those that hang: it belongs to main().
  FarEnds(std::vector<std::unique_ptr<PeerProbe>> probes, const Clock& clock, FarEndTiming timing,
          ExpectedPorts plan);
  ~FarEnds();
  FarEnds(const FarEnds&) = delete;
  FarEnds& operator=(const FarEnds&) = delete;

  /// Sets another plan, used from the next set_ports() on.
  void set_plan(ExpectedPorts plan) { plan_ = std::move(plan); }
  /// Sets the ports; sources read after a change at once, and nothing before the first call. Probes
  /// also get exempt ports: see PeerProbe::read().
  void set_ports(std::vector<InventoryPort> ports);
  /// Whether a port has carrier: call when it is first known, and when it changes.
  void set_carrier(const PortKey& port, bool carrier) { merge_.set_carrier(port, carrier); }

  struct News {
    std::map<PortKey, MergedPeer> ports;
    std::vector<ProbeTiming> timings;
  };
  /// Starts the rounds that are due, and returns what has arrived since the last call; never waits.
  News poll();
  /// When poll() has a round to start.
  [[nodiscard]] std::optional<SteadyTime> next_due() const;
  /// For the whole node: sources that could not be read at all, and sources that hang.
  [[nodiscard]] SourceReports reports() const;

  /// The enabled sources: "peer_mad", "peer_lldp", "import".
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
