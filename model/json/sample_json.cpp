#include "model/json/sample_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/expected_ports.h"
#include "model/json/sample_fields.h"
#include "model/json/state_fields.h"

namespace linkhealth {

namespace {

/// An event as recorded: its kind as a word, because a newer writer may have more kinds.
struct EventLine {
  std::optional<SteadyTime> t;
  std::string port;
  std::string kind;
  std::string text;
};

/// A snapshot in the recording's layout.
struct SnapshotLine {
  std::optional<SteadyTime> t;
  std::optional<WallTime> at;
  std::vector<EventLine> events;
  OldGaps old;
  Snapshot snapshot;
};

/// The header in the recording's layout.
struct HeaderLine {
  std::string schema;
  std::optional<WallTime> at;
  RecordingHeader header;
  std::optional<EngineState> known;
};

}  // namespace

JSON_FIELDS(EventLine, t, port, kind, text);

void fields(Is<SnapshotLine> auto& value, auto& visit) {
  VISIT(t, at);
  visit("uptime_s", value.snapshot.uptime_s);
  visit("ports", value.snapshot.ports);
  VISIT(events);
  visit("sources", value.snapshot.sources);
  visit("gaps", value.old.gaps);
  visit("gaps_ended", value.old.ended);
}

void fields(Is<HeaderLine> auto& value, auto& visit) {
  VISIT(schema);
  visit("node", value.header.node);
  visit("boot_id", value.header.boot_id);
  VISIT(at);
  visit("version", value.header.version);
  visit("expected", value.header.expected);
  VISIT(known);
}

namespace {

/// Completes `id` from the key.
void complete_id(const PortKey& key, PortId& id) {
  const auto slash = key.rfind('/');
  id.verbs = slash != std::string::npos;
  if (!id.device.empty()) return;
  id.device = key.substr(0, slash);
  if (!id.verbs) return;
  const auto port = parse_u64(std::string_view(key).substr(slash + 1));
  if (port && *port <= UINT32_MAX) id.port = static_cast<std::uint32_t>(*port);
}

Result<std::vector<PortEvent>> events_of(std::vector<EventLine>& lines) {
  std::vector<PortEvent> events;
  for (EventLine& line : lines) {
    if (!line.t) return Error{"an event without \"t\""};
    const auto kind = parse_enum<PortEventKind>(line.kind);
    if (kind) events.push_back({*line.t, std::move(line.port), *kind, std::move(line.text)});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const PortEvent& a, const PortEvent& b) { return a.t < b.t; });
  return events;
}

}  // namespace

std::string recording_header_json(const RecordingHeader& header, const EngineState* known) {
  HeaderLine line{std::string(kRecordingSchema), header.at, header, std::nullopt};
  if (known != nullptr) line.known = *known;
  return format_fields(line);
}

std::string snapshot_json(const Snapshot& snapshot) {
  FieldsOut visit;
  visit("t", snapshot.taken_at);
  visit("at", snapshot.wall_time);
  visit("uptime_s", snapshot.uptime_s);
  visit("ports", snapshot.ports);
  std::vector<EventLine> events;
  for (const PortEvent& event : snapshot.events)
    events.push_back({event.t, event.port, std::string(to_string(event.kind)), event.text});
  visit("events", events);
  visit("sources", snapshot.sources);
  return format_json(std::move(visit).object());
}

Result<RecordingHeader> parse_recording_header(std::string_view line,
                                               std::optional<EngineState>* known) {
  const auto json = parse_json(line);
  const std::string schema = json ? text_member(*json, "schema") : "";
  if (schema.empty()) return Error{"not a recording: no linkhealth.recording header"};
  if (schema != kRecordingSchema)
    return Error{fmt::format("unsupported format \"{}\": this program reads \"{}\"",
                             printable(schema).substr(0, 60), kRecordingSchema)};
  HeaderLine read;
  if (auto header = read_fields(*json, read); !header) return header.error();
  if (!read.at) return Error{"\"at\" is missing"};
  if (read.header.expected.size() > kMaxExpectedPorts)
    return Error{fmt::format("\"expected\" has more than {} ports", kMaxExpectedPorts)};
  read.header.at = *read.at;
  if (known != nullptr) *known = std::move(read.known);
  return std::move(read.header);
}

Result<Snapshot> parse_snapshot(std::string_view line, OldGapConverter& old_gaps) {
  auto read = parse_fields<SnapshotLine>(line);
  if (!read) return read.error();
  if (!read->t || !read->at) return Error{read->at ? "\"t\" is missing" : "\"at\" is missing"};
  auto events = events_of(read->events);
  if (!events) return events.error();
  Snapshot& snapshot = read->snapshot;
  snapshot.events = std::move(*events);
  snapshot.taken_at = *read->t;
  snapshot.wall_time = *read->at;
  for (auto& [key, port] : snapshot.ports) complete_id(key, port.id);
  old_gaps.convert(read->old, snapshot);
  return std::move(snapshot);
}

}  // namespace linkhealth
