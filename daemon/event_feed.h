// Fault events as they come, as server-sent events (WHATWG HTML, 9.2): each with the id that it has
// everywhere, so that a client that was away goes on where it was.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "daemon/http_answer.h"
#include "daemon/report_store.h"

namespace linkhealth {

inline constexpr std::string_view kEventStreamPath = "/api/v1/events/stream";

/// Begins after the event `last_id`; with "" after the latest. An id that is not known any more:
/// with the oldest that is kept, for it may have missed some. `reports` must outlive it.
std::unique_ptr<HttpFeed> event_feed(const ReportStore& reports, const std::string& last_id);

}  // namespace linkhealth
