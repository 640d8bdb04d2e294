#include "probes/netlink/kernel_events.h"

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr std::uint32_t kKernelGroup = 1;  // group of uevents; group 2 is udev's

/// The next text up to its NUL; one without NUL ends the message.
std::optional<std::string_view> next_text(std::string_view& rest) {
  const auto end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return text;
}

}  // namespace

KernelEventFeed::KernelEventFeed(Host& host, const char* name, int protocol, std::uint32_t group)
    : name_(name) {
  auto events = host.listen(protocol, std::array{group});
  if (events) {
    events_ = *std::move(events);
  } else if (events.error().errnum != EOPNOTSUPP) {
    gaps_.push_back({"", name, events.error().message});
  }
}

LinkEvents::LinkEvents(Host& host)
    : KernelEventFeed(host, "link_events", NETLINK_ROUTE, RTNLGRP_LINK) {}

FeedNews LinkEvents::receive(Host& /*host*/, SteadyTime /*now*/) {
  FeedNews news;
  if (!events_) return news;
  const auto messages = events_->receive();
  if (!messages) {  // ENOBUFS: the kernel dropped some, so read everything
    news.look = news.search = news.more = true;
    return news;
  }
  for (const Bytes& bytes : *messages) {
    const auto message = parse_netlink_message(bytes, sizeof(ifinfomsg));
    if (!message || (message->type != RTM_NEWLINK && message->type != RTM_DELLINK)) continue;
    const auto info = message->fixed<ifinfomsg>();
    // A bridge's view of its ports: RTM_DELLINK means that the port left the bridge.
    if (info.ifi_family != AF_UNSPEC || info.ifi_index <= 0) continue;
    const auto ifindex = static_cast<std::uint32_t>(info.ifi_index);
    // A node with containers creates and removes virtual devices all the time: unknown ones only
    // prompt a search.
    if (ifindexes_.contains(ifindex)) news.look = true;
    // register_netdevice() announces a device with all bits set.
    const bool removed = message->type == RTM_DELLINK;
    if (removed || info.ifi_change == ~0U) news.search = true;
    if (removed && message->attributes.contains(IFLA_NEW_NETNSID)) news.moved.insert(ifindex);
  }
  return news;
}

void LinkEvents::set_ports(Host& /*host*/, std::span<const InventoryPort> ports,
                           SteadyTime /*now*/) {
  ifindexes_.clear();
  for (const InventoryPort& port : ports)
    ifindexes_.insert(static_cast<std::uint32_t>(port.ifindex));
}

Result<std::optional<DeviceEvent>> parse_uevent(ByteView message) {
  const Error bad{"not a device event", EBADMSG};
  std::string_view rest(reinterpret_cast<const char*>(message.data()), message.size());
  const auto head = next_text(rest);
  if (!head || head->find('@') == std::string_view::npos) return bad;
  std::string_view action, path, subsystem;
  std::uint64_t number = 0;
  while (const auto line = next_text(rest)) {
    if (line->starts_with("ACTION=")) action = line->substr(7);
    if (line->starts_with("DEVPATH=")) path = line->substr(8);
    if (line->starts_with("SUBSYSTEM=")) subsystem = line->substr(10);
    if (line->starts_with("SEQNUM=")) number = parse_u64(line->substr(7)).value_or(0);
  }
  if (action.empty() || path.empty() || subsystem.empty()) return bad;
  if (subsystem != "infiniband" && subsystem != "infiniband_verbs" && subsystem != "net")
    return std::optional<DeviceEvent>();
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::optional(DeviceEvent{std::string(action), std::string(name), number});
}

std::uint64_t latest_device_event(Host& host) {
  const auto text = host.read_file("/sys/kernel/uevent_seqnum");
  return text ? parse_u64(trim(*text)).value_or(0) : 0;
}

DeviceEvents::DeviceEvents(Host& host)
    : KernelEventFeed(host, "device_events", NETLINK_KOBJECT_UEVENT, kKernelGroup) {}

FeedNews DeviceEvents::receive(Host& /*host*/, SteadyTime /*now*/) {
  FeedNews news;
  if (!events_) return news;
  const auto messages = events_->receive();
  if (!messages) {
    news.search = news.more = true;
    return news;
  }
  news.heard = !messages->empty();
  news.more = messages->size() >= HostEvents::kAtOnce;
  for (const Bytes& message : *messages) {
    const auto event = parse_uevent(message);
    if (!event || !*event || (*event)->action == "change") continue;
    news.search = true;
    if ((*event)->action == "remove") news.removed[(*event)->name] = (*event)->number;
    if ((*event)->action == "add") news.added[(*event)->name] = (*event)->number;
  }
  return news;
}

}  // namespace linkhealth
