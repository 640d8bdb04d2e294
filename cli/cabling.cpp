#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

int run_cabling(const Context& context, const CablingOptions& options) {
  const auto answer =
      context.client.get(options.json ? std::string("/api/v1/cabling")
                                      : "/api/v1/text/cabling?" + style_query(context.style));
  const bool wrong = answer && !answer->problems.empty() && answer->problems != "0";
  return show(answer, wrong ? kProblems : kOk);
}

}  // namespace linkhealth::cli
