#include "exporters/json/timeline_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/json/report_fields.h"

namespace linkhealth {

namespace {

/// The signals of a timeline: an object of its own in JSON, by signal name.
template <typename Timeline>
struct Signals {
  Timeline& timeline;
  [[nodiscard]] static bool empty() { return false; }
};

}  // namespace

template <typename Timeline>
void fields(const Signals<Timeline>& signals, auto& visit) {
  if constexpr (std::is_const_v<Timeline>) {
    for (const SignalSeries& series : signals.timeline.signals)
      visit.always(signal_info(series.signal).name, series.values);
  } else {
    for (const SignalInfo& info : signal_table()) {
      SignalSeries series{info.signal, {}};
      visit(info.name, series.values);
      if (!series.values.empty()) signals.timeline.signals.push_back(std::move(series));
    }
  }
}

void fields(Is<KeptIdentity> auto& identity, auto& visit) {
  visit.always("serial", identity.serial);
  visit.always("end", identity.end);
  visit.always("port", identity.port);
  visit.always("place", identity.place);
  visit("vendor", identity.vendor);
  visit("part_number", identity.part_number);
  visit("kind", identity.kind);
  visit.always("first_seen_at", identity.first_seen_at);
  visit.always("last_seen_at", identity.last_seen_at);
}

void fields(Is<PortTimeline> auto& timeline, auto& visit) {
  Signals<std::remove_reference_t<decltype(timeline)>> signals{timeline};
  visit.always("port", timeline.port);
  visit.always("from", timeline.from);
  visit.always("to", timeline.to);
  visit.always("step_s", timeline.step_s);
  visit.always("at", timeline.at);
  visit.always("signals", signals);
  visit.always("events", timeline.events);
  visit.always("repairs", timeline.repairs);
  visit.always("maintenance", timeline.maintenance);
  visit.always("identities", timeline.identities);
}

std::string timeline_json(const PortTimeline& timeline) {
  OrderedJson json{{"schema", kHistorySchema}};
  json.update(FieldsOut::value(timeline));
  return format_json(json);
}

Result<PortTimeline> parse_timeline(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return json.error();
  const std::string schema = text_member(*json, "schema");
  if (schema != kHistorySchema)
    return Error{fmt::format("not a history: its \"schema\" is \"{}\", not \"{}\"",
                             printable(schema).substr(0, 60), kHistorySchema)};
  PortTimeline timeline;
  if (auto read = read_fields(*json, timeline); !read) return read.error();
  for (const SignalSeries& series : timeline.signals)
    if (series.values.size() != timeline.at.size())
      return Error{fmt::format("signals > {}: {} values for {} steps",
                               signal_info(series.signal).name, series.values.size(),
                               timeline.at.size())};
  return timeline;
}

std::string identities_json(const std::string& serial, const std::vector<KeptIdentity>& places) {
  OrderedJson json;
  json["serial"] = serial;
  json["places"] = FieldsOut::value(places);
  return format_json(json);
}

}  // namespace linkhealth
