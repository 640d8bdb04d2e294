// /dev/kmsg as a feed: lines of the kernel log that match a pattern and name a port become
// `kernel_log` events, with the kernel's own time. All other lines are dropped at once: they may be
// private.
//
// At the start the ring is read from its oldest record: a fatal error from before the daemon's
// start still holds (until the next boot, which empties the ring).
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/kernel_log.h"
#include "probes/event_feed.h"
#include "probes/sysfs/kernel_record.h"

namespace linkhealth {

inline constexpr const char* kKernelLogPath = "/dev/kmsg";

class KernelLog final : public EventFeed {
 public:
  explicit KernelLog(Host& host);

  [[nodiscard]] std::string_view name() const override { return "kernel_log"; }
  [[nodiscard]] int fd() const override { return records_ ? records_->fd() : -1; }
  /// The kernel log of a busy node has many lines, and none is urgent: links have their own feeds.
  [[nodiscard]] Milliseconds rest() const override { return Milliseconds(1000); }
  /// Returns nothing until the ports are known.
  FeedNews receive(Host& host, SteadyTime now) override;
  void set_ports(Host& host, std::span<const InventoryPort> ports, SteadyTime now) override;
  [[nodiscard]] std::vector<Gap> gaps() const override;

  /// Lines of the same kind for the same port within this time are one event.
  static constexpr Milliseconds kOnce{60'000};
  /// How long a line is kept until its port is found: a driver logs while it loads.
  static constexpr Milliseconds kPatience{120'000};
  static constexpr std::size_t kMaxWaiting = 64;
  /// Limit of events per minute, over all ports; the rest becomes a gap.
  static constexpr std::size_t kMaxPerMinute = 200;

 private:
  struct Owner {
    std::vector<std::string> addresses;  ///< of the port's function, and of the bridge above it
    std::vector<std::string> names;      ///< netdev and verbs device
  };

  [[nodiscard]] std::vector<PortKey> ports_of(const KernelRecord& record) const;
  bool add(const KernelRecord& record, FeedNews& news);
  void add_event(const PortKey& port, const KernelLogPattern& pattern, const KernelRecord& record,
                 FeedNews& news);

  std::unique_ptr<HostEvents> records_;
  std::optional<Gap> gap_;
  /// Includes ports that have gone: their last lines arrive late. Bounded.
  std::map<PortKey, Owner> owners_;
  std::map<std::pair<PortKey, std::string_view>, SteadyTime> last_;  ///< by port and pattern
  std::deque<KernelRecord> waiting_;
  SteadyTime minute_;
  std::size_t in_minute_ = 0;
  bool ports_known_ = false;
  bool ports_changed_ = false;
  bool live_ = false;  ///< the lines from before the start have been read
};

}  // namespace linkhealth
