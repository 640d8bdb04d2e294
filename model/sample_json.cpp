#include "model/sample_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/sample_fields.h"

namespace linkhealth {

namespace {

/// An event as the recording has it: its kind as a word, because a newer writer may know more of
/// them.
struct EventLine {
  std::optional<SteadyTime> t;
  std::string port;
  std::string kind;
  std::string text;
};

/// A snapshot as the recording has it.
struct SnapshotLine {
  std::optional<SteadyTime> t;
  std::optional<WallTime> at;
  std::vector<EventLine> events;
  Snapshot snapshot;
};

/// The header as the recording has it.
struct HeaderLine {
  std::string schema;
  std::optional<WallTime> at;
  RecordingHeader header;
};

}  // namespace

void fields(Is<EventLine> auto& event, auto& visit) {
  visit("t", event.t);
  visit("port", event.port);
  visit("kind", event.kind);
  visit("text", event.text);
}

void fields(Is<SnapshotLine> auto& line, auto& visit) {
  visit("t", line.t);
  visit("at", line.at);
  visit("uptime_s", line.snapshot.uptime_s);
  visit("ports", line.snapshot.ports);
  visit("events", line.events);
  visit("gaps", line.snapshot.gaps);
  visit("gaps_ended", line.snapshot.gaps_ended);
}

void fields(Is<HeaderLine> auto& line, auto& visit) {
  visit("schema", line.schema);
  visit("node", line.header.node);
  visit("boot_id", line.header.boot_id);
  visit("at", line.at);
  visit("version", line.header.version);
  visit("expected", line.header.expected);
}

namespace {

/// What a line does not repeat: who a port is follows from its key as far as `id` leaves it out.
void complete_id(const PortKey& key, PortId& id) {
  const auto slash = key.rfind('/');
  id.verbs = slash != std::string::npos;
  if (!id.device.empty()) return;
  id.device = key.substr(0, slash);
  if (!id.verbs) return;
  const auto port = parse_u64(std::string_view(key).substr(slash + 1));
  if (port && *port <= UINT32_MAX) id.port = static_cast<std::uint32_t>(*port);
}

bool read_events(JsonReader& in, std::vector<EventLine>& lines, std::vector<PortEvent>& out) {
  for (EventLine& line : lines) {
    if (!line.t) return in.fail("an event without \"t\"");
    const auto kind = parse_port_event_kind(line.kind);
    if (kind) out.push_back({*line.t, std::move(line.port), *kind, std::move(line.text)});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const PortEvent& a, const PortEvent& b) { return a.t < b.t; });
  return true;
}

template <typename Line>
bool read_line(JsonReader& in, Line& line) {
  if (!FieldsIn(in).value(line) || !in.at_end()) return false;
  return line.at.has_value() || in.fail("\"at\" is missing");
}

}  // namespace

std::string recording_header_json(const RecordingHeader& header) {
  std::string text;
  JsonWriter writer(text);
  FieldsOut(writer).value(HeaderLine{std::string(kRecordingSchema), header.at, header});
  return text;
}

std::string snapshot_json(const Snapshot& snapshot) {
  std::string text;
  JsonWriter writer(text);
  FieldsOut visit(writer);
  writer.begin_object();
  visit("t", snapshot.taken_at);
  visit("at", snapshot.wall_time);
  visit("uptime_s", snapshot.uptime_s);
  visit("ports", snapshot.ports);
  std::vector<EventLine> events;
  for (const PortEvent& event : snapshot.events)
    events.push_back({event.t, event.port, std::string(to_string(event.kind)), event.text});
  visit("events", events);
  visit("gaps", snapshot.gaps);
  visit("gaps_ended", snapshot.gaps_ended);
  writer.end_object();
  return text;
}

Result<RecordingHeader> parse_recording_header(std::string_view line) {
  JsonReader in(line);
  HeaderLine read;
  const bool ok = read_line(in, read);
  if (read.schema.empty())
    return Error{"not a recording: it does not begin with a linkhealth.recording header"};
  if (read.schema != kRecordingSchema)
    return Error{fmt::format("its format is \"{}\", and this program reads \"{}\"",
                             printable(read.schema).substr(0, 60), kRecordingSchema)};
  if (!ok) return Error{in.error()};
  read.header.at = *read.at;
  return std::move(read.header);
}

Result<Snapshot> parse_snapshot(std::string_view line) {
  JsonReader in(line);
  SnapshotLine read;
  if (!read_line(in, read)) return Error{in.error()};
  if (!read.t) return Error{"\"t\" is missing"};
  if (!read_events(in, read.events, read.snapshot.events)) return Error{in.error()};
  read.snapshot.taken_at = *read.t;
  read.snapshot.wall_time = *read.at;
  for (auto& [key, port] : read.snapshot.ports) complete_id(key, port.id.edit());
  return std::move(read.snapshot);
}

}  // namespace linkhealth
