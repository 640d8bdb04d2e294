// Merges the readings of the far ends from several sources into one PeerSample per port. Pure.
//
//   trust      mad > lldp > import (telemetry, fleet) > plan
//   names      from the most trusted source that has any; "plan" only if no other source reports
//              anything
//   state      link, counters and module each from the most trusted source that has them and does
//              not name another far end (that is a gap). For link and counters, sources that
//              answered in their last round come first (no MAD passes a link that is down). Their
//              source and age are recorded if they differ from those of the names
//   validity   until the reading's own end, otherwise `hold` after it was read; then it is a gap
//   link down  no MAD passes it, and lldpd drops its neighbour at once. The last names of MAD or
//              LLDP are kept, with a gap, until a source that does not contradict them names the
//              far end, or the link is back and no source does
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"
#include "probes/peer/peer_probe.h"

namespace linkhealth {

/// The changes of one port.
struct MergedPeer {
  /// An empty sample revokes the previous one and its gaps.
  std::optional<PeerSample> peer;
  /// This end's module from an import; only when it is new.
  std::optional<ModuleSample> module;
  SteadyTime module_read_at;
  bool module_ended = false;  ///< no import has this end's module any longer
  std::vector<Gap> gaps;
};

class PeerMerge {
 public:
  /// `plan`: the configured far end of each port; only its names are used.
  PeerMerge(Milliseconds hold, std::map<PortKey, ExpectedPort> plan)
      : hold_(hold), plan_(std::move(plan)) {}

  void set_plan(std::map<PortKey, ExpectedPort> plan) { plan_ = std::move(plan); }
  /// Sets the ports that exist; drops the readings of others.
  void set_ports(const std::set<PortKey>& ports);
  /// Whether the port has carrier: call when it is first known, and when it changes.
  void set_carrier(const PortKey& port, bool carrier);
  /// Adds one round of a source. REQUIRES: `probe` is "peer_mad", "peer_lldp" or "import".
  void add(const std::string& probe, std::vector<PeerReading> readings);
  /// Returns every port whose merged sample, module or gaps have changed.
  std::map<PortKey, MergedPeer> take_changes(SteadyTime now);
  /// For the whole node, from each source's last round.
  [[nodiscard]] std::vector<Gap> node_gaps() const;

 private:
  /// The last round of one source on one port.
  struct Source {
    std::optional<PeerReading> reading;  ///< with a peer or a module, until it ends
    std::vector<Gap> gaps;
    bool failed = false;  ///< no answer in the last round: `reading` is from an earlier one
  };
  /// Peer and module with their times, which are published as ages.
  struct Merged {
    PeerSample peer;
    std::optional<SteadyTime> names_at, link_at, counters_at, module_at;
    std::optional<ModuleSample> own_module;
    SteadyTime own_module_at;
    std::vector<Gap> gaps;
    bool operator==(const Merged&) const = default;
  };
  struct Port {
    std::map<std::size_t, Source> sources;  ///< by rank: most trusted first
    bool down = false;
    /// The last names of a MAD or LLDP, without the rest of that reading.
    std::optional<PeerReading> names;
    bool was_down = false;                    ///< since those names were read
    std::optional<SteadyTime> unnamed_since;  ///< the link is up, but neither source has names
    Merged published;
  };

  void add_reading(Port& port, std::size_t rank, PeerReading reading);
  void end_readings(Port& port, const PortKey& key, SteadyTime now) const;
  static void update_names(Port& port, SteadyTime now);
  static const PeerReading* find_names(const Port& port);
  [[nodiscard]] Merged merge(const Port& port, const PortKey& key) const;
  void merge_peer(const Port& port, const PeerReading* names, const PortKey& key,
                  Merged& merged) const;

  Milliseconds hold_;
  std::map<PortKey, ExpectedPort> plan_;
  std::map<PortKey, Port> ports_;
  std::map<std::string, std::vector<Gap>> node_gaps_;
};

}  // namespace linkhealth
