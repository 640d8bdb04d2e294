#include <unistd.h>

#include <iostream>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/local.h"
#include "cli/replay.h"
#include "cli/what_if.h"
#include "daemon/daemon.h"
#include "exporters/text.h"

namespace linkhealth::cli {

int replay_file(const ReplayOptions& options, const TextStyle& style, const Clock& clock) {
  linkhealth::ReplayOptions replay_options;
  replay_options.recording = options.file;
  replay_options.format = parse_replay_format(options.format).value_or(ReplayFormat::kText);
  replay_options.show_progress = isatty(STDERR_FILENO) != 0;
  replay_options.clock = &clock;
  replay_options.render_text = [&style](const Report& report) {
    std::string text = status_text(report, style, {});
    for (const PortReport& port : report.ports)
      if (!port.faults.empty())
        text += "\n" + explain_text(port, style, {.now = report.at, .t = report.t});
    return text;
  };
  if (!options.config.empty()) {
    auto config = load_config_file(options.config, all_knob_groups());
    if (!config) {
      complain(config.error().message);
      return kBadInput;
    }
    replay_options.config = *std::move(config);
  }
  if (!options.what_if.empty())
    return what_if(replay_options, options.what_if, std::cout, std::cerr);
  return replay(replay_options, std::cout, std::cerr);
}

}  // namespace linkhealth::cli
