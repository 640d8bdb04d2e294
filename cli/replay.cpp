#include "cli/replay.h"

#include <iostream>
#include <memory>
#include <ostream>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/what_if.h"
#include "daemon/daemon.h"
#include "exporters/json/json.h"
#include "exporters/text/text.h"

namespace linkhealth::cli {

namespace {

std::string text_of(const Report& report, const TextStyle& style) {
  std::string text = status_text(report, style, {});
  for (const PortReport& port : report.ports)
    if (!port.faults.empty())
      text += "\n" + explain_text(port, style, {.now = report.at, .t = report.t});
  return text;
}

/// Steps the engine through all snapshots; the last report, null without a snapshot.
Result<std::shared_ptr<const Report>> step_through(RecordingReader& recording,
                                                   const ReplayOptions& options,
                                                   std::ostream& out) {
  const auto header = recording.header();
  if (!header) return header.error();
  Engine engine(replay_settings(*header, options.config));
  std::shared_ptr<const Report> last;
  for (;;) {
    const auto snapshot = recording.next();
    if (!snapshot) return snapshot.error();
    if (!*snapshot) return last;
    Engine::Step step = engine.step(**snapshot);
    last = std::move(step.report);
    if (options.format == "jsonl")
      for (const FaultEvent& event : step.events) out << event_json_line(event) << '\n';
  }
}

}  // namespace

EngineSettings replay_settings(const RecordingHeader& header, const std::optional<Config>& config) {
  EngineSettings settings;
  settings.node = header.node;
  settings.expected = header.expected;
  settings.knobs = config ? config->knobs : KnobTable(diagnosis_knob_groups());
  if (!config) return settings;
  static_cast<ExpectedPorts&>(settings) = *config;
  settings.planned.insert(header.expected.begin(), header.expected.end());
  return settings;
}

int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err) {
  const auto refuse = [&err](const std::string& message) {
    err << "linkhealth: " << message << '\n';
    return kBadInput;
  };
  auto recording = RecordingReader::open(options.recording);
  if (!recording) return refuse(recording.error().message);
  const auto last = step_through(*recording, options, out);
  if (!last) return refuse(last.error().message);
  if (!recording->warning().empty()) err << "linkhealth: " << recording->warning() << '\n';
  if (*last == nullptr) return refuse(options.recording + ": no snapshot in this recording");
  if (options.format == "json")
    out << report_json(**last) << '\n';
  else if (options.format == "jsonl")
    out << "{\"report\":" << report_json(**last) << "}\n";
  else
    out << text_of(**last, options.style);
  out.flush();
  return out ? kOk : refuse("cannot write the result");
}

int run_replay(const Context& context, const ReplayCommandOptions& command) {
  ReplayOptions options;
  options.recording = command.file;
  options.format = command.format;
  options.style = context.style;
  if (!command.config.empty()) {
    auto config = load_config_file(command.config, all_knob_groups());
    if (!config) {
      complain(config.error().message);
      return kBadInput;
    }
    options.config = *std::move(config);
  }
  return command.what_if.empty() ? replay(options, std::cout, std::cerr)
                                 : what_if(options, command.what_if, std::cout, std::cerr);
}

}  // namespace linkhealth::cli
