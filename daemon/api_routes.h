// Every path that the API answers: one table. What is not in it is not answered, and
// docs/schema/openapi.json is held to it by a test.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "daemon/api.h"

namespace linkhealth {

struct ApiRoute {
  std::string_view method;   ///< "GET" takes HEAD too; "POST" changes something
  std::string_view pattern;  ///< "/api/v1/ports/{port}/ack": a name in braces is anything, slashes
                             ///< included, but not ""
};

/// Longer patterns first where two could mean the same path.
std::span<const ApiRoute> api_routes();
/// The route of a path and a method; nullptr: none.
const ApiRoute* find_route(std::string_view method, std::string_view path);
/// "GET, HEAD" for the Allow field; "" when the path is none of ours.
std::string allowed_methods(std::string_view path);
/// What stands for the name in braces. REQUIRES: the path fits the pattern.
std::string_view route_argument(std::string_view pattern, std::string_view path);

/// The refusal of a request that is no reading, or nullopt. `who_may`: to whom it is said on the
/// Unix socket. On TCP a body must be JSON and come from our own page: a form of another site, sent
/// by a browser that knows the password, is neither.
std::optional<ApiReply> refuse_act(const ApiRequest& request, const std::string& who_may);

}  // namespace linkhealth
