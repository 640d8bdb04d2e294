#include "cli/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "base/text.h"
#include "cli/commands.h"
#include "daemon/daemon.h"
#include "exporters/json/json.h"
#include "exporters/text/text.h"
#include "exporters/text/text_layout.h"
#include "model/history/engine_state.h"
#include "model/json/json.h"
#include "storage/recording/recording.h"

namespace linkhealth::cli {

namespace {

template <typename Value>
Value value_or_throw(Result<Value> result) {
  if (!result) throw CommandError(kBadInput, result.error().message);
  return *std::move(result);
}

/// What the recording expects of its ports; the configuration takes precedence.
EngineSettings settings_of(const RecordingHeader& header, const std::optional<EngineState>& known,
                           const std::optional<Config>& config) {
  EngineSettings settings;
  settings.node = header.node;
  settings.expected = header.expected;
  settings.setting_table =
      config ? config->setting_table : SettingTable(diagnosis_setting_groups());
  if (!config) {
    if (known)
      for (const auto& [key, value] : known->settings)
        // A setting from a newer recorder that this program does not have is ignored.
        (void)change_setting(settings.setting_table, fmt::format("{}={}", key, value));
    return settings;
  }
  static_cast<ExpectedPorts&>(settings) = *config;
  settings.planned.insert(header.expected.begin(), header.expected.end());
  return settings;
}

/// A recording and the engine's settings for it.
struct Recording {
  explicit Recording(const ReplayOptions& options)
      : reader(value_or_throw(RecordingReader::open(options.recording))),
        header(value_or_throw(reader.header())),
        settings(settings_of(header, reader.known(), options.config)) {}

  /// The recorder's state: baselines and open faults.
  void restore(Engine& engine) const {
    if (!reader.known()) return;
    engine.restore(reader.known()->references);
    engine.restore(reader.known()->ledger);
  }

  /// Calls `step` with each snapshot; prints a warning about a truncated recording.
  template <typename Step>
  void for_each_snapshot(Step step) {
    while (const auto snapshot = value_or_throw(reader.next())) step(*snapshot);
    if (!reader.warning().empty()) complain(reader.warning());
  }

