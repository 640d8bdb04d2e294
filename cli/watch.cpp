#include <cstdio>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/terminal.h"

namespace linkhealth::cli {

namespace {

/// JSON lines: nothing is drawn over, so that a pipe gets each of them.
int watch_json(const Client& client, const WatchOptions& options) {
  const std::string path =
      options.port.empty() ? "/api/v1/report" : "/api/v1/ports/" + path_part(options.port);
  if (const int shown = show(client.get(path)); shown != kOk) return shown;
  const LiveScreen screen(false);
  for (std::uint64_t shown = 1; options.frames == 0 || shown < options.frames; ++shown) {
    std::fflush(stdout);
    if (!screen.wait(options.interval)) break;
    if (std::ferror(stdout) != 0) break;
    (void)show(client.get(path));  // it complains on standard error; the daemon may come back
  }
  return kOk;
}

}  // namespace

int run_watch(const Client& client, const WatchOptions& options) {
  if (options.json) return watch_json(client, options);
  const std::string path = options.port.empty()
                               ? "/api/v1/text/status?"
                               : "/api/v1/text/explain/" + path_part(options.port) + "?";
  const auto frame = [&] {
    return client.get(path + style_query(output_style()) + (options.problems ? "&problems=1" : ""));
  };
  const auto first =
      frame();  // a mistake is told on the usual screen, not on the one that goes away
  if (!first || first->status != 200) return show(first);
  const bool is_terminal = output_is_terminal();
  const LiveScreen screen(is_terminal);
  screen.draw(first->body);
  for (std::uint64_t shown = 1; options.frames == 0 || shown < options.frames; ++shown) {
    if (!screen.wait(options.interval)) break;
    const auto next = frame();
    if (!next)
      screen.draw("linkhealth: " + next.error().message + "\n");  // it may come back: go on
    else
      screen.draw(next->status == 200 ? next->body : "linkhealth: " + refusal(*next) + "\n");
  }
  return kOk;
}

}  // namespace linkhealth::cli
