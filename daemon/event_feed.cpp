#include "daemon/event_feed.h"

#include <fmt/format.h>

#include <algorithm>

#include "exporters/json.h"
#include "model/report.h"

namespace linkhealth {

namespace {

std::uint64_t begin_after(const ReportStore& reports, const std::string& last_id) {
  const auto kept = reports.events_after(0);
  if (last_id.empty()) return kept.last;
  const std::uint64_t first = kept.last - kept.events.size();
  const auto found = std::ranges::find_if(
      kept.events, [&](const auto& event) { return event_id(*event) == last_id; });
  return found == kept.events.end()
             ? first
             : first + static_cast<std::uint64_t>(found - kept.events.begin()) + 1;
}

}  // namespace

std::unique_ptr<HttpFeed> event_feed(const ReportStore& reports, const std::string& last_id) {
  auto feed = std::make_unique<HttpFeed>();
  feed->content_type = "text/event-stream";
  feed->keep_alive = ": still here\n\n";
  feed->next = [&reports, after = begin_after(reports, last_id), greeted = false]() mutable {
    std::string text;
    // At once, so that the client knows that it listens; and how long it waits before it comes
    // again.
    if (!std::exchange(greeted, true)) text = ": linkhealth\nretry: 5000\n\n";
    const auto next = reports.events_after(after);
    after = next.last;
    for (const auto& event : next.events)
      text += fmt::format("id: {}\nevent: fault\ndata: {}\n\n", event_id(*event),
                          event_json_line(*event));
    return text;
  };
  return feed;
}

}  // namespace linkhealth
