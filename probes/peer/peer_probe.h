// What every source of far-end knowledge has in common: InfiniBand MADs, LLDP, imported files. Each
// may wait for a peer that does not answer, so each has a thread of its own and is never waited
// for.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"
#include "probes/sysfs/inventory.h"

namespace linkhealth {

/// What one source says of one port. A reading replaces what the same source said of that port
/// before. Without `peer` and with a gap the source could not be asked: what it said before stands
/// until it is too old.
struct PeerReading {
  PortKey port;                    ///< "" for a gap of the whole node
  SteadyTime read_at;              ///< `peer.age_s` counts from here
  std::optional<PeerSample> peer;  ///< what is known of the far end
  std::optional<ModuleSample>
      module;  ///< of this end, where somebody else reads it (imported files)
  std::vector<Gap> gaps;
  /// The source could be asked, and this is all it knows: what it said before and does not say now
  /// stands no longer.
  bool answered = false;
  /// When `module` was read, where that was at another time.
  std::optional<SteadyTime> module_read_at;
  /// When the reading ends, where it says so itself; otherwise it stands as long as configuration
  /// says.
  std::optional<SteadyTime> valid_until;
};

/// One call at a time, maybe of different threads.
class PeerProbe {
 public:
  virtual ~PeerProbe() = default;
  /// The word in gaps, timings and metrics: "peer_mad", "peer_lldp", "import".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Whatever is due of these ports, but for exempt ones, of which nobody is asked; may take its
  /// time, but bounds each wait. A gap of the whole node that is not said again is over.
  virtual std::vector<PeerReading> read(std::span<const InventoryPort> ports, SteadyTime now) = 0;
  /// When read() has something to do again.
  [[nodiscard]] virtual SteadyTime next_due(SteadyTime now) const = 0;
};

}  // namespace linkhealth
