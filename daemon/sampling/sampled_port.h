// One port in the sampler: its readers, and the last reading of each source.
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
  PortId id;                      ///< that of `port`, for all its samples
  std::uint64_t found_after = 0;  ///< number of the last device event before it was found
  bool gone = false;              ///< its files return ENODEV
  bool moved = false;             ///< its netdev moved to another network namespace
  bool lent = false;              ///< another driver has taken over the card: it has no files here
  unsigned misses = 0;            ///< consecutive discoveries that did not find it
  std::string lost_device;        ///< its former RDMA device, if only its netdev is left
  std::shared_ptr<PortReader> reader;

  // --- its link
  std::optional<NetdevReader> files;  ///< lock-free; none: no netdev, or it can't be opened
  std::optional<LinkSample> netdev;   ///< last result of `files`
  std::string link_problem;   ///< why some of `files` cannot be opened or read; "": they can
  LinkSample kernel;          ///< the reader's last: verbs state, speed, FEC, down reason
  bool kernel_again = false;  ///< an event arrived while the reader was reading `kernel`
  std::optional<SteadyTime> link_changed_at;
  std::optional<LinkSample> published;  ///< both merged, as in the last snapshot that had them
  bool publish = true;                  ///< with the next snapshot, even if unchanged

  // --- its module
  bool module_seen = false;
  bool no_cable = false;            ///< the link's down reason, as passed to the module reader
  bool has_module_reader = false;   ///< ethtool reads the module, or the empty cage
  unsigned module_failures = 0;     ///< consecutive failed reads of the module by ethtool
  std::string module_serial;        ///< last one read by ethtool; "" none
  bool module_imported = false;     ///< an imported module is published, newer than ethtool's last
  std::string_view import_refused;  ///< why it is not; "": it may be
  std::optional<bool> imported_present;  ///< whether a module was present in the last import
  std::string imported_serial;           ///< and the last serial in an import; "" none

  // --- its sources, by their reader
  SourceReports by_reader, by_discovery, by_far_ends;
  std::optional<SourceReport> by_module_reader;
  SourceTracker sources;  ///< all of them together

  // --- its card, by devlink health
  std::optional<SteadyTime> failed_since;  ///< since when a fatal reporter is in error
  bool failure_reported = false;

  [[nodiscard]] bool watched() const { return port.exempt_reason.empty(); }
  /// Whether its verbs files are read: also if the port is not watched, for the raw counters.
  [[nodiscard]] bool is_counted() const { return port.id.verbs && !lent; }
  /// The link merged from all sources. A link that is down does not keep values from when it was
  /// up.
  [[nodiscard]] LinkSample link() const {
    LinkSample link = kernel;
    if (netdev) {
      link.admin_up = netdev->admin_up;
      link.carrier = netdev->carrier;
      link.mtu_bytes = netdev->mtu_bytes;
      link.carrier_up_count = netdev->carrier_up_count;
      link.carrier_down_count = netdev->carrier_down_count;
    }
    if (link.carrier == false) {
      link.speed_mbps.reset();
      link.lanes.reset();
    } else {
      link.down_reason.reset();
    }
    return link;
  }
};

}  // namespace linkhealth
