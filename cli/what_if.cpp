#include "cli/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "base/text.h"
#include "cli/exit_codes.h"
#include "exporters/text_layout.h"
#include "model/json_writer.h"

namespace linkhealth::cli {

namespace {

bool same_fault(const Episode& a, const Episode& b) {
  return a.port == b.port && a.fault == b.fault && a.end == b.end;
}

bool same_time(const Episode& a, const Episode& b) {
  constexpr double kTolerance_s = 0.5;
  const auto near = [](SteadyTime x, SteadyTime y) {
    return std::abs(in_seconds(x - y)) < kTolerance_s;
  };
  return near(a.opened, b.opened) && a.closed.has_value() == b.closed.has_value() &&
         (!a.closed || near(*a.closed, *b.closed));
}

const Episode& either(const EpisodeChange& change) {
  return change.now ? *change.now : *change.then;
}

std::string episode_words(const std::optional<Episode>& episode) {
  if (!episode) return "nothing";
  return fmt::format(
      "{} ({}, {}), from {}{}", name_words(episode->fault), to_string(episode->end),
      confidence_words(episode->confidence), instant_words(episode->opened_at),
      episode->closed ? fmt::format(" for {}", duration_words(*episode->closed - episode->opened))
                      : ", still open");
}

void put_episode(JsonWriter& json, std::string_view key, const std::optional<Episode>& episode) {
  if (!episode) return;
  json.key(key);
  json.begin_object();
  json.key("fault");
  json.value(episode->fault);
  json.key("end");
  json.value(to_string(episode->end));
  json.key("confidence");
  json.value(episode->confidence);
  json.key("opened_at");
  json.value(format_rfc3339(episode->opened_at));
  if (episode->closed) {
    json.key("closed_after_s");
    json.value(in_seconds(*episode->closed - episode->opened));
  }
  json.end_object();
}

std::string as_json(const std::vector<EpisodeChange>& changes, std::size_t total,
                    const std::vector<std::string>& settings) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("schema");
  json.value("linkhealth.what_if/1");
  json.key("what_if");
  json.begin_array();
  for (const std::string& setting : settings) json.value(setting);
  json.end_array();
  json.key("diagnoses");
  json.value(static_cast<std::uint64_t>(total));
  json.key("changes");
  json.begin_array();
  for (const EpisodeChange& change : changes) {
    json.begin_object();
    json.key("port");
    json.value(either(change).port);
    put_episode(json, "now", change.now);
    put_episode(json, "then", change.then);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return text + "\n";
}

std::string as_text(const std::vector<EpisodeChange>& changes, std::size_t total,
                    const std::vector<std::string>& settings) {
  std::string text = "With " + join_parts(settings, ", ") + "\n";
  for (const EpisodeChange& change : changes)
    text += fmt::format("\n  {}\n    now   {}\n    then  {}\n", either(change).port,
                        episode_words(change.now), episode_words(change.then));
  const auto gone = std::ranges::count_if(changes, [](const auto& c) { return !c.then; });
  const auto fresh = std::ranges::count_if(changes, [](const auto& c) { return !c.now; });
  const auto moved = std::ssize(changes) - gone - fresh;
  return text +
         (changes.empty()
              ? fmt::format("\nNo change in {} diagnos{}.\n", total, total == 1 ? "is" : "es")
              : fmt::format("\nOf {} diagnoses {} gone, {} at another time; {} new.\n", total, gone,
                            moved, fresh));
}

/// Both engines over one reading of the file.
Result<std::vector<EpisodeChange>> compare(RecordingReader& recording, const EngineSettings& now,
                                           const EngineSettings& then, std::size_t& total) {
  Engine engine_now(now), engine_then(then);
  std::vector<Episode> episodes_now, episodes_then;
  for (;;) {
    const auto snapshot = recording.next();
    if (!snapshot) return snapshot.error();
    if (!*snapshot) break;
    for (const FaultEvent& event : engine_now.step(**snapshot).events)
      add_event(episodes_now, event);
    for (const FaultEvent& event : engine_then.step(**snapshot).events)
      add_event(episodes_then, event);
  }
  total = episodes_now.size();
  return compare_episodes(episodes_now, episodes_then);
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
      known.push_back(fmt::format("{}{}{}.{}", group.section, group.section.empty() ? "" : ".",
                                  group.name, knob.name));
      if (known.back() == key) return settings.set(group.name, knob.name, *value);
    }
  const std::vector<std::string_view> names(known.begin(), known.end());
  const auto meant = closest(key, names);
  return Error{fmt::format("unknown key \"{}\"{}", printable(key),
                           meant ? fmt::format(" (did you mean \"{}\"?)", *meant) : "")};
}

void add_event(std::vector<Episode>& episodes, const FaultEvent& event) {
  const FaultReport& fault = event.fault;
  const Episode fresh{event.port, fault.fault,  fault.end,       event.t,
                      event.at,   std::nullopt, fault.confidence};
  const auto open = std::find_if(episodes.rbegin(), episodes.rend(), [&](const Episode& episode) {
    return same_fault(episode, fresh) && !episode.closed;
  });
  const bool closes = event.kind == FaultEventKind::kClosed;
  if (open == episodes.rend()) {
    if (!closes) episodes.push_back(fresh);
    return;
  }
  open->confidence = std::max(open->confidence, fault.confidence);
  if (closes) open->closed = event.t;
}

std::vector<EpisodeChange> compare_episodes(const std::vector<Episode>& now,
                                            const std::vector<Episode>& then) {
  std::vector<EpisodeChange> changes;
  std::vector<Episode> unpaired = then;
  for (const Episode& episode : now) {
    const auto pair = std::ranges::find_if(
        unpaired, [&](const Episode& other) { return same_fault(episode, other); });
    if (pair == unpaired.end()) {
      changes.push_back({episode, std::nullopt});
      continue;
    }
    if (!same_time(episode, *pair)) changes.push_back({episode, *pair});
    unpaired.erase(pair);
  }
  for (const Episode& episode : unpaired) changes.push_back({std::nullopt, episode});
  std::ranges::stable_sort(changes, {}, [](const EpisodeChange& change) {
    return std::pair(either(change).port, either(change).opened);
  });
  return changes;
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
  std::size_t total = 0;
  const auto differences = compare(*recording, now, then, total);
  if (!differences) return refuse(differences.error().message);
  if (!recording->warning().empty()) err << "linkhealth: " << recording->warning() << '\n';
  out << (options.format == "text" ? as_text(*differences, total, changes)
                                   : as_json(*differences, total, changes));
  out.flush();
  return out ? kOk : refuse("cannot write the result");
}

}  // namespace linkhealth::cli
