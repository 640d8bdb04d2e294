// `linkhealth replay`: runs a recording through the daemon's engine. The same recording and
// configuration give the same output on any machine. With --what-if KEY=VALUE: runs it through two
// engines, with and without the changed settings, and lists the differences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "daemon/engine/engine.h"
#include "exporters/text/text_style.h"

namespace linkhealth::cli {

struct ReplayOptions {
  std::string recording;               ///< a file, plain or gzip; "-" is standard input
  std::optional<Config> config{};      ///< nullopt: the defaults
  std::string format = "text";         ///< "text", "json" or "jsonl"
  std::vector<std::string> what_if{};  ///< "KEY=VALUE"
  TextStyle style{};
};

/// "text" and "json" print the last report; "jsonl" prints a line per fault event and finally
/// {"report":{…}}. A truncated recording is replayed with a warning. Throws CommandError
/// (kBadInput) for a file that is not a recording, is damaged in the middle, or has no snapshot.
void replay(const ReplayOptions& options);
/// Prints the diagnoses that disappear or are new, as text or as one JSON document ("json",
/// "jsonl").
void what_if(const ReplayOptions& options);

/// Changes one setting: "diagnosis.flap_losses=6". An Error names the allowed range or the nearest
/// key.
Result<void> change_setting(SettingTable& settings, std::string_view key_and_value);

/// A fault from its opening to its closing.
struct Episode {
  PortKey port;
  std::string fault;
  End end = End::kNone;
  WallTime opened_at;
  std::optional<WallTime> closed_at;
  double confidence = 0;  ///< the highest
};
/// Adds an event. REQUIRES: in the order of time.
void add_event(std::vector<Episode>& episodes, const FaultEvent& event);
/// The episodes of `a` that are not in `b`: with the same port, fault, end and times.
std::vector<Episode> missing_in(const std::vector<Episode>& a, const std::vector<Episode>& b);

}  // namespace linkhealth::cli
