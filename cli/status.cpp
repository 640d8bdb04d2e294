#include <cstdio>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/once.h"
#include "cli/run_in_subprocess.h"
#include "exporters/json.h"
#include "exporters/text.h"

namespace linkhealth::cli {

namespace {

int status_once(const Context& context, const StatusOptions& options) {
  const auto report = read_once(options.sysroot, context.clock).report;
  if (!report) return kBadInput;
  StatusView view;
  view.problems_only = options.problems;
  view.wide = options.wide;
  const std::string text =
      options.json ? report_json(*report) + "\n" : status_text(*report, context.style, view);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return options.problems && count_problems(*report) > 0 ? kProblems : kOk;
}

}  // namespace

int run_status(const Context& context, const StatusOptions& options) {
  if (options.once) return run_in_subprocess([&] { return status_once(context, options); });
  std::string path = "/api/v1/text/status?" + style_query(context.style);
  if (options.problems) path += "&problems=1";
  if (options.wide) path += "&wide=1";
  const auto drawn = context.client.get(path);
  const bool bad = options.problems && drawn.ok() && drawn->status == 200 && drawn->problems != "0";
  const int exit_code = bad ? kProblems : kOk;
  return options.json && drawn.ok() ? show(context.client.get("/api/v1/report"), exit_code)
                                    : show(drawn, exit_code);
}

}  // namespace linkhealth::cli
