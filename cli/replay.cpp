#include "cli/replay.h"

#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "daemon/engine.h"
#include "exporters/json.h"
#include "storage/recording.h"

namespace linkhealth {

namespace {

constexpr int kReplayed = 0;
constexpr int kNotReplayed = 2;

/// A line that tells a person that it goes on, once a second, after the first second.
class Progress {
 public:
  Progress(const ReplayOptions& options, std::ostream& err)
      : clock_(options.show_progress ? options.clock : nullptr), err_(err) {
    if (clock_ != nullptr) next_ = clock_->steady() + kInterval;
  }
  void at(const Snapshot& snapshot, std::size_t count) {
    if (clock_ == nullptr || count % 64 != 0) return;
    const SteadyTime now = clock_->steady();
    if (now < next_) return;
    next_ = now + kInterval;
    shown_ = true;
    err_ << fmt::format("\r{} snapshots, {}", count, format_rfc3339(snapshot.wall_time))
         << std::flush;
  }
  /// Wipes the line.
  void done() {
    if (shown_) err_ << "\r\x1b[K" << std::flush;
    shown_ = false;
  }

 private:
  static constexpr Milliseconds kInterval{1000};
  const Clock* clock_;
  std::ostream& err_;
  SteadyTime next_;
  bool shown_ = false;
};

int refuse(std::ostream& err, const std::string& message) {
  err << "linkhealth: " << message << '\n';
  return kNotReplayed;
}

void print_report(const ReplayOptions& options, const Report& report, std::ostream& out) {
  switch (options.format) {
    case ReplayFormat::kText:
      out << options.render_text(report);
      return;
    case ReplayFormat::kJson:
      out << report_json(report) << '\n';
      return;
    case ReplayFormat::kJsonl:
      out << "{\"report\":" << report_json(report) << "}\n";
      return;
  }
}

/// Folds every snapshot; the last report, or why there is none.
Result<std::shared_ptr<const Report>> fold(RecordingReader& recording, const ReplayOptions& options,
                                           std::ostream& out, Progress& progress) {
  auto header = recording.header();
  if (!header) return header.error();
  Engine engine(replay_settings(*header, options.config));
  std::shared_ptr<const Report> last;
  for (;;) {
    auto snapshot = recording.next();
    if (!snapshot) return snapshot.error();
    if (!*snapshot) return last;
    Engine::Step step = engine.step(**snapshot);
    last = std::move(step.report);
    if (options.format == ReplayFormat::kJsonl)
      for (const FaultEvent& event : step.events) out << event_json_line(event) << '\n';
    progress.at(**snapshot, recording.snapshot_count());
  }
}

}  // namespace

EngineSettings replay_settings(const RecordingHeader& header, const std::optional<Config>& config) {
  EngineSettings settings;
  settings.node = header.node;
  settings.expected = header.expected;
  settings.knobs = config ? config->knobs : KnobTable(engine_knob_groups());
  if (!config) return settings;
  static_cast<ExpectedPorts&>(settings) = *config;
  settings.planned.insert(header.expected.begin(), header.expected.end());
  return settings;
}

std::optional<ReplayFormat> parse_replay_format(std::string_view text) {
  if (text == "text") return ReplayFormat::kText;
  if (text == "json") return ReplayFormat::kJson;
  if (text == "jsonl") return ReplayFormat::kJsonl;
  return std::nullopt;
}

int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err) {
  auto recording = RecordingReader::open(options.recording);
  if (!recording) return refuse(err, recording.error().message);
  Progress progress(options, err);
  auto last = fold(*recording, options, out, progress);
  progress.done();
  if (!last) return refuse(err, last.error().message);
  if (!recording->warning().empty()) err << "linkhealth: " << recording->warning() << '\n';
  if (*last == nullptr) return refuse(err, options.recording + ": a recording without a snapshot");
  print_report(options, **last, out);
  out.flush();
  if (!out) return refuse(err, "cannot write the result");
  return kReplayed;
}

}  // namespace linkhealth
