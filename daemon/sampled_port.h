// One port as the sampler keeps it: who reads it, and what each source last said.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/port_reader.h"
#include "model/snapshot.h"
#include "probes/inventory.h"
#include "probes/netdev_sysfs.h"
#include "probes/rtnl_link.h"

namespace linkhealth {

struct SampledPort {
  // What each poll looks at, side by side: after a second every cache line has to be fetched anew.
  bool gone = false;
  bool link_news = true;      ///< one of the sources said something else since the last snapshot
  bool show = false;          ///< put the link into the next snapshot even when it did not change
  bool kernel_again = false;  ///< something happened while the worker was reading `kernel`
  std::string link_gap;       ///< why `files` can't be opened, or not all be read, though they are
                              ///< there; "": they can
  std::optional<SteadyTime> link_changed_at;
  std::shared_ptr<PortReader> reader;
  std::optional<NetdevReader> files;  ///< none: no netdev, or it can't be opened
  std::optional<LinkSample> netdev;   ///< what the lock-free files last said
  InventoryPort port;
  Shared<PortId> id;      ///< that of `port`, for every sample of it
  LinkSample kernel;      ///< what the read worker last said: verbs state, speed, FEC, down reason
  bool no_cable = false;  ///< its down reason, as the module reader was told it
  std::optional<LinkSample> last_shown;  ///< both together, as in the last snapshot that had them
  std::uint32_t firmware_reads = 0;      ///< of its last reading of verbs counters; 0: none yet
  bool module_seen = false;
  std::uint64_t found_after = 0;   ///< the number of the device event that it was found after
  bool has_module_reader = false;  ///< ethtool gives the module, or says that there is none
  unsigned module_failures = 0;    ///< of ethtool's readings of the module, one after the other
  bool module_imported =
      false;  ///< somebody else's reading of the module stands, newer than ethtool's last
  std::string_view import_refused;  ///< why it does not, as the gap says it; "": it may
  std::optional<bool>
      imported_present;         ///< whether a module was there, as the last such reading says
  std::string module_serial;    ///< the last that ethtool gave; "" none
  std::string imported_serial;  ///< and the last that it named; "" none
  bool moved = false;           ///< its netdev went to another network namespace
  bool lent = false;            ///< somebody else has it since it was found: it has no files here
  unsigned misses = 0;          ///< searches in a row that did not find it
  std::string
      lost_device;  ///< the RDMA device that it was, when only its network interface is left
  unsigned fatal_health =
      0;  ///< readings, one after the other, in which devlink said that device or firmware failed
  bool fatal_health_told = false;  ///< of these readings

  [[nodiscard]] bool watched() const { return port.exempt_reason.empty(); }
  /// Whether its verbs files are read: also of a port that nobody judges, so that who watches nodes
  /// by those counters misses none.
  [[nodiscard]] bool is_counted() const { return port.id.verbs && !lent; }
  /// What the sources say together. What was true while the link was up is not carried over to a
  /// link that is down.
  [[nodiscard]] LinkSample link() const;
};

}  // namespace linkhealth
