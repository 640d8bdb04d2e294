#include "cli/commands.h"

namespace linkhealth::cli {

int run_explain(const Client& client, const ExplainOptions& options, const TextStyle& style) {
  if (options.json) return show(client.get("/api/v1/ports/" + path_part(options.port)));
  std::string path = "/api/v1/text/explain/" + path_part(options.port) + "?" + style_query(style);
  if (options.evidence) path += "&symptoms=1";
  if (options.physics) path += "&physics=1";
  return show(client.get(path));
}

}  // namespace linkhealth::cli
