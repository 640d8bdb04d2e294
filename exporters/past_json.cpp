#include "exporters/past_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/json.h"
#include "model/report_fields.h"

namespace linkhealth {

namespace {

/// A ratio is kept to a hundredth of a decade: more than three digits would be made up.
std::string number_of(Signal signal, double value) {
  if (std::isnan(value)) return "null";
  const bool ratio =
      signal_info(static_cast<std::size_t>(signal)).scale == SignalScale::kErrorRatio;
  return ratio ? fmt::format("{:.3g}", value) : fmt::format("{}", value);
}

/// `text` with a comma before each but the first.
template <typename List, typename Make>
std::string joined(const List& list, Make make) {
  std::string out;
  for (const auto& item : list) {
    if (!out.empty()) out += ',';
    out += make(item);
  }
  return out;
}

template <typename T>
std::string to_json(const T& value) {
  std::string text;
  JsonWriter writer(text);
  FieldsOut(writer).value(value);
  return text;
}

std::string quoted(std::string_view text) {
  std::string out;
  JsonWriter(out).value(text);
  return out;
}

std::string signals_of(const PortPast& past, std::span<const Signal> wanted) {
  std::string out;
  for (const SignalSeries& series : past.signals) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), series.signal) == wanted.end())
      continue;
    if (!out.empty()) out += ',';
    out += quoted(signal_info(static_cast<std::size_t>(series.signal)).name) + ":[" +
           joined(series.values, [&](double value) { return number_of(series.signal, value); }) +
           "]";
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
  return fmt::format(
      R"({{"schema":"{}","port":{},"from":"{}","to":"{}","step_s":{},"at":[{}],"signals":{{{}}},"events":{},"repairs":{},"maintenance":{},)"
      R"("identities":{}}})",
      kHistorySchema, quoted(past.port), format_rfc3339(past.from), format_rfc3339(past.to),
      past.step_s, joined(past.at, [](WallTime at) { return "\"" + format_rfc3339(at) + "\""; }),
      signals_of(past, wanted), to_json(past.events), to_json(past.repairs),
      to_json(past.maintenance), to_json(past.identities));
}

std::string identities_json(const std::string& serial, const std::vector<KeptIdentity>& places) {
  return fmt::format(R"({{"serial":{},"places":{}}})", quoted(serial), to_json(places));
}

}  // namespace linkhealth
