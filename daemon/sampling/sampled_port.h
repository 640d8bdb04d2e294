// One port as the sampler keeps it: its readers, and what each source last gave.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/sampling/port_reader.h"
#include "model/snapshot.h"
#include "probes/netlink/rtnl_link.h"
#include "probes/sysfs/inventory.h"
#include "probes/sysfs/netdev_sysfs.h"

namespace linkhealth {

struct SampledPort {
  // --- the port
  InventoryPort port;
  PortId id;                      ///< that of `port`, for every sample of it
  std::uint64_t found_after = 0;  ///< the number of the device event that it was found after
  bool gone = false;              ///< its files say so
  bool moved = false;             ///< its netdev went to another network namespace
  bool lent = false;              ///< another driver has the card since: it has no files here
  unsigned misses = 0;            ///< discoveries in a row that did not find it
  std::string lost_device;        ///< the RDMA device that it had, when only its netdev is left
  std::shared_ptr<PortReader> reader;

  // --- its link
  std::optional<NetdevReader> files;  ///< lock-free; none: no netdev, or it can't be opened
  std::optional<LinkSample> netdev;   ///< what `files` last gave
  std::string link_problem;   ///< why `files` can't be opened, or not all be read; "": they can
  LinkSample kernel;          ///< what the reader last gave: verbs state, speed, FEC, down reason
  bool kernel_again = false;  ///< something happened while the reader was reading `kernel`
  std::optional<SteadyTime> link_changed_at;
  std::optional<LinkSample> published;  ///< both together, as in the last snapshot that had them
  bool publish = true;                  ///< with the next snapshot, even when it did not change

  // --- its module
  bool module_seen = false;
  bool no_cable = false;            ///< the link's down reason, as the module reader knows it
  bool has_module_reader = false;   ///< ethtool gives the module, or says that there is none
  unsigned module_failures = 0;     ///< of ethtool's reads of the module, one after the other
  std::string module_serial;        ///< the last that ethtool gave; "" none
  bool module_imported = false;     ///< an imported module is published, newer than ethtool's last
  std::string_view import_refused;  ///< why it is not; "": it may be
  std::optional<bool> imported_present;  ///< whether a module was there, by the last import
  std::string imported_serial;           ///< and the last that it named; "" none

  // --- its sources, by the one who reads them
  SourceReports by_reader, by_discovery, by_far_ends;
  std::optional<SourceReport> by_module_reader;
  SourceTracker sources;  ///< all of them together

  // --- its card, as devlink health says
  std::optional<SteadyTime> failed_since;  ///< a reporter is in error that means that
  bool failure_reported = false;

  [[nodiscard]] bool watched() const { return port.exempt_reason.empty(); }
  /// Whether its verbs files are read: also of a port that is not watched, so that a scraper of
  /// those counters misses none.
  [[nodiscard]] bool is_counted() const { return port.id.verbs && !lent; }
  /// What the sources give together. What was true while the link was up is not carried over to a
  /// link that is down.
  [[nodiscard]] LinkSample link() const;
};

}  // namespace linkhealth
