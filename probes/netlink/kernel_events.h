// Events that the kernel sends: link events of rtnetlink and device events (uevents).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probes/event_feed.h"
#include "probes/netlink/netlink_message.h"

namespace linkhealth {

/// A subscription to one multicast group. If the Host has no kernel, there is no feed and no gap;
/// any other failure is a gap.
class KernelEventFeed : public EventFeed {
 public:
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] int fd() const override { return events_ ? events_->fd() : -1; }
  [[nodiscard]] std::vector<Gap> gaps() const override { return gaps_; }

 protected:
  KernelEventFeed(Host& host, const char* name, int protocol, std::uint32_t group);
  std::unique_ptr<HostEvents> events_;

 private:
  const char* name_;
  std::vector<Gap> gaps_;
};

/// RTNLGRP_LINK. The kernel merges fast flaps into one event (net/core/link_watch.c), so that an
/// event only prompts a read: the carrier counts are authoritative.
class LinkEvents final : public KernelEventFeed {
 public:
  explicit LinkEvents(Host& host);
  FeedNews receive(Host& host, SteadyTime now) override;
  void set_ports(Host& host, std::span<const InventoryPort> ports, SteadyTime now) override;

 private:
  std::set<std::uint32_t> ifindexes_;
};

/// An event of a device that may be a port (linux: lib/kobject_uevent.c).
struct DeviceEvent {
  std::string action;        ///< "add", "remove", "move" (also a rename), "change", …
  std::string name;          ///< the kernel's name: the last component of DEVPATH
  std::uint64_t number = 0;  ///< SEQNUM: device events are numbered from boot; 0: unknown
};
/// nullopt: not of "infiniband", "infiniband_verbs" or "net". Error EBADMSG: not the kernel's form
/// "ACTION@PATH\0KEY=VALUE\0…" (events that udev forwards start with "libudev").
Result<std::optional<DeviceEvent>> parse_uevent(ByteView message);

/// The number of the latest device event; 0: unknown. Read before a search: what the search finds
/// is at least as new as that event.
std::uint64_t latest_device_event(Host& host);

/// Uevents: an RDMA device, a netdev or a verbs device file was added or removed, so that the ports
/// are searched at once. RDMA netlink has its own notifications (RDMA_NL_GROUP_NOTIFY), but only on
/// newer kernels (6.12, from memory, not checked); uevents exist everywhere.
class DeviceEvents final : public KernelEventFeed {
 public:
  explicit DeviceEvents(Host& host);
  /// A driver that loads sends many events: the first is handled at once, the others together.
  [[nodiscard]] Milliseconds rest() const override { return Milliseconds(500); }
  FeedNews receive(Host& host, SteadyTime now) override;
};

}  // namespace linkhealth
