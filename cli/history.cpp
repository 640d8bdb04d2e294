#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

int run_history(const Client& client, const HistoryOptions& options, TextStyle style) {
  constexpr std::uint64_t kTenYears_s = 3650 * kDay_s;
  const auto since_s = parse_duration_s(options.since, kTenYears_s);
  if (!since_s) {
    complain("history --since: " + since_s.error().message);
    return kBadInput;
  }
  const std::string since = "since=" + std::to_string(*since_s);
  if (options.json)
    return show(client.get("/api/v1/ports/" + path_part(options.port) + "/history?" + since));
  style.ascii = style.ascii || options.ascii;
  return show(client.get("/api/v1/text/history/" + path_part(options.port) + "?" + since + "&" +
                         style_query(style)));
}

}  // namespace linkhealth::cli
