#include "exporters/past_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/json.h"
#include "model/report_fields.h"

namespace linkhealth {

namespace {

/// A ratio is kept to a hundredth of a decade: more than three digits would be made up.
OrderedJson number_of(Signal signal, double value) {
  const bool ratio =
      signal_info(static_cast<std::size_t>(signal)).scale == SignalScale::kErrorRatio;
  return ratio ? parse_double(fmt::format("{:.3g}", value)).value_or(std::nan("")) : value;
}

OrderedJson signals_of(const PortPast& past, std::span<const Signal> wanted) {
  OrderedJson out = OrderedJson::object();
  for (const SignalSeries& series : past.signals) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), series.signal) == wanted.end())
      continue;
    OrderedJson values = OrderedJson::array();
    for (const double value : series.values) values.push_back(number_of(series.signal, value));
    out[signal_info(static_cast<std::size_t>(series.signal)).name] = std::move(values);
  }
  return out;
}

/// An event with what its text needs of the whole fault.
struct PastEvent {
  KeptEvent kept;
  std::optional<WallTime> opened_at;
  std::optional<Acknowledgement> acknowledged;
};

PastEvent past_event(const KeptEvent& kept) {
  PastEvent past{kept, std::nullopt, std::nullopt};
  const auto whole = parse_event(kept.document);
  if (!whole) return past;
  past.opened_at = whole->fault.opened_at;
  if (kept.event == "acknowledged") past.acknowledged = whole->fault.acknowledged;
  return past;
}

KeptEvent kept_event(PastEvent past) {
  FaultEvent whole;
  whole.fault.opened_at = past.opened_at.value_or(past.kept.at);
  whole.fault.acknowledged = past.acknowledged;
  past.kept.document = event_json_line(whole);
  return std::move(past.kept);
}

Result<void> read_signals(const Json& json, PortPast& past) {
  if (!json.is_object()) return Error{"\"signals\" is no object"};
  for (const auto& [name, values] : json.items()) {
    const auto signal = find_signal(name);
    if (!signal || !values.is_array()) continue;  // a daemon of another version has others
    SignalSeries& series = past.signals.emplace_back();
    series.signal = *signal;
    for (const Json& value : values)
      series.values.push_back(value.is_number() ? value.get<double>() : std::nan(""));
  }
  return {};
}

}  // namespace

void fields(Is<PastEvent> auto& event, auto& visit) {
  visit.always("id", event.kept.id);
  visit.always("at", event.kept.at);
  visit.always("event", event.kept.event);
  visit.always("fault", event.kept.fault);
  visit.always("fault_id", event.kept.fault_id);
  visit.always("end", event.kept.end);
  visit.always("severity", event.kept.severity);
  visit.always("confidence", event.kept.confidence);
  visit.always("summary", event.kept.summary);
  visit("opened_at", event.opened_at);
  visit("acknowledged", event.acknowledged);
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

std::string past_json(const PortPast& past, std::span<const Signal> wanted) {
  OrderedJson json;
  json["schema"] = kHistorySchema;
  json["port"] = past.port;
  json["from"] = format_rfc3339(past.from);
  json["to"] = format_rfc3339(past.to);
  json["step_s"] = past.step_s;
  json["at"] = FieldsOut::value(past.at);
  json["signals"] = signals_of(past, wanted);
  std::vector<PastEvent> events;
  for (const KeptEvent& event : past.events) events.push_back(past_event(event));
  json["events"] = FieldsOut::value(events);
  json["repairs"] = FieldsOut::value(past.repairs);
  json["maintenance"] = FieldsOut::value(past.maintenance);
  json["identities"] = FieldsOut::value(past.identities);
  return format_json(json);
}

Result<PortPast> parse_past(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return json.error();
  PortPast past;
  std::vector<PastEvent> events;
  FieldsIn in;
  if (!in.value(member(*json, "port"), past.port) || !in.value(member(*json, "from"), past.from) ||
      !in.value(member(*json, "to"), past.to) || !in.value(member(*json, "step_s"), past.step_s) ||
      !in.value(member(*json, "at"), past.at) || !in.value(member(*json, "events"), events) ||
      !in.value(member(*json, "repairs"), past.repairs) ||
      !in.value(member(*json, "maintenance"), past.maintenance) ||
      !in.value(member(*json, "identities"), past.identities))
    return Error{in.error()};
  for (PastEvent& event : events) past.events.push_back(kept_event(std::move(event)));
  if (auto read = read_signals(member(*json, "signals"), past); !read) return read.error();
  return past;
}

std::string identities_json(const std::string& serial, const std::vector<KeptIdentity>& places) {
  OrderedJson json;
  json["serial"] = serial;
  json["places"] = FieldsOut::value(places);
  return format_json(json);
}

}  // namespace linkhealth
