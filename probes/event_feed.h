// A source of events: link events, the kernel log, verbs events, device events. The sampler has
// several and knows only this interface. Used by one thread, which no call may block.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"
#include "probes/host.h"
#include "probes/sysfs/inventory.h"

namespace linkhealth {

/// The result of one receive() of a feed.
struct FeedNews {
  bool heard = false;  ///< something arrived, even if it is irrelevant: the feed rests
  std::vector<PortEvent> events;
  bool look = false;          ///< read the links of all ports now
  bool search = false;        ///< search for ports again
  bool more = false;          ///< more is waiting: call receive() again at once
  std::set<PortKey> ports;    ///< read the state of these now
  std::set<PortKey> modules;  ///< read the modules of these now
  /// Verbs devices and netdevs that were removed, with the number of the kernel's event: a device
  /// that was found before that event is gone, even if another one has its name now.
  std::map<std::string, std::uint64_t> removed;
  std::map<std::string, std::uint64_t> added;  ///< likewise, those that were added
  std::set<std::uint32_t> moved;  ///< ifindexes of netdevs that moved to another network namespace
  std::vector<Gap> gaps;          ///< valid once only: something was lost
};

class EventFeed {
 public:
  virtual ~EventFeed() = default;

  /// The name in gaps: "link_events", "kernel_log", ….
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Readable when receive() has news. Constant over the feed's lifetime. -1: it never has any.
  [[nodiscard]] virtual int fd() const = 0;
  /// After something was received, the descriptor need not be watched for this long, so that a
  /// flood costs only a few wake-ups.
  [[nodiscard]] virtual Milliseconds rest() const { return Milliseconds(0); }
  /// Never blocks; does a bounded amount of work.
  virtual FeedNews receive(Host& host, SteadyTime now) = 0;
  /// Called after each search with the ports found.
  virtual void set_ports(Host& /*host*/, std::span<const InventoryPort> /*ports*/,
                         SteadyTime /*now*/) {}
  /// What the feed currently cannot read.
  [[nodiscard]] virtual std::vector<Gap> gaps() const { return {}; }
};

}  // namespace linkhealth
