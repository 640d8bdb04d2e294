// Something that tells by itself that there is something to look at: link events, the kernel log,
// verbs events, device events. The sampler holds several and knows no more of them than this. Used
// by one thread, which no call may hold up.
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

/// What a feed has to tell.
struct FeedNews {
  bool heard = false;  ///< something came, whether or not it says anything: the feed rests
  std::vector<PortEvent> events;
  bool look = false;          ///< read the links of all ports now
  bool search = false;        ///< search the ports anew
  bool more = false;          ///< there is more: ask again at once
  std::set<PortKey> ports;    ///< read the state of these now
  std::set<PortKey> modules;  ///< and the modules of these
  /// Verbs devices and netdevs that were removed, and the number of the kernel's event that said
  /// so: what was found before that event is not there any more, whatever has its name now.
  std::map<std::string, std::uint64_t> removed;
  std::map<std::string, std::uint64_t> added;  ///< the same of those that were added
  std::set<std::uint32_t> moved;  ///< ifindexes of netdevs that went to another network namespace
  std::vector<Gap> gaps;          ///< of this time only: something was lost
};

class EventFeed {
 public:
  virtual ~EventFeed() = default;

  /// The word in gaps: "link_events", "kernel_log", ….
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Readable when receive() has something to tell; the same as long as the feed lives. -1: there
  /// is nothing to wait for.
  [[nodiscard]] virtual int fd() const = 0;
  /// After something was received the descriptor need not be watched for so long: a flood then
  /// costs a few wake-ups.
  [[nodiscard]] virtual Milliseconds rest() const { return Milliseconds(0); }
  /// What has come. Never blocks; the work is bounded.
  virtual FeedNews receive(Host& host, SteadyTime now) = 0;
  /// The ports that were found, after each search.
  virtual void set_ports(Host& /*host*/, std::span<const InventoryPort> /*ports*/,
                         SteadyTime /*now*/) {}
  /// What can't be seen, for as long as that is so.
  [[nodiscard]] virtual std::vector<Gap> gaps() const { return {}; }
};

}  // namespace linkhealth
