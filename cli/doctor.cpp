#include <cerrno>
#include <cstdio>
#include <optional>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/once.h"
#include "cli/run_in_subprocess.h"
#include "config/config.h"
#include "daemon/doctor.h"
#include "exporters/doctor.h"
#include "probes/live_host.h"

namespace linkhealth::cli {

namespace {

/// nullopt: no daemon runs.
std::optional<int> ask_daemon(const Context& context, const DoctorOptions& options) {
  const auto answer =
      context.client.get(options.json ? std::string("/api/v1/doctor")
                                      : "/api/v1/text/doctor?" + style_query(context.style));
  if (!answer && (answer.error().errnum == ENOENT || answer.error().errnum == ECONNREFUSED))
    return std::nullopt;
  const bool good = answer.ok() && answer->status == 200;
  const int exit_code = show(answer, good && answer->problems != "0" ? kProblems : kOk);
  return good ? exit_code : kBadInput;
}

/// What this command can read with its own permissions.
int examine_once(const Context& context, const DoctorOptions& options) {
  const auto [report, sources] = read_once(options.sysroot, context.clock);
  if (!report) return kBadInput;
  LiveHost host(options.sysroot);
  const DoctorReport doctor = examine(
      *report,
      gather_node_facts(host, false, !options.sysroot.empty(), sources, Config().lldpd_socket));
  const std::string text =
      options.json ? doctor_json(doctor) + "\n" : doctor_text(doctor, context.style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return doctor.hidden > 0 ? kProblems : kOk;
}

}  // namespace

int run_doctor(const Context& context, const DoctorOptions& options) {
  if (options.sysroot.empty())
    if (const auto exit_code = ask_daemon(context, options)) return *exit_code;
  return run_in_subprocess([&] { return examine_once(context, options); });
}

}  // namespace linkhealth::cli
