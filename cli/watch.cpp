#include <cstdio>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/terminal.h"

namespace linkhealth::cli {

namespace {

constexpr Milliseconds kRefresh{1000};

/// One JSON document per line, so that a pipe gets each of them.
int watch_json(const Client& client, const WatchOptions& options) {
  const std::string path =
      options.port.empty() ? "/api/v1/report" : "/api/v1/ports/" + path_part(options.port);
  if (const int shown = show(client.get(path)); shown != kOk) return shown;
  const LiveScreen screen(false);
  for (std::uint64_t shown = 1; options.frames == 0 || shown < options.frames; ++shown) {
    std::fflush(stdout);
    if (!screen.wait(kRefresh)) break;
    if (std::ferror(stdout) != 0) break;
    (void)show(client.get(path));  // an error goes to standard error; the daemon may come back
  }
  return kOk;
}

}  // namespace

int run_watch(const Context& context, const WatchOptions& options) {
  if (options.json) return watch_json(context.client, options);
  const std::string path = options.port.empty()
                               ? "/api/v1/text/status?"
                               : "/api/v1/text/explain/" + path_part(options.port) + "?";
  const auto frame = [&] {
    return context.client.get(path + style_query(output_style()) +
                              (options.problems ? "&problems=1" : ""));
  };
  const auto first = frame();  // before the alternate screen, where an error would disappear
  if (!first || first->status != 200) return show(first);
  const LiveScreen screen(output_is_terminal());
  screen.draw(first->body);
  for (std::uint64_t shown = 1; options.frames == 0 || shown < options.frames; ++shown) {
    if (!screen.wait(kRefresh)) break;
    const auto next = frame();
    if (!next)
      screen.draw("linkhealth: " + next.error().message + "\n");  // the daemon may come back
    else
      screen.draw(next->status == 200 ? next->body : "linkhealth: " + refusal(*next) + "\n");
  }
  return kOk;
}

}  // namespace linkhealth::cli
