// The kernel's device events (uevents; linux: lib/kobject_uevent.c): an RDMA device, a netdev or a
// verbs device file came or went, so the ports are searched at once. RDMA netlink has notifications
// of its own (RDMA_NL_GROUP_NOTIFY), but only on newer kernels (6.12, from memory, not checked);
// uevents are everywhere.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "probes/event_feed.h"
#include "probes/netlink/netlink_message.h"

namespace linkhealth {

/// An event of a device that may be a port.
struct DeviceEvent {
  std::string action;        ///< "add", "remove", "move" (also a rename), "change", …
  std::string subsystem;     ///< "infiniband", "infiniband_verbs" or "net"
  std::string name;          ///< the kernel's name: the last part of DEVPATH
  std::uint64_t number = 0;  ///< SEQNUM: all device events of a boot are numbered; 0 not known
};

/// nullopt: of another subsystem. Error EBADMSG: not the kernel's form "ACTION@PATH\0KEY=VALUE\0…"
/// (what udev sends on starts with "libudev").
Result<std::optional<DeviceEvent>> parse_uevent(ByteView message);

/// The number of the latest device event, 0 when the kernel does not say. Read before a search:
/// what is found then is not older than that event.
std::uint64_t latest_device_event(Host& host);

class DeviceEvents final : public EventFeed {
 public:
  explicit DeviceEvents(Host& host);

  [[nodiscard]] std::string_view name() const override { return "device_events"; }
  [[nodiscard]] int fd() const override { return events_ ? events_->fd() : -1; }
  /// A driver that is loaded brings many events at once: the first is heard at once, the others
  /// together.
  [[nodiscard]] Milliseconds rest() const override { return Milliseconds(500); }
  FeedNews receive(Host& host, SteadyTime now) override;
  [[nodiscard]] std::vector<Gap> gaps() const override;

 private:
  std::unique_ptr<HostEvents> events_;
  std::optional<Error> failed_;
};

}  // namespace linkhealth
