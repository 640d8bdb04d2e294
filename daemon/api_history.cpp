#include "daemon/api_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "exporters/port_names.h"
#include "exporters/timeline_json.h"
#include "exporters/timeline_text.h"

namespace linkhealth {

namespace {

constexpr std::string_view kPorts = "/api/v1/ports/";
constexpr std::string_view kHistory = "/history";
constexpr std::string_view kText = "/api/v1/text/history/";
constexpr std::string_view kIdentities = "/api/v1/identities/";
constexpr std::uint64_t kUsual_s = 604'800;
constexpr std::uint64_t kMost_s = 315'360'000;  // ten years
/// A step of ten seconds over ninety days would be a million of them.
constexpr std::uint64_t kMostSteps = 20'000;

ApiReply reply(const char* content_type, std::string body) {
  return {200, content_type, std::make_shared<const std::string>(std::move(body)), {}};
}

struct Asked {
  TimelineQuery query;
  std::vector<Signal> signals;
};

Result<std::uint64_t> whole(const ApiRequest& request, const char* name, std::uint64_t usual) {
  const auto found = request.params.find(name);
  if (found == request.params.end()) return usual;
  const auto value = parse_u64(found->second);
  if (!value) return Error{fmt::format("{}= takes a whole number of seconds", name)};
  return *value;
}

Result<void> take_step(const ApiRequest& request, std::uint64_t since_s, TimelineQuery& query) {
  const auto step_s = whole(request, "step", 0);
  if (!step_s) return step_s.error();
  if (*step_s == 0) return {};
  if (std::find(kSignalSteps_s.begin(), kSignalSteps_s.end(), *step_s) == kSignalSteps_s.end())
    return Error{"step= takes 10, 60 or 600"};
  if (since_s / *step_s > kMostSteps)
    return Error{fmt::format("steps of {} s over {} s are more than {}: ask for longer steps",
                             *step_s, since_s, kMostSteps)};
  query.step_s = static_cast<std::uint32_t>(*step_s);
  return {};
}

Result<std::vector<Signal>> wanted_signals(const ApiRequest& request) {
  std::vector<Signal> wanted;
  const auto names = request.params.find("signals");
  if (names == request.params.end()) return wanted;
  for (const std::string_view name : split(names->second, ',')) {
    const auto signal = find_signal(name);
    if (!signal) {
      std::vector<std::string_view> known;
      for (const SignalInfo& info : signal_table()) known.push_back(info.name);
      const auto meant = closest(name, known);
      return Error{fmt::format("no signal \"{}\"{}", printable(name.substr(0, 64)),
                               meant ? fmt::format(" (did you mean {}?)", *meant) : "")};
    }
    wanted.push_back(*signal);
  }
  return wanted;
}

Result<Asked> asked_of(const ApiRequest& request, const ApiView& view, const PortReport& port) {
  Asked asked;
  const auto since_s = whole(request, "since", kUsual_s);
  if (!since_s) return since_s.error();
  if (*since_s == 0 || *since_s > kMost_s)
    return Error{fmt::format("since= takes 1 to {} seconds", kMost_s)};
  asked.query.port = port.latest.id.device.empty() ? port.port : port.latest.id.stable_key();
  asked.query.now = view.now;
  asked.query.since_s = static_cast<double>(*since_s);
  if (auto step = take_step(request, *since_s, asked.query); !step) return step.error();
  auto signals = wanted_signals(request);
  if (!signals) return signals.error();
  asked.signals = *std::move(signals);
  return asked;
}

ApiReply past_of(const ApiRequest& request, const ApiView& view, const Report& report,
                 std::string_view name, const TextStyle* style) {
  const auto port = find_port(report, name);
  if (!port) return api_error(request, 404, port.error().message);
  const auto asked = asked_of(request, view, **port);
  if (!asked) return api_error(request, 400, asked.error().message);
  auto past = view.history->timeline(asked->query);
  if (!past) return api_error(request, 503, past.error().message);
  past->port = (*port)->port;
  std::erase_if(past->maintenance, [&](const Maintenance& one) {
    const PortId& id = (*port)->latest.id;
    const std::string& meant = one.port;
    return !meant.empty() && meant != asked->query.port && meant != (*port)->port &&
           meant != id.device && meant != id.netdev && meant != id.pci;
  });
  if (!asked->signals.empty())
    std::erase_if(past->signals, [&](const SignalSeries& series) {
      return std::ranges::find(asked->signals, series.signal) == asked->signals.end();
    });
  return style != nullptr ? reply("text/plain; charset=utf-8", timeline_text(*past, **port, *style))
                          : reply("application/json", timeline_json(*past) + "\n");
}

}  // namespace

std::optional<ApiReply> answer_from_memory(const ApiRequest& request, const ApiView& view,
                                           const Report& report, const TextStyle& style) {
  const std::string_view path = request.path;
  const bool json = path.starts_with(kPorts) && path.ends_with(kHistory) &&
                    path.size() > kPorts.size() + kHistory.size();
  const bool text = path.starts_with(kText);
  if (!json && !text && !path.starts_with(kIdentities)) return std::nullopt;
  if (view.history == nullptr) return api_error(request, 404, "nothing is remembered here");
  if (json)
    return past_of(request, view, report,
                   path.substr(kPorts.size(), path.size() - kPorts.size() - kHistory.size()),
                   nullptr);
  if (text) return past_of(request, view, report, path.substr(kText.size()), &style);
  const std::string serial(path.substr(kIdentities.size()));
  const auto places = view.history->identities_of(serial);
  if (!places) return api_error(request, 503, places.error().message);
  if (places->empty())
    return api_error(
        request, 404,
        fmt::format("no module \"{}\" was seen here", printable(serial).substr(0, 64)));
  return reply("application/json", identities_json(serial, *places) + "\n");
}

}  // namespace linkhealth
