#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

int run_status(const Client& client, const StatusOptions& options, const TextStyle& style) {
  std::string path = "/api/v1/text/status?" + style_query(style);
  if (options.problems) path += "&problems=1";
  if (options.wide) path += "&wide=1";
  const auto drawn = client.get(path);
  const bool bad = options.problems && drawn.ok() && drawn->status == 200 && drawn->problems != "0";
  const int exit_code = bad ? kProblems : kOk;
  return options.json && drawn.ok() ? show(client.get("/api/v1/report"), exit_code)
                                    : show(drawn, exit_code);
}

}  // namespace linkhealth::cli
