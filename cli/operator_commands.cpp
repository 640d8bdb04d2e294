// ack and maintenance.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

namespace {

/// "by=ann&reason=…&for=7200"
std::string parameters(const ActionOptions& options) {
  std::string text = "by=" + path_part(options.by.empty() ? user_name() : options.by);
  if (!options.reason.empty()) text += "&reason=" + path_part(options.reason);
  if (options.duration_s > 0) text += fmt::format("&for={}", options.duration_s);
  if (!options.json) text += "&format=text";
  return text;
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
  if (options.end && !options.reason.empty()) {
    complain("ack: --end excludes --reason");
    return kBadInput;
  }
  return show(context.client.post("/api/v1/ports/" + path_part(options.port) + "/ack?" +
                                  parameters(options) + (options.end ? "&end=1" : "")));
}

int run_maintenance(const Context& context, const MaintenanceOptions& options) {
  const bool end = options.action == "end";
  if (end && (options.duration_s > 0 || options.no_module_reads)) {
    complain("maintenance end: unexpected --for or --no-module-reads");
    return kBadInput;
  }
  if (!end && options.duration_s == 0) {
    complain("maintenance start: --for is missing (30m, 2h, 1d)");
    return kBadInput;
  }
  return show(context.client.post("/api/v1/maintenance?port=" + path_part(options.port) + "&" +
                                  parameters(options) + (end ? "&end=1" : "") +
                                  (options.no_module_reads ? "&module_reads=off" : "")));
}

}  // namespace linkhealth::cli
