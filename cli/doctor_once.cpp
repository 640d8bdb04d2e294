#include <cstdio>

#include "cli/exit_codes.h"
#include "cli/local.h"
#include "config/config.h"
#include "daemon/doctor.h"
#include "exporters/doctor.h"
#include "probes/live_host.h"

namespace linkhealth::cli {

int doctor_once(const DoctorOptions& options, const TextStyle& style, const Clock& clock) {
  const auto [report, sources] = look_once(options.sysroot, clock);
  if (!report) return kBadInput;
  LiveHost host(options.sysroot);
  const DoctorReport doctor = examine(
      *report,
      gather_node_facts(host, false, !options.sysroot.empty(), sources, Config().lldpd_socket));
  const std::string text = options.json ? doctor_json(doctor) + "\n" : doctor_text(doctor, style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return doctor.hidden > 0 ? kProblems : kOk;
}

}  // namespace linkhealth::cli
