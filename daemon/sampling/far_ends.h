// All sources of far-end knowledge: a thread each, and what they say joined by
// port.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/sampling/peer_merge.h"
#include "daemon/sampling/peer_reader.h"
#include "model/expected_ports.h"

namespace linkhealth {

struct FarEndTiming {
  /// How long a reading stands that says no end of its own.
  Milliseconds hold{300'000};
  /// A round that takes longer is reported as hung.
  Milliseconds patience{30'000};
};

class FarEnds {
 public:
  /// Starts a thread for each probe. `clock` belongs to main(): see PeerReader.
  FarEnds(std::vector<std::unique_ptr<PeerProbe>> probes, const Clock& clock, FarEndTiming timing,
          ExpectedPorts plan);

  /// Another plan, in force with the next set_ports().
  void set_plan(ExpectedPorts plan) { plan_ = std::move(plan); }
  /// Nobody is asked who is behind an exempt port; the probes are told of them all the same: see
  /// PeerProbe::read().
  void set_ports(const std::vector<InventoryPort>& ports);

  struct News {
    std::map<PortKey, MergedPeer> ports;
    std::vector<ProbeTiming> timings;
  };
  /// Whether a port has carrier: when that is first known, and when it changes.
  void set_carrier(const PortKey& port, bool carrier) { merge_.set_carrier(port, carrier); }
  /// What is new since the last call; never waits.
  News take(SteadyTime now);
  /// Of the whole node: what a source could not read at all, and sources that hang.
  [[nodiscard]] SourceReports reports(SteadyTime now) const;

  /// "peer_mad", "peer_lldp", "import": those that are on.
  [[nodiscard]] std::set<std::string> sources() const;
  /// Whether each source has answered once.
  [[nodiscard]] bool settled() const;
  /// Readable when there is something to take.
  [[nodiscard]] std::vector<int> wake_fds() const;

 private:
  FarEndTiming timing_;
  ExpectedPorts plan_;  ///< by any name of a port
  PeerMerge merge_;
  std::vector<std::unique_ptr<PeerReader>> readers_;
};

}  // namespace linkhealth
