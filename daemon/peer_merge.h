// What several sources say of the far ends, joined into one PeerSample a port. Pure: readings and
// times in, samples and gaps out.
//
//   trust      mad > lldp > import (telemetry, fleet) > plan
//   names      the first that names somebody; "plan" only where nobody else says anything
//   state      link and counters each from the most trusted source that has them; one that answered
//   in its last round
//              before one that did not (a MAD cannot cross a link that is down), and never one that
//              names another far end: that is a gap
//   module     the most trusted source that has one, and never one that names another far end
//              link, counters and module say their source and age where these are not those of the
//              names
//   how long   until the reading's own end, otherwise `hold` after it was read; then there is a
//   gap, not a reading link down  nobody can ask across it, and lldpd drops its neighbour at once.
//   Whom a MAD or LLDP named last stays
//              named, with a gap that says so, until a MAD, LLDP or an import that does not name
//              another does, or, with the link back, nobody does
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"
#include "probes/peer_probe.h"

namespace linkhealth {

/// What the merge has to say of one port; goes into the snapshot as it is.
struct MergedPeer {
  /// An empty sample: what was said before stands no longer.
  std::optional<PeerSample> peer;
  /// This end's module where somebody else reads it; only when it is new.
  std::optional<ModuleSample> module;
  SteadyTime module_read_at;
  bool module_ended = false;  ///< nobody else reads this end's module any more
  std::vector<Gap> gaps;
};

class PeerMerge {
 public:
  /// `plan`: what configuration says is at the far end of each port; only its names are used.
  PeerMerge(Milliseconds hold, std::map<PortKey, ExpectedPort> plan)
      : hold_(hold), plan_(std::move(plan)) {}

  void set_plan(std::map<PortKey, ExpectedPort> plan);
  /// The ports there are; what is known of others is dropped.
  void set_ports(const std::set<PortKey>& ports);
  /// Whether the port has carrier: when that is first known, and when it changes.
  void set_carrier(const PortKey& port, bool carrier);
  /// One round of a source. REQUIRES: `probe` is "peer_mad", "peer_lldp" or "import".
  void take(const std::string& probe, std::vector<PeerReading> readings);
  /// Every port of which there is something new to say, and what has ended since.
  std::map<PortKey, MergedPeer> take_changes(SteadyTime now);
  /// Of the whole node, as of each source's last round.
  [[nodiscard]] std::vector<Gap> node_gaps() const;

 private:
  /// What one source last said of one port.
  struct Said {
    std::optional<PeerReading> reading;  ///< with a peer or a module; none: nothing, or it ended
    std::vector<Gap> gaps;
    bool failed = false;  ///< no answer in its last round: its reading is of before
  };
  struct Port {
    std::map<std::size_t, Said> said;  ///< by rank: most trusted first
    bool changed = true;
    bool shown = false;  ///< a sample with something in it was given out
    bool module_new = false;
    bool module_ended = false;
    bool down = false;
    std::optional<PeerReading> last_named;  ///< names only, of a MAD's or LLDP's reading that ended
    bool names_stand = false;               ///< it ended with the link, and is given out
    Milliseconds named_for{};  ///< so long from `named_since` on, unless the link is down
    std::optional<SteadyTime> named_since;  ///< nullopt: since the next take_changes()
    [[nodiscard]] const PeerReading* named_before() const {
      return names_stand && last_named ? &*last_named : nullptr;
    }
  };

  bool take_reading(Port& port, std::size_t rank, PeerReading reading);
  static void keep_names(Port& port, std::size_t rank);
  static void end_names(Port& port, SteadyTime now);
  void end_old(Port& port, const PortKey& key, SteadyTime now);
  MergedPeer merged(Port& port, const PortKey& key, SteadyTime now) const;
  template <typename Fits>
  static const PeerReading* most_trusted(const Port& port, Fits fits);
  static const PeerReading* who_is_there(const Port& port);
  static const PeerReading* first_with_module(const Port& port, const PeerReading* who);
  static void add_contradictions(const Port& port, const PortKey& key, std::vector<Gap>& gaps);
  [[nodiscard]] PeerSample join(const Port& port, const PortKey& key, SteadyTime now) const;

  Milliseconds hold_;
  std::map<PortKey, ExpectedPort> plan_;
  std::map<PortKey, Port> ports_;
  std::map<std::string, std::vector<Gap>> node_gaps_;
};

}  // namespace linkhealth
