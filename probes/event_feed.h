// A source of events: link events, the kernel log, verbs events, device events. The sampler holds
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

/// What one receive() of a feed gives.
struct FeedNews {
  bool heard = false;  ///< something came, also where it means nothing: the feed rests
  std::vector<PortEvent> events;
  bool look = false;          ///< read the links of all ports now
  bool search = false;        ///< search the ports again
  bool more = false;          ///< more waits: call receive() again at once
  std::set<PortKey> ports;    ///< read the state of these now
  std::set<PortKey> modules;  ///< and the modules of these
  /// Verbs devices and netdevs that were removed, and the number of the kernel's event: a device
  /// that was found before that event is gone, even if another one has its name now.
  std::map<std::string, std::uint64_t> removed;
  std::map<std::string, std::uint64_t> added;  ///< the same of those that were added
  std::set<std::uint32_t> moved;  ///< ifindexes of netdevs that went to another network namespace
  std::vector<Gap> gaps;          ///< of this time only: something was lost
};

class EventFeed {
 public:
  virtual ~EventFeed() = default;

  /// The name in gaps: "link_events", "kernel_log", ….
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Readable when receive() has news; the same as long as the feed lives. -1: it never has any.
  [[nodiscard]] virtual int fd() const = 0;
  /// How long the descriptor need not be watched after something was received: a flood then costs a
  /// few wake-ups.
  [[nodiscard]] virtual Milliseconds rest() const { return Milliseconds(0); }
  /// Never blocks; the work is bounded.
  virtual FeedNews receive(Host& host, SteadyTime now) = 0;
  /// The ports that were found, after each search.
  virtual void set_ports(Host& /*host*/, std::span<const InventoryPort> /*ports*/,
                         SteadyTime /*now*/) {}
  /// What the feed cannot see at present.
  [[nodiscard]] virtual std::vector<Gap> gaps() const { return {}; }
};

}  // namespace linkhealth
