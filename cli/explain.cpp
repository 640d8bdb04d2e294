#include "cli/commands.h"

namespace linkhealth::cli {

int run_explain(const Context& context, const ExplainOptions& options) {
  const std::string port = path_part(options.port);
  if (options.json) return show(context.client.get("/api/v1/ports/" + port));
  std::string path = "/api/v1/text/explain/" + port + "?" + style_query(context.style);
  if (options.evidence) path += "&symptoms=1";
  if (options.physics) path += "&physics=1";
  return show(context.client.get(path));
}

}  // namespace linkhealth::cli
