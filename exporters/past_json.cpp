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

}  // namespace

void fields(Is<KeptEvent> auto& event, auto& visit) {
  visit.always("id", event.id);
  visit.always("at", event.at);
  visit.always("event", event.event);
  visit.always("fault", event.fault);
  visit.always("fault_id", event.fault_id);
  visit.always("end", event.end);
  visit.always("severity", event.severity);
  visit.always("confidence", event.confidence);
  visit.always("summary", event.summary);
  if (event.event != "acknowledged") return;
  if (const auto whole = parse_event(event.document))
    visit("acknowledged", whole->fault.acknowledged);
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
  json["events"] = FieldsOut::value(past.events);
  json["repairs"] = FieldsOut::value(past.repairs);
  json["maintenance"] = FieldsOut::value(past.maintenance);
  json["identities"] = FieldsOut::value(past.identities);
  return format_json(json);
}

std::string identities_json(const std::string& serial, const std::vector<KeptIdentity>& places) {
  OrderedJson json;
  json["serial"] = serial;
  json["places"] = FieldsOut::value(places);
  return format_json(json);
}

}  // namespace linkhealth
