#include "daemon/api/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr std::string_view kText = "text/plain; charset=utf-8";

constexpr std::array<ApiParameter, 1> kCollect = {
    {{"collect[]", "counters or optics; repeatable"}}};
constexpr std::array<ApiParameter, 1> kLimit = {{{"limit", "the latest N events; 100 by default"}}};
constexpr std::array<ApiParameter, 1> kSeconds = {{{"for", "1 to 86400 s"}}};
constexpr std::array<ApiParameter, 3> kPast = {
    {{"since", "seconds back; a week by default"},
     {"step", "10, 60 or 600 s; by default as fine as is kept"},
     {"signals", "names of signals, separated by commas; all by default"}}};
constexpr std::array<ApiParameter, 4> kAck = {
    {{"for", "seconds; without it until the fault closes"},
     {"reason", "text for other operators"},
     {"by", "name to show; by default the authenticated user"},
     {"end", "1: withdraw the acknowledgement"}}};
constexpr std::array<ApiParameter, 6> kMaintenance = {
    {{"port", "any name of a port, or all"},
     {"for", "seconds"},
     {"reason", "text for other operators"},
     {"by", "name to show; by default the authenticated user"},
     {"module_reads", "off: the module is not read meanwhile"},
     {"end", "1: end the maintenance"}}};

// If two could match, the longer path comes first.
constexpr auto kRoutes = std::to_array<ApiRoute>({
    {"GET", "/", get_page, "The page", "text/html", {}, true},
    {"GET", "/web/{file}", get_page_file, "A file of the page", "*/*", {}, true},
    {"GET", "/-/healthy", get_healthy, "Whether samples are taken", kText, {}, true},
    {"GET", "/-/ready", get_ready, "Whether the first sample was taken", kText},
    {"GET", "/metrics", get_metrics, "Prometheus text", kText, kCollect},
    {"GET", "/api/v1/report", get_report, "The report (schema/report.json)"},
    {"GET", "/api/v1/status", get_status, "The report with the state of the monitor"},
    {"POST", "/api/v1/ports/{port}/ack", post_acknowledgement,
     "Acknowledge the fault of a port (schema/action.json)", kJsonType, kAck},
    {"GET", "/api/v1/ports/{port}/history", get_history, "The past of a port (schema/history.json)",
     kJsonType, kPast},
    {"GET", "/api/v1/ports/{port}", get_port, "One port of the report"},
    {"GET", "/api/v1/identities/{serial}", get_identity, "Where a module or cable was"},
    {"GET", "/api/v1/module/{port}", get_module, "The port's module, in the form of a recording"},
    {"GET", "/api/v1/doctor", get_doctor, "What is readable on this node (schema/doctor.json)"},
    {"GET",
     "/api/v1/events/stream",
     get_event_stream,
     "Fault events as they happen, as server-sent events",
     "text/event-stream",
     {},
     true},
    {"GET", "/api/v1/events", get_events,
     "The latest fault events, oldest first (schema/event.json)", kJsonType, kLimit, true},
    {"GET", "/api/v1/openapi.json", get_openapi, "This document", kJsonType, {}, true},
    {"GET", "/api/v1/recording", get_recording, "A recording as it is made; Unix socket only",
     "application/x-ndjson", kSeconds, true},
    {"POST", "/api/v1/maintenance", post_maintenance,
     "Begin or end maintenance (schema/action.json)", kJsonType, kMaintenance},
    {"GET", "/api/v1/check", get_check, "The node as a monitoring check (schema/check.json)"},
    {"GET", "/api/v1/check/{port}", get_check,
     "One port as a monitoring check (schema/check.json)"},
    {"GET", "/api/v1/ticket/{port}", get_ticket,
     "What a technician needs at the rack (schema/ticket.json)"},
    {"GET", "/api/v1/cabling", get_cabling,
     "Far ends compared with the plan (schema/cabling.json)"},
});

/// The value of the name in braces ("" without one); nullopt: the path does not match.
std::optional<std::string_view> match(std::string_view pattern, std::string_view path) {
  const auto open = pattern.find('{');
  if (open == std::string_view::npos)
    return path == pattern ? std::optional(std::string_view()) : std::nullopt;
  const std::string_view before = pattern.substr(0, open);
  const std::string_view after = pattern.substr(pattern.find('}') + 1);
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) ||
      !path.ends_with(after))
    return std::nullopt;
  return path.substr(before.size(), path.size() - before.size() - after.size());
}

const ApiRoute* find_route(std::string_view method, std::string_view path) {
  if (method == "HEAD") method = "GET";
  const auto* const found = std::ranges::find_if(kRoutes, [&](const ApiRoute& route) {
    return route.method == method && match(route.path, path);
  });
  return found == kRoutes.end() ? nullptr : found;
}

HttpResponse no_route(const HttpRequest& request) {
  const bool get = find_route("GET", request.path) != nullptr;
  const bool post = find_route("POST", request.path) != nullptr;
  if (!get && !post)
    return error_response(
        404, fmt::format("there is nothing at {}: /api/v1/openapi.json lists the paths",
                         printable(std::string_view(request.path).substr(0, 64))));
  const std::string allowed = !post ? "GET, HEAD" : get ? "GET, HEAD, POST" : "POST";
  HttpResponse response = error_response(405, "allowed here: " + allowed);
  response.headers = {{"Allow", allowed}};
  return response;
}

/// Compares "http://node:9942" of Origin with "node:9942" of Host.
bool is_same_site(const HttpRequest& request) {
  if (request.origin.empty()) return true;  // not a browser
  const auto at = request.origin.find("://");
  return at != std::string::npos && std::string_view(request.origin).substr(at + 3) == request.host;
}

bool is_json(std::string_view content_type) {
  return trim(content_type.substr(0, content_type.find(';'))) == kJsonType;
}

/// On TCP a body must be JSON and come from the daemon's own page: a form of another site, sent by
/// a browser that knows the password, fulfils neither.
std::optional<HttpResponse> refuse_action(const HttpRequest& request, const ApiContext& context) {
  const bool tcp = request.caller.transport == Caller::Transport::kTcp;
  if (!request.caller.may_act)
    return error_response(
        403, tcp ? "changes are accepted on the Unix socket, or with a password (web_config_file)"
                 : "changes are accepted from " + context.actors);
  if (!tcp) return std::nullopt;
  if (!is_json(request.content_type)) return error_response(415, "send application/json");
  if (!is_same_site(request))
    return error_response(403, "changes are accepted from this node's own page");
  return std::nullopt;
}

}  // namespace

std::span<const ApiRoute> api_routes() { return kRoutes; }

HttpResponse json_response(std::string body) {
  HttpResponse response;
  response.content_type = kJsonType;
  response.body = std::move(body);
  if (!response.body.ends_with('\n')) response.body += '\n';
  return response;
}

HttpResponse text_response(std::string body) {
  HttpResponse response;
  response.content_type = kText;
  response.body = std::move(body);
  return response;
}

HttpResponse handle_api(const HttpRequest& request, const ApiContext& context) {
  const ApiRoute* const route = find_route(request.method, request.path);
  if (route == nullptr) return no_route(request);
  if (route->method == "POST")
    if (auto refusal = refuse_action(request, context)) return *std::move(refusal);
  const ApiCall call{request, context, context.reports.current(),
                     std::string(*match(route->path, request.path))};
  if (call.snapshot == nullptr && !route->before_first_report)
    return error_response(503, "the first sample is not taken yet");
  return route->handle(call);
}

}  // namespace linkhealth
