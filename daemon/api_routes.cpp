#include "daemon/api_routes.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr std::array kRoutes = {ApiRoute{"GET", "/"},
                                ApiRoute{"GET", "/web/{file}"},
                                ApiRoute{"GET", "/-/healthy"},
                                ApiRoute{"GET", "/-/ready"},
                                ApiRoute{"GET", "/metrics"},
                                ApiRoute{"GET", "/api/v1/report"},
                                ApiRoute{"POST", "/api/v1/ports/{port}/ack"},
                                ApiRoute{"GET", "/api/v1/ports/{port}/history"},
                                ApiRoute{"GET", "/api/v1/ports/{port}"},
                                ApiRoute{"GET", "/api/v1/identities/{serial}"},
                                ApiRoute{"GET", "/api/v1/module/{port}"},
                                ApiRoute{"GET", "/api/v1/doctor"},
                                ApiRoute{"GET", "/api/v1/events"},
                                ApiRoute{"GET", "/api/v1/events/stream"},
                                ApiRoute{"GET", "/api/v1/openapi.json"},
                                ApiRoute{"GET", "/api/v1/recording"},
                                ApiRoute{"POST", "/api/v1/maintenance"},
                                ApiRoute{"GET", "/api/v1/check"},
                                ApiRoute{"GET", "/api/v1/check/{port}"},
                                ApiRoute{"GET", "/api/v1/ticket/{port}"},
                                ApiRoute{"GET", "/api/v1/cabling"},
                                ApiRoute{"GET", "/api/v1/text/check"},
                                ApiRoute{"GET", "/api/v1/text/check/{port}"},
                                ApiRoute{"GET", "/api/v1/text/ticket/{port}"},
                                ApiRoute{"GET", "/api/v1/text/cabling"},
                                ApiRoute{"GET", "/api/v1/text/status"},
                                ApiRoute{"GET", "/api/v1/text/explain/{port}"},
                                ApiRoute{"GET", "/api/v1/text/history/{port}"},
                                ApiRoute{"GET", "/api/v1/text/module/{port}"},
                                ApiRoute{"GET", "/api/v1/text/doctor"}};

struct Pattern {
  std::string_view before, after;
  bool has_argument;
};

Pattern parts_of(std::string_view pattern) {
  const auto open = pattern.find('{');
  if (open == std::string_view::npos) return {pattern, {}, false};
  return {pattern.substr(0, open), pattern.substr(pattern.find('}') + 1), true};
}

bool fits(std::string_view pattern, std::string_view path) {
  const Pattern parts = parts_of(pattern);
  if (!parts.has_argument) return path == pattern;
  return path.size() > parts.before.size() + parts.after.size() && path.starts_with(parts.before) &&
         path.ends_with(parts.after);
}

std::string_view route_method(std::string_view method) { return method == "HEAD" ? "GET" : method; }

/// "http://node:9942" of Origin is the "node:9942" of Host.
bool same_site(const ApiRequest& request) {
  if (request.origin.empty()) return true;  // no browser
  const auto at = request.origin.find("://");
  return at != std::string::npos && std::string_view(request.origin).substr(at + 3) == request.host;
}

bool is_json(std::string_view content_type) {
  return trim(content_type.substr(0, content_type.find(';'))) == "application/json";
}

}  // namespace

std::span<const ApiRoute> api_routes() { return kRoutes; }

const ApiRoute* find_route(std::string_view method, std::string_view path) {
  const auto* const found = std::ranges::find_if(kRoutes, [&](const ApiRoute& route) {
    return route.method == route_method(method) && fits(route.pattern, path);
  });
  return found == kRoutes.end() ? nullptr : found;
}

std::string allowed_methods(std::string_view path) {
  std::string text;
  if (find_route("GET", path) != nullptr) text = "GET, HEAD";
  if (find_route("POST", path) != nullptr) text += text.empty() ? "POST" : ", POST";
  return text;
}

std::string_view route_argument(std::string_view pattern, std::string_view path) {
  const Pattern parts = parts_of(pattern);
  return path.substr(parts.before.size(), path.size() - parts.before.size() - parts.after.size());
}

std::optional<ApiReply> refuse_act(const ApiRequest& request, const std::string& who_may) {
  if (request.method == "GET" || request.method == "HEAD") return std::nullopt;
  if (find_route(request.method, request.path) == nullptr)
    return std::nullopt;  // answered as unknown
  const bool tcp = request.caller.way != Caller::Way::kUnix;
  if (!request.caller.may_act)
    return api_error(
        request, 403,
        tcp ? "changes are taken on the Unix socket, or with a password (web_config_file)"
            : "changes are taken from " + who_may);
  if (!tcp) return std::nullopt;
  if (!is_json(request.content_type)) return api_error(request, 415, "send application/json");
  if (!same_site(request))
    return api_error(request, 403, "changes are taken from this node's own page");
  return std::nullopt;
}

}  // namespace linkhealth
