// /dev/kmsg as a feed: lines of the kernel log that say something of a port become `kernel_log`
// events, with the kernel's own time. Every other line is forgotten at once: the log holds what is
// nobody's business here.
//
// At the start the ring is read from its oldest record: what was fatal before the daemon came still
// holds (until the next boot, which empties the ring).
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
#include "probes/kernel_record.h"

namespace linkhealth {

inline constexpr const char* kKernelLogPath = "/dev/kmsg";

class KernelLog final : public EventFeed {
 public:
  explicit KernelLog(Host& host);

  [[nodiscard]] std::string_view name() const override { return "kernel_log"; }
  [[nodiscard]] int fd() const override { return records_ ? records_->fd() : -1; }
  /// The kernel log of a busy node has many lines, and nothing in it is urgent: links have feeds of
  /// their own.
  [[nodiscard]] Milliseconds rest() const override { return Milliseconds(1000); }
  /// Nothing before the ports are known.
  FeedNews receive(Host& host, SteadyTime now) override;
  void set_ports(Host& host, std::span<const InventoryPort> ports, SteadyTime now) override;
  [[nodiscard]] std::vector<Gap> gaps() const override;

  /// The same kind of line for the same port within this time is one event, and how often it came
  /// is said afterwards.
  static constexpr Milliseconds kOnce{60'000};
  /// A line may come before its port is found (a driver speaks while it loads): it waits for so
  /// long.
  static constexpr Milliseconds kPatience{120'000};
  static constexpr std::size_t kMaxWaiting = 64;
  /// Events in a minute of the log, of all ports together; the rest is a gap.
  static constexpr std::size_t kMaxPerMinute = 200;

 private:
  struct Owner {
    std::vector<std::string> addresses;  ///< of the port's function, and of the bridge above it
    std::vector<std::string> names;      ///< netdev and verbs device
  };
  struct Repeated {
    SteadyTime since, last;
    std::size_t times = 0;  ///< after the first
    std::string text;
  };

  [[nodiscard]] std::vector<PortKey> ports_of(const KernelRecord& record) const;
  bool take(const KernelRecord& record, FeedNews& news);
  void take_line(const PortKey& port, const KernelLogPattern& pattern, const KernelRecord& record,
                 FeedNews& news);
  void close_repeats(SteadyTime now, FeedNews& news);
  void emit(const PortKey& port, SteadyTime t, std::string text, FeedNews& news);

  std::unique_ptr<HostEvents> records_;
  std::optional<Gap> gap_;
  std::map<PortKey, Owner>
      owners_;  ///< also of ports that have gone: their last words come late. Bounded
  std::map<std::pair<PortKey, std::string_view>, Repeated> repeated_;
  std::deque<KernelRecord> waiting_;
  SteadyTime minute_;
  std::size_t in_minute_ = 0;
  bool ports_known_ = false;
  bool ports_changed_ = false;
  bool live_ = false;  ///< the lines from before the start have been read
};

}  // namespace linkhealth
