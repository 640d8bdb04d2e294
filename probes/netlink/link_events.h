// rtnetlink's link events as a feed. The kernel merges fast flaps (net/core/link_watch.c): the
// carrier counts are the truth, the event is only the prompt to read them.
#pragma once

#include <memory>
#include <optional>

#include "probes/event_feed.h"

namespace linkhealth {

class LinkEvents final : public EventFeed {
 public:
  /// Opens the feed. Without a kernel behind the Host there is no feed and no gap; any other
  /// failure is a gap.
  explicit LinkEvents(Host& host);

  [[nodiscard]] std::string_view name() const override { return "link_events"; }
  [[nodiscard]] int fd() const override { return events_ ? events_->fd() : -1; }
  FeedNews receive(Host& host, SteadyTime now) override;
  void set_ports(Host& host, std::span<const InventoryPort> ports, SteadyTime now) override;
  [[nodiscard]] std::vector<Gap> gaps() const override;

 private:
  std::unique_ptr<HostEvents> events_;
  std::optional<Error> failed_;
  std::set<std::uint32_t> ifindexes_;
};

}  // namespace linkhealth
