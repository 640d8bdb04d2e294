// One port as the sampler keeps it: who reads it, and what each source last said.
#pragma once

#include <memory>
#include <optional>

#include "daemon/port_reader.h"
#include "model/snapshot.h"
#include "probes/inventory.h"
#include "probes/netdev_sysfs.h"
#include "probes/rtnl_link.h"

namespace linkhealth {

struct SampledPort {
  InventoryPort port;
  std::shared_ptr<PortReader> reader;
  std::optional<NetdevReader> files;     ///< none: no netdev, or it can't be opened
  std::optional<LinkSample> netdev;      ///< what the lock-free files last said
  LinkSample kernel;                     ///< what the read worker last said: verbs state, speed, FEC, down reason
  std::optional<LinkSample> last_shown;  ///< both together, as in the last snapshot that had them
  bool show = false;                     ///< put the link into the next snapshot even when it did not change
  bool module_seen = false;
  bool gone = false;
  bool fatal_health = false;  ///< devlink says that device or firmware have failed

  [[nodiscard]] bool watched() const { return port.exempt_reason.empty(); }
  /// What the sources say together. What was true while the link was up is not carried over to a link that is down.
  [[nodiscard]] LinkSample link() const;
};

/// What rtnl_link compares two readings by.
NetdevLink as_netdev(const LinkSample& link);

}  // namespace linkhealth
