// The sources of far-end data: InfiniBand MADs, LLDP, imported files. Each may wait for a peer that
// does not answer, so each has its own thread, and no other thread waits for it.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"
#include "probes/sysfs/inventory.h"

namespace linkhealth {

/// One source's data about one port. It replaces the same source's earlier reading of that port.
/// With a gap and without `peer`, the source could not be read: the earlier reading stays until it
/// is stale.
struct PeerReading {
  PortKey port;                        ///< "" for a gap of the whole node
  SteadyTime read_at;                  ///< `peer.age_s` counts from here
  std::optional<PeerSample> peer;      ///< what is known of the far end
  std::optional<ModuleSample> module;  ///< of this end, read by another program (imported files)
  std::vector<Gap> gaps;
  /// The source was read, and this is all it has: anything missing here ends.
  bool answered = false;
  /// When `module` was read, if at a different time.
  std::optional<SteadyTime> module_read_at;
  /// When the reading expires, if the source states it; otherwise configuration decides.
  std::optional<SteadyTime> valid_until;
};

/// One call at a time, possibly from different threads.
class PeerProbe {
 public:
  virtual ~PeerProbe() = default;
  /// The name in gaps, timings and metrics: "peer_mad", "peer_lldp", "import".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Reads everything due on these ports, except exempt ones. May take long, but bounds each wait.
  /// A gap of the whole node ends when it is not repeated.
  virtual std::vector<PeerReading> read(std::span<const InventoryPort> ports, SteadyTime now) = 0;
  /// When read() next has something to do.
  [[nodiscard]] virtual SteadyTime next_due(SteadyTime now) const = 0;
};

}  // namespace linkhealth
