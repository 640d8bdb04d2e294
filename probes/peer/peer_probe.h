// The sources of far-end data: InfiniBand MADs, LLDP, imported files. Each may wait for a peer that
// does not answer, so each has a thread of its own, for which no other thread waits.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"
#include "probes/sysfs/inventory.h"

namespace linkhealth {

/// One source's data of one port. It replaces the same source's earlier reading of that port.
/// Without `peer` and with a gap the source could not be read: the earlier reading stays until it
/// is too old.
struct PeerReading {
  PortKey port;                        ///< "" for a gap of the whole node
  SteadyTime read_at;                  ///< `peer.age_s` counts from here
  std::optional<PeerSample> peer;      ///< what is known of the far end
  std::optional<ModuleSample> module;  ///< of this end, read by another program (imported files)
  std::vector<Gap> gaps;
  /// The source was read, and this is all it knows: what is missing here ends.
  bool answered = false;
  /// When `module` was read, if at another time.
  std::optional<SteadyTime> module_read_at;
  /// When the reading ends, if the source states it; otherwise configuration decides.
  std::optional<SteadyTime> valid_until;
};

/// One call at a time, maybe of different threads.
class PeerProbe {
 public:
  virtual ~PeerProbe() = default;
  /// The name in gaps, timings and metrics: "peer_mad", "peer_lldp", "import".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Reads all that is due of these ports, without the exempt ones; may take long, but bounds each
  /// wait. A gap of the whole node ends when it is not repeated.
  virtual std::vector<PeerReading> read(std::span<const InventoryPort> ports, SteadyTime now) = 0;
  /// When read() has something to do again.
  [[nodiscard]] virtual SteadyTime next_due(SteadyTime now) const = 0;
};

}  // namespace linkhealth
