// Responses of unknown length: fault events as they happen, and recordings.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "daemon/api/api.h"
#include "model/port_timeline.h"

namespace linkhealth {

namespace {

constexpr std::uint64_t kMaxRecording_s = 86400;
constexpr std::size_t kMaxEvents_bytes = 32'768;  // per write to a client

/// The number of the event after which a client resumes that has seen `last_id`; "": after the
/// latest event. If the id is no longer stored: before the oldest, because the client may have
/// missed some.
std::uint64_t resume_after(const ReportStore& reports, const std::string& last_id) {
  const auto kept = reports.events_after(0);
  if (last_id.empty()) return kept.last;
  const auto found = std::ranges::find_if(
      kept.events, [&](const auto& event) { return event_id(*event) == last_id; });
  const std::uint64_t oldest = kept.last - kept.events.size();
  return found == kept.events.end()
             ? oldest
             : oldest + static_cast<std::uint64_t>(found - kept.events.begin()) + 1;
}

}  // namespace

/// Server-sent events (WHATWG HTML, 9.2). Their ids are the events' global ids, so that a
/// disconnected client resumes where it was.
HttpResponse get_event_stream(const ApiCall& call) {
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.stream = std::make_unique<HttpStream>();
  response.stream->keep_alive = ": keep-alive\n\n";
  response.stream->next = [&reports = call.context.reports,
                           after = resume_after(call.context.reports, call.request.last_event_id),
                           greeted = false](std::string& bytes) mutable {
    // Sent at once, so that the client knows that it is connected, and when to reconnect.
    if (!std::exchange(greeted, true)) bytes = ": linkhealth\nretry: 5000\n\n";
    const auto next = reports.events_after(after);
    after = next.last;
    for (std::size_t i = 0; i < next.events.size(); ++i) {
      if (bytes.size() > kMaxEvents_bytes) {  // the rest follows when the client has taken these
        after = next.last - (next.events.size() - i);
        break;
      }
      bytes += fmt::format("id: {}\nevent: fault\ndata: {}\n\n", event_id(*next.events[i]),
                           next.events[i]->json());
    }
    return bytes.empty() ? HttpStream::State::kNothingYet : HttpStream::State::kBytes;
  };
  return response;
}

HttpResponse get_recording(const ApiCall& call) {
  if (call.request.caller.transport != Caller::Transport::kUnix)
    return error_response(403, "recordings are available on the Unix socket only");
  // A recording contains lines of the kernel log, which not every user may read.
  if (!call.request.caller.may_act)
    return error_response(403, "recordings are available to " + call.context.actors);
  const auto seconds = parse_u64(call.request.param("for"));
  if (!seconds || *seconds == 0 || *seconds > kMaxRecording_s)
    return error_response(400, fmt::format("for= takes 1 to {} seconds", kMaxRecording_s));
  const Clock& clock = call.context.clock;
  const auto listener =
      call.context.recordings.listen(clock.steady(), std::chrono::seconds(*seconds));
  if (!listener) return error_response(503, listener.error().message);
  HttpResponse response;
  response.content_type = "application/x-ndjson";
  response.stream = std::make_unique<HttpStream>();
  response.stream->poll_after = Milliseconds(500);  // its time may end without a snapshot
  response.stream->next = [listener = *listener, &clock](std::string& bytes) {
    return listener->next(clock.steady(), bytes);
  };
  return response;
}

}  // namespace linkhealth
