#include "cli/commands.h"

namespace linkhealth::cli {

int run_history(const Context& context, const HistoryOptions& options) {
  const std::string since = "since=" + std::to_string(options.since_s);
  const std::string port = path_part(options.port);
  if (options.json) return show(context.client.get("/api/v1/ports/" + port + "/history?" + since));
  TextStyle style = context.style;
  style.ascii = style.ascii || options.ascii;
  return show(
      context.client.get("/api/v1/text/history/" + port + "?" + since + "&" + style_query(style)));
}

}  // namespace linkhealth::cli
