// `linkhealth replay`: a recording through the very engine that the daemon runs. Pure but for its
// files: the same recording and configuration give the same bytes on any machine.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "base/time.h"
#include "config/config.h"
#include "daemon/engine.h"
#include "model/report.h"

namespace linkhealth {

enum class ReplayFormat : std::uint8_t { kText, kJson, kJsonl };
/// "text", "json" or "jsonl".
std::optional<ReplayFormat> parse_replay_format(std::string_view text);

struct ReplayOptions {
  std::string recording;         ///< a file, plain or gzip; "-" is standard input
  std::optional<Config> config;  ///< none: the engine's defaults
  ReplayFormat format = ReplayFormat::kText;
  bool show_progress = false;    ///< `err` is a terminal
  const Clock* clock = nullptr;  ///< of the progress only; none: no progress
  std::function<std::string(const Report&)> render_text;  ///< REQUIRES: set for kText
};

/// What a replay judges by: what the recording expects of its ports, and the configuration before
/// it.
EngineSettings replay_settings(const RecordingHeader& header, const std::optional<Config>& config);

/// kText and kJson print the last report; kJsonl prints a line for each fault event and at the end
/// {"report":{…}}. The node's name and what is expected of its ports come from the recording; what
/// the configuration names goes before. 0 when the recording could be replayed, also one that
/// breaks off (a line in `err` says so); 2 with one clear line in `err` when it is no recording, is
/// damaged in the middle or holds no snapshot.
int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err);

}  // namespace linkhealth
