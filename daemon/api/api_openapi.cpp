// /api/v1/openapi.json (OpenAPI 3.1), made from the table of routes. The forms of the answers are
// those of docs/schema.
#include "daemon/api/api.h"
#include "model/json/json.h"

namespace linkhealth {

namespace {

OrderedJson parameter_json(std::string_view name, std::string_view in, std::string_view meaning) {
  return {{"name", name},
          {"in", in},
          {"required", in == "path"},
          {"description", meaning},
          {"schema", {{"type", "string"}}}};
}

OrderedJson parameters_json(const ApiRoute& route) {
  OrderedJson list = OrderedJson::array();
  if (const auto open = route.path.find('{'); open != std::string_view::npos) {
    const auto name = route.path.substr(open + 1, route.path.find('}') - open - 1);
    list.push_back(parameter_json(
        name, "path",
        name == "port" ? "any name of a port, slashes included: mlx5_0/1, ens1np0, its PCI address"
                       : "a name"));
  }
  for (const ApiParameter& parameter : route.parameters)
    list.push_back(parameter_json(parameter.name, "query", parameter.meaning));
  return list;
}

OrderedJson content_json(std::string_view content_type) {
  OrderedJson json;
  json[content_type] = OrderedJson::object();
  return json;
}

OrderedJson operation_json(const ApiRoute& route) {
  OrderedJson json;
  json["summary"] = route.summary;
  if (OrderedJson parameters = parameters_json(route); !parameters.empty())
    json["parameters"] = std::move(parameters);
  json["responses"]["200"] = {{"description", "done"},
                              {"content", content_json(route.content_type)}};
  json["responses"]["default"] = {{"description", "{\"error\": a sentence}"},
                                  {"content", content_json(kJsonType)}};
  return json;
}

}  // namespace

HttpResponse get_openapi(const ApiCall& /*call*/) {
  OrderedJson json;
  json["openapi"] = "3.1.0";
  json["info"] = {{"title", "linkhealth"},
                  {"version", "1"},
                  {"description",
                   "The same API on a Unix socket and on TCP. Clients that can connect may read. "
                   "POST is accepted on the Unix socket from root, the daemon's user and "
                   "control_group, and on TCP from authenticated clients, with Content-Type: "
                   "application/json. HEAD is accepted wherever GET is."}};
  for (const ApiRoute& route : api_routes())
    json["paths"][route.path][route.method == "POST" ? "post" : "get"] = operation_json(route);
  return json_response(format_json(json));
}

}  // namespace linkhealth
