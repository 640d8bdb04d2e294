// The HTTP API without connections: a request in, a response out. One table of routes (api.cpp)
// dispatches requests, answers 405 with Allow, and is published as /api/v1/openapi.json.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "daemon/api/operator_actions.h"
#include "daemon/api/recording_broadcaster.h"
#include "daemon/api/report_store.h"
#include "daemon/http/http_message.h"
#include "storage/history/history_store.h"

namespace linkhealth {

/// What the daemon provides to request handlers.
struct ApiContext {
  const ReportStore& reports;
  RecordingBroadcaster& recordings;
  const Clock& clock;     ///< of what is shown: a played recording has its snapshots' time
  SteadyTime started_at;  ///< of the server
  /// An older sample does not count as healthy.
  Milliseconds stale_after = std::chrono::minutes(1);
  HistoryStore* history = nullptr;     ///< nullptr: no history
  OperatorActions* actions = nullptr;  ///< nullptr: operators cannot act
  std::string actors{};                ///< users that may act on the Unix socket, for refusals
};

/// A request as passed to its handler.
struct ApiCall {
  const HttpRequest& request;
  const ApiContext& context;
  std::shared_ptr<const ReportSnapshot> snapshot;  ///< nullptr only if the route allows it
  std::string argument;                            ///< the value of the name in braces

  [[nodiscard]] const Report& report() const { return *snapshot->report; }
  [[nodiscard]] WallTime now() const { return context.clock.wall(); }
};

struct ApiParameter {
  std::string_view name, meaning;
};

inline constexpr std::string_view kJsonType = "application/json";

struct ApiRoute {
  std::string_view method;  ///< "GET" includes HEAD; "POST" acts
  /// "/api/v1/ports/{port}/ack": the name in braces stands for any non-empty text, slashes
  /// included.
  std::string_view path;
  HttpResponse (*handle)(const ApiCall& call);
  std::string_view summary;
  std::string_view content_type = kJsonType;
  std::span<const ApiParameter> parameters = {};
  bool before_first_report = false;  ///< whether it can be answered without a report
};

std::span<const ApiRoute> api_routes();
HttpResponse handle_api(const HttpRequest& request, const ApiContext& context);

HttpResponse json_response(std::string body);
HttpResponse text_response(std::string body);

// Handlers, each in the file named.
HttpResponse get_openapi(const ApiCall& call);  // api_openapi.cpp
HttpResponse get_page(const ApiCall& call);     // api_reports.cpp
HttpResponse get_page_file(const ApiCall& call);
HttpResponse get_healthy(const ApiCall& call);
HttpResponse get_ready(const ApiCall& call);
HttpResponse get_metrics(const ApiCall& call);
HttpResponse get_report(const ApiCall& call);
HttpResponse get_status(const ApiCall& call);
HttpResponse get_port(const ApiCall& call);
HttpResponse get_module(const ApiCall& call);
HttpResponse get_doctor(const ApiCall& call);
HttpResponse get_check(const ApiCall& call);
HttpResponse get_ticket(const ApiCall& call);
HttpResponse get_cabling(const ApiCall& call);
HttpResponse get_events(const ApiCall& call);
HttpResponse get_event_stream(const ApiCall& call);  // api_streams.cpp
HttpResponse get_recording(const ApiCall& call);
HttpResponse get_history(const ApiCall& call);  // api_history.cpp
HttpResponse get_identity(const ApiCall& call);
HttpResponse post_acknowledgement(const ApiCall& call);  // api_operator.cpp
HttpResponse post_maintenance(const ApiCall& call);

}  // namespace linkhealth
