// What the state database holds about a port, and where a module was.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "daemon/api/api.h"
#include "exporters/json/timeline_json.h"
#include "exporters/text/port_names.h"

namespace linkhealth {

namespace {

constexpr std::uint64_t kDefaultSince_s = 604'800;
constexpr std::uint64_t kLongest_s = 315'360'000;  // ten years
constexpr std::uint64_t kMaxSteps = 20'000;        // ninety days in steps of 10 s would be 777,600

struct HistoryQuery {
  TimelineQuery timeline;
  std::vector<Signal> signals;  ///< empty: all
};

Result<std::uint64_t> seconds_param(const HttpRequest& request, const char* name,
                                    std::uint64_t without) {
  if (!request.params.contains(name)) return without;
  const auto value = parse_u64(request.param(name));
  if (!value) return Error{fmt::format("{}= takes a whole number of seconds", name)};
  return *value;
}

/// nullopt: the finest one stored.
Result<std::optional<std::uint32_t>> parse_step(const HttpRequest& request, std::uint64_t since_s) {
  const auto step_s = seconds_param(request, "step", 0);
  if (!step_s) return step_s.error();
  if (*step_s == 0) return std::optional<std::uint32_t>();
  if (std::ranges::find(kSignalSteps_s, *step_s) == kSignalSteps_s.end())
    return Error{"step= takes 10, 60 or 600"};
  if (since_s / *step_s > kMaxSteps)
    return Error{fmt::format("steps of {} s over {} s are more than {}: use longer steps", *step_s,
                             since_s, kMaxSteps)};
  return std::optional(static_cast<std::uint32_t>(*step_s));
}

Result<std::vector<Signal>> parse_signals(const std::string& text) {
  std::vector<Signal> signals;
  if (text.empty()) return signals;
  for (const std::string_view name : split(text, ',')) {
    const auto signal = find_signal(name);
    if (!signal) {
      std::vector<std::string_view> known;
      for (const SignalInfo& info : signal_table()) known.push_back(info.name);
      const auto near = closest(name, known);
      return Error{fmt::format("no signal \"{}\"{}", printable(name.substr(0, 64)),
                               near ? fmt::format(" (did you mean {}?)", *near) : "")};
    }
    signals.push_back(*signal);
  }
  return signals;
}

Result<HistoryQuery> parse_query(const ApiCall& call, const PortReport& port) {
  const auto since_s = seconds_param(call.request, "since", kDefaultSince_s);
  if (!since_s) return since_s.error();
  if (*since_s == 0 || *since_s > kLongest_s)
    return Error{fmt::format("since= takes 1 to {} seconds", kLongest_s)};
  const auto step_s = parse_step(call.request, *since_s);
  if (!step_s) return step_s.error();
  auto signals = parse_signals(call.request.param("signals"));
  if (!signals) return signals.error();
  const PortId& id = port.latest.id;
  HistoryQuery query;
  query.timeline.port = id.device.empty() ? port.port : id.stable_key();
  query.timeline.now = call.now();
  query.timeline.since_s = static_cast<double>(*since_s);
  query.timeline.step_s = *step_s;
  query.signals = *std::move(signals);
  return query;
}

/// Maintenance may use any name of a port; the database does not know them.
bool concerns(const Maintenance& maintenance, const PortReport& port) {
  const PortId& id = port.latest.id;
  const std::string& name = maintenance.port;
  return name.empty() || name == id.stable_key() || name == port.port || name == id.device ||
         name == id.netdev || name == id.pci;
}

}  // namespace

HttpResponse get_history(const ApiCall& call) {
  if (call.context.history == nullptr) return error_response(404, "this daemon keeps no history");
  const auto port = find_port(call.report(), call.argument);
  if (!port) return error_response(404, port.error().message);
  const auto query = parse_query(call, **port);
  if (!query) return error_response(400, query.error().message);
  auto timeline = call.context.history->timeline(query->timeline);
  if (!timeline) return error_response(503, timeline.error().message);
  timeline->port = (*port)->port;
  std::erase_if(timeline->maintenance, [&](const auto& each) { return !concerns(each, **port); });
  if (!query->signals.empty())
    std::erase_if(timeline->signals, [&](const SignalSeries& series) {
      return std::ranges::find(query->signals, series.signal) == query->signals.end();
    });
  return json_response(timeline_json(*timeline));
}

HttpResponse get_identity(const ApiCall& call) {
  if (call.context.history == nullptr) return error_response(404, "this daemon keeps no history");
  const auto places = call.context.history->identities_of(call.argument);
  if (!places) return error_response(503, places.error().message);
  if (places->empty())
    return error_response(404, fmt::format("no module \"{}\" was seen on this node",
                                           printable(call.argument).substr(0, 64)));
  return json_response(identities_json(call.argument, *places));
}

}  // namespace linkhealth
