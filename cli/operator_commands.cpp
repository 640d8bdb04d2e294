// ack and maintenance.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "model/json/json.h"

namespace linkhealth::cli {

namespace {

/// "by=ann&reason=…&for=7200"
std::string parameters(const ActionOptions& options, bool end) {
  std::string text = "by=" + url_encoded(options.by.empty() ? user_name() : options.by);
  if (!options.reason.empty()) text += "&reason=" + url_encoded(options.reason);
  if (options.duration_s > 0) text += fmt::format("&for={}", options.duration_s);
  return end ? text + "&end=1" : text;
}

/// Prints the sentence of the answer, or the whole answer as JSON.
int act(const Client& client, const std::string& path, bool json) {
  const std::string body = body_of(client.post(path));
  const auto answer = parse_json(body);
  if (json || !answer) return print(body);
  const std::string warning = text_member(*answer, "warning");
  return print(text_member(*answer, "text") + (warning.empty() ? "" : "; " + warning));
}

}  // namespace

std::string user_name() {
  if (const char* before = std::getenv("SUDO_USER");
      before != nullptr && geteuid() == 0 && *before != '\0')
    return before;
  if (const passwd* entry = getpwuid(geteuid()); entry != nullptr) return entry->pw_name;
  return "uid " + std::to_string(geteuid());
}

int run_ack(const Context& context, const AckOptions& options) {
  return act(
      context.client,
      "/api/v1/ports/" + url_encoded(options.port) + "/ack?" + parameters(options, options.end),
      options.json);
}

int run_maintenance(const Context& context, const MaintenanceOptions& options) {
  const bool end = options.action == "end";
  if (end && (options.duration_s > 0 || options.no_module_reads))
    throw CommandError(kBadInput, "maintenance end: unexpected --for or --no-module-reads");
  if (!end && options.duration_s == 0)
    throw CommandError(kBadInput, "maintenance start: --for is missing (30m, 2h, 1d)");
  return act(context.client,
             "/api/v1/maintenance?port=" + url_encoded(options.port) + "&" +
                 parameters(options, end) + (options.no_module_reads ? "&module_reads=off" : ""),
             options.json);
}

}  // namespace linkhealth::cli
