// ack and maintenance.
#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "model/json.h"

namespace linkhealth::cli {

namespace {

constexpr std::uint64_t kLongest_s = 90 * kDay_s;  // as the daemon (daemon/api_operator.cpp)

/// "&for=7200&by=ann&reason=…"; nullopt after a complaint.
std::optional<std::string> parameters(const std::string& command, const std::string& for_time,
                                      const std::string& reason, const std::string& by) {
  std::string text = "by=" + url_encoded(by.empty() ? user_name() : by);
  if (!reason.empty()) text += "&reason=" + url_encoded(reason);
  if (for_time.empty()) return text;
  const auto duration = parse_duration_s(for_time, kLongest_s);
  if (duration) return text + "&for=" + std::to_string(*duration);
  complain(command + " --for: " + duration.error().message);
  return std::nullopt;
}

/// Prints the action's sentence, or all of it as JSON.
int act(const Client& client, const std::string& path, bool json) {
  const auto answer = client.post(path);
  const auto done = answer && answer->status == 200 ? parse_json(answer->body) : Json();
  if (json || !done || done->is_null()) return show(answer);
  const std::string warning = text_member(*done, "warning");
  std::puts((text_member(*done, "text") + (warning.empty() ? "" : "; " + warning)).c_str());
  return kOk;
}

}  // namespace

std::string user_name() {
  if (const char* before = std::getenv("SUDO_USER");
      before != nullptr && geteuid() == 0 && *before != '\0')
    return before;
  if (const passwd* entry = getpwuid(geteuid()); entry != nullptr) return entry->pw_name;
  return "uid " + std::to_string(geteuid());
}

int run_ack(const Client& client, const AckOptions& options) {
  if (options.end && (!options.for_time.empty() || !options.reason.empty())) {
    complain("ack --end takes back an acknowledgement: it goes with neither --for nor --reason");
    return kBadInput;
  }
  const auto query = parameters("ack", options.for_time, options.reason, options.by);
  if (!query) return kBadInput;
  return act(client,
             "/api/v1/ports/" + url_encoded(options.port) + "/ack?" + *query +
                 (options.end ? "&end=1" : ""),
             options.json);
}

int run_maintenance(const Client& client, const MaintenanceOptions& options) {
  const bool end = options.action == "end";
  if (end != options.for_time.empty()) {
    complain(end ? "maintenance end takes no --for"
                 : "maintenance start: say --for how long (30m, 2h, 1d)");
    return kBadInput;
  }
  if (end && options.no_module_reads) {
    complain("maintenance end takes no --no-module-reads");
    return kBadInput;
  }
  const auto query = parameters("maintenance", options.for_time, options.reason, options.by);
  if (!query) return kBadInput;
  return act(client,
             "/api/v1/maintenance?port=" + url_encoded(options.port) + "&" + *query +
                 (end ? "&end=1" : "") + (options.no_module_reads ? "&module_reads=off" : ""),
             options.json);
}

}  // namespace linkhealth::cli
