#include "probes/netlink/link_events.h"

#include <cerrno>

#include "probes/netlink/rtnl_link.h"

namespace linkhealth {

LinkEvents::LinkEvents(Host& host) {
  auto events = listen_to_links(host);
  if (events) {
    events_ = *std::move(events);
  } else if (events.error().errnum != EOPNOTSUPP) {
    failed_ = events.error();
  }
}

FeedNews LinkEvents::receive(Host& /*host*/, SteadyTime /*now*/) {
  FeedNews news;
  if (!events_) return news;
  const auto messages = events_->receive();
  if (!messages) {  // ENOBUFS: the kernel dropped some, so look at everything
    news.look = news.search = news.more = true;
    return news;
  }
  for (const Bytes& message : *messages) {
    const auto event = parse_link_event(message);
    if (!event || !*event) continue;
    // A node with containers makes and drops virtual devices all day long: those that are not ours
    // only prompt a search.
    if (ifindexes_.contains((*event)->ifindex)) news.look = true;
    if ((*event)->kind != LinkEventKind::kChanged) news.search = true;
    if ((*event)->moved) news.moved.insert((*event)->ifindex);
  }
  return news;
}

void LinkEvents::set_ports(Host& /*host*/, std::span<const InventoryPort> ports,
                           SteadyTime /*now*/) {
  ifindexes_.clear();
  for (const InventoryPort& port : ports)
    ifindexes_.insert(static_cast<std::uint32_t>(port.ifindex));
}

std::vector<Gap> LinkEvents::gaps() const {
  if (!failed_) return {};
  return {{"", "link_events", failed_->message}};
}

}  // namespace linkhealth
