// `linkhealth replay`: a recording through the engine of the daemon. The same recording and
// configuration give the same output on any machine.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "config/config.h"
#include "daemon/engine/engine.h"
#include "exporters/text/text_style.h"
#include "storage/recording/recording.h"

namespace linkhealth::cli {

struct ReplayOptions {
  std::string recording;         ///< a file, plain or gzip; "-" is standard input
  std::optional<Config> config;  ///< none: the defaults
  std::string format = "text";   ///< "text", "json" or "jsonl"
  TextStyle style;
};

/// The engine's settings: what the recording expects of its ports; the configuration takes
/// precedence.
EngineSettings replay_settings(const RecordingHeader& header, const std::optional<Config>& config);

/// "text" and "json" print the last report; "jsonl" prints a line per fault event and at the end
/// {"report":{…}}. Returns 0 when the recording could be replayed, even if it is truncated (with a
/// warning in `err`); 2 with one line in `err` when it is no recording, damaged in the middle, or
/// has no snapshot.
int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err);

}  // namespace linkhealth::cli
