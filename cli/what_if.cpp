#include "cli/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ostream>

#include "base/text.h"
#include "cli/exit_codes.h"
#include "exporters/text/text_layout.h"
#include "model/json/json.h"

namespace linkhealth::cli {

namespace {

bool same_fault(const Episode& a, const Episode& b) {
  return a.port == b.port && a.fault == b.fault && a.end == b.end;
}

std::string as_text(const std::vector<Episode>& episodes, char sign) {
  std::string text;
  for (const Episode& episode : episodes)
    text += fmt::format(
        "  {} {}  {} ({}, {}), from {}{}\n", sign, episode.port, name_words(episode.fault),
        to_string(episode.end), confidence_words(episode.confidence),
        instant_words(episode.opened_at),
        episode.closed_at
            ? fmt::format(" for {}", duration_words(*episode.closed_at - episode.opened_at))
            : ", still open");
  return text;
}

OrderedJson as_json(const std::vector<Episode>& episodes) {
  OrderedJson out = OrderedJson::array();
  for (const Episode& episode : episodes) {
    out.push_back({{"port", episode.port},
                   {"fault", episode.fault},
                   {"end", to_string(episode.end)},
                   {"confidence", episode.confidence},
                   {"opened_at", format_rfc3339(episode.opened_at)}});
    if (episode.closed_at) out.back()["closed_at"] = format_rfc3339(*episode.closed_at);
  }
  return out;
}

struct Comparison {
  std::size_t total = 0;  ///< episodes with the settings of now
  std::vector<Episode> gone, fresh;
};

std::string as_json(const Comparison& comparison, const std::vector<std::string>& settings) {
  OrderedJson out;
  out["schema"] = "linkhealth.what_if/1";
  out["what_if"] = settings;
  out["diagnoses"] = comparison.total;
  out["gone"] = as_json(comparison.gone);
  out["new"] = as_json(comparison.fresh);
  return format_json(out) + "\n";
}

std::string as_text(const Comparison& comparison, const std::vector<std::string>& settings) {
  return fmt::format(
      "With {}: {} of {} gone, {} new\n{}{}", join_parts(settings, ", "), comparison.gone.size(),
      comparison.total == 1 ? "1 diagnosis" : fmt::format("{} diagnoses", comparison.total),
      comparison.fresh.size(), as_text(comparison.gone, '-'), as_text(comparison.fresh, '+'));
}

/// Both engines over one reading of the file.
Result<Comparison> compare(RecordingReader& recording, const EngineSettings& now,
                           const EngineSettings& then) {
  Engine engine_now(now), engine_then(then);
  std::vector<Episode> episodes_now, episodes_then;
  for (;;) {
    const auto snapshot = recording.next();
    if (!snapshot) return snapshot.error();
    if (!*snapshot)
      return Comparison{episodes_now.size(), missing_in(episodes_now, episodes_then),
                        missing_in(episodes_then, episodes_now)};
    for (const FaultEvent& event : engine_now.step(**snapshot).events)
      add_event(episodes_now, event);
    for (const FaultEvent& event : engine_then.step(**snapshot).events)
      add_event(episodes_then, event);
  }
}

}  // namespace

Result<void> change_setting(KnobTable& settings, std::string_view key_and_value) {
  const auto equals = key_and_value.find('=');
  if (equals == std::string_view::npos)
    return Error{fmt::format("\"{}\" is not KEY=VALUE", printable(key_and_value))};
  const std::string_view key = trim(key_and_value.substr(0, equals));
  const auto value = parse_double(trim(key_and_value.substr(equals + 1)));
  if (!value)
    return Error{fmt::format("\"{}\": the value is not a number", printable(key_and_value))};
  std::vector<std::string> known;
  for (const KnobGroup& group : settings.groups())
    for (const Knob& knob : group.knobs) {
      known.push_back(fmt::format("{}.{}", group.name, knob.name));
      if (known.back() == key) return settings.set(group.name, knob.name, *value);
    }
  const std::vector<std::string_view> names(known.begin(), known.end());
  const auto meant = closest(key, names);
  return Error{fmt::format("unknown key \"{}\"{}", printable(key),
                           meant ? fmt::format(" (did you mean \"{}\"?)", *meant) : "")};
}

void add_event(std::vector<Episode>& episodes, const FaultEvent& event) {
  const FaultReport& fault = event.fault;
  const Episode fresh{event.port, fault.fault, fault.end, event.at, std::nullopt, fault.confidence};
  const auto open = std::find_if(episodes.rbegin(), episodes.rend(), [&](const Episode& episode) {
    return same_fault(episode, fresh) && !episode.closed_at;
  });
  const bool closes = event.kind == FaultEventKind::kClosed;
  if (open == episodes.rend()) {
    if (!closes) episodes.push_back(fresh);
    return;
  }
  open->confidence = std::max(open->confidence, fault.confidence);
  if (closes) open->closed_at = event.at;
}

std::vector<Episode> missing_in(const std::vector<Episode>& a, const std::vector<Episode>& b) {
  std::vector<Episode> out;
  std::ranges::copy_if(a, std::back_inserter(out), [&b](const Episode& episode) {
    return std::ranges::none_of(b, [&episode](const Episode& other) {
      return same_fault(episode, other) && episode.opened_at == other.opened_at &&
             episode.closed_at == other.closed_at;
    });
  });
  return out;
}

int what_if(const ReplayOptions& options, const std::vector<std::string>& changes,
            std::ostream& out, std::ostream& err) {
  const auto refuse = [&err](const std::string& message) {
    err << "linkhealth: " << message << '\n';
    return kBadInput;
  };
  auto recording = RecordingReader::open(options.recording);
  if (!recording) return refuse(recording.error().message);
  const auto header = recording->header();
  if (!header) return refuse(header.error().message);
  const EngineSettings now = replay_settings(*header, options.config);
  EngineSettings then = now;
  for (const std::string& change : changes)
    if (const auto changed = change_setting(then.knobs, change); !changed)
      return refuse("--what-if: " + changed.error().message);
  const auto comparison = compare(*recording, now, then);
  if (!comparison) return refuse(comparison.error().message);
  if (!recording->warning().empty()) err << "linkhealth: " << recording->warning() << '\n';
  out << (options.format == "text" ? as_text(*comparison, changes) : as_json(*comparison, changes));
  out.flush();
  return out ? kOk : refuse("cannot write the result");
}

}  // namespace linkhealth::cli