  RecordingReader reader;
  RecordingHeader header;
  EngineSettings settings;
};

/// Below this, error rates are unknown: the counters are read every 10 s, and the BER is the median
/// over 90 s.
constexpr Milliseconds kShortestJudged{90'000};

/// What could not be judged must not be shown as healthy.
std::shared_ptr<const Report> without_premature_health(std::shared_ptr<const Report> report,
                                                       Milliseconds recorded) {
  if (recorded >= kShortestJudged) return report;
  auto changed = std::make_shared<Report>(*report);
  for (PortReport& port : changed->ports)
    if (port.health == Health::kHealthy || (port.health == Health::kUnknown && port.note.empty())) {
      port.health = Health::kUnknown;
      port.note = fmt::format("recording too short to judge: {}, at least {} are needed",
                              format_duration(recorded), format_duration(kShortestJudged));
    }
  return changed;
}

std::string text_of(const Report& report, const TextStyle& style) {
  std::string text = status_text(report, style, {});
  for (const PortReport& port : report.ports)
    if (!port.faults.empty())
      text += "\n" + explain_text(port, style, {.now = report.at, .t = report.t});
    else if (port.health == Health::kUnknown && !port.note.empty())
      text += fmt::format("\n{}: {}\n", port.port, port.note);
  return text;
}

bool same_fault(const Episode& a, const Episode& b) {
  return a.port == b.port && a.fault == b.fault && a.end == b.end;
}

std::string as_text(const std::vector<Episode>& episodes, char sign) {
  std::string text;
  for (const Episode& episode : episodes)
    text += fmt::format(
        "  {} {}  {} ({}, {}), from {}{}\n", sign, episode.port, format_name(episode.fault),
        to_string(episode.end), format_confidence(episode.confidence),
        format_instant(episode.opened_at),
        episode.closed_at
            ? fmt::format(" for {}", format_duration(*episode.closed_at - episode.opened_at))
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

/// What the report no longer shows; "" if nothing was closed.
std::string closed_text(const std::vector<Episode>& episodes) {
  std::vector<Episode> closed;
  std::ranges::copy_if(episodes, std::back_inserter(closed),
                       [](const Episode& one) { return one.closed_at.has_value(); });
  return closed.empty() ? "" : "\nClosed during the recording\n" + as_text(closed, '-');
}

}  // namespace

void replay(const ReplayOptions& options) {
  Recording recording(options);
  Engine engine(recording.settings);
  recording.restore(engine);
  std::shared_ptr<const Report> last;
  std::optional<SteadyTime> begun;
  std::vector<Episode> episodes;
  recording.for_each_snapshot([&](const Snapshot& snapshot) {
    Engine::Step step = engine.step(snapshot);
    last = std::move(step.report);
    if (!begun) begun = snapshot.taken_at;
    for (const FaultEvent& event : step.events) {
      add_event(episodes, event);
      if (options.format == "jsonl") print(event_json_line(event));
    }
  });
  if (last == nullptr)
    throw CommandError(kBadInput, options.recording + ": no snapshot in this recording");
  last = without_premature_health(last, last->t - *begun);
  print(options.format == "json"    ? report_json(*last)
        : options.format == "jsonl" ? "{\"report\":" + report_json(*last) + "}"
                                    : text_of(*last, options.style) + closed_text(episodes));
}

void what_if(const ReplayOptions& options) {
  Recording recording(options);
  EngineSettings changed = recording.settings;
  for (const std::string& change : options.what_if)
    if (const auto done = change_setting(changed.setting_table, change); !done)
      throw CommandError(kBadInput, "--what-if: " + done.error().message);
  Engine engine_now(recording.settings), engine_then(changed);
  recording.restore(engine_now);
  recording.restore(engine_then);
  std::vector<Episode> now, then;
  recording.for_each_snapshot([&](const Snapshot& snapshot) {
    for (const FaultEvent& event : engine_now.step(snapshot).events) add_event(now, event);
    for (const FaultEvent& event : engine_then.step(snapshot).events) add_event(then, event);
  });
  const auto gone = missing_in(now, then), fresh = missing_in(then, now);
  if (options.format != "text") {
    print(format_json({{"schema", "linkhealth.what_if/1"},
                       {"what_if", options.what_if},
                       {"diagnoses", now.size()},
                       {"gone", as_json(gone)},
                       {"new", as_json(fresh)}}));
    return;
  }
  print(fmt::format("With {}: {} of {} {} gone, {} new\n{}{}", join_parts(options.what_if, ", "),
                    gone.size(), now.size(), now.size() == 1 ? "diagnosis" : "diagnoses",
                    fresh.size(), as_text(gone, '-'), as_text(fresh, '+')));
}

Result<void> change_setting(SettingTable& settings, std::string_view key_and_value) {
  const auto equals = key_and_value.find('=');
  if (equals == std::string_view::npos)
    return Error{fmt::format("\"{}\" is not KEY=VALUE", printable(key_and_value))};
  const std::string_view key = trim(key_and_value.substr(0, equals));
  const auto value = parse_double(trim(key_and_value.substr(equals + 1)));
  if (!value)
    return Error{fmt::format("\"{}\": the value is not a number", printable(key_and_value))};
  std::vector<std::string> known;
  for (const SettingGroup& group : settings.groups())
    for (const Setting& setting : group.settings) {
      known.push_back(fmt::format("{}.{}", group.name, setting.name));
      if (known.back() == key) return settings.set(group.name, setting.name, *value);
    }
  const auto meant = closest(key, std::vector<std::string_view>(known.begin(), known.end()));
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

int run_replay(const Context& context, const ReplayCommandOptions& command) {
  ReplayOptions options{.recording = command.file,
                        .format = command.format,
                        .what_if = command.what_if,
                        .style = context.style};
  if (!command.config.empty())
    options.config = value_or_throw(load_config_file(command.config, all_setting_groups()));
  options.what_if.empty() ? replay(options) : what_if(options);
  return kOk;
}

}  // namespace linkhealth::cli
