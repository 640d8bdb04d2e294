#include <cerrno>

#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

std::optional<int> run_doctor(const Client& client, const DoctorOptions& options,
                              const TextStyle& style) {
  const auto answer =
      client.get(options.json ? "/api/v1/doctor" : "/api/v1/text/doctor?" + style_query(style));
  if (!answer && (answer.error().errnum == ENOENT || answer.error().errnum == ECONNREFUSED))
    return std::nullopt;
  const bool good = answer.ok() && answer->status == 200;
  const int exit_code = show(answer, good && answer->problems != "0" ? kProblems : kOk);
  return good ? exit_code : kBadInput;
}

}  // namespace linkhealth::cli
