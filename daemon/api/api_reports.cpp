// The page, and the latest report in the formats of docs/schema.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "daemon/api/api.h"
#include "daemon/api/cabling.h"
#include "daemon/selfcheck/doctor.h"
#include "exporters/json/doctor_json.h"
#include "exporters/json/json.h"
#include "exporters/text/check.h"
#include "exporters/text/port_names.h"
#include "exporters/text/text_layout.h"
#include "exporters/text/ticket.h"
#include "exporters/web_files.h"

namespace linkhealth {

namespace {

constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::size_t kDefaultEvents = 100;

/// The response made by `make` for the port in the path, or 404.
template <typename Make>
HttpResponse for_port(const ApiCall& call, Make make) {
  const auto port = find_port(call.report(), call.argument);
  return port ? make(**port) : error_response(404, port.error().message);
}

HttpResponse file_response(std::string_view name) {
  const auto file = web_file(name);
  if (!file) return error_response(404, "no such file");
  HttpResponse response;
  response.content_type = file->content_type;
  response.body = file->bytes;
  return response;
}

}  // namespace

HttpResponse get_page(const ApiCall& /*call*/) {
  HttpResponse response = file_response("index.html");
  response.headers = {{"Content-Security-Policy", std::string(kPagePolicy)}};
  return response;
}

HttpResponse get_page_file(const ApiCall& call) { return file_response(call.argument); }

HttpResponse get_healthy(const ApiCall& call) {
  if (call.snapshot == nullptr) return text_response("starting\n");
  const Milliseconds age = call.now() - call.report().at;
  HttpResponse response = text_response("healthy\n");
  if (age > call.context.stale_after) {
    response.status = 503;
    response.body = fmt::format("the last sample is {} old\n", format_duration(age));
  }
  return response;
}

HttpResponse get_ready(const ApiCall& /*call*/) { return text_response("ready\n"); }

HttpResponse get_metrics(const ApiCall& call) {
  MetricGroups groups;
  const auto [begin, end] = call.request.params.equal_range("collect[]");
  for (auto param = begin; param != end; ++param) {
    if (param->second == "counters")
      groups.counters = true;
    else if (param->second == "optics")
      groups.optics = true;
    else
      return error_response(400,
                            fmt::format("no metric group \"{}\": there are counters and optics",
                                        printable(std::string_view(param->second).substr(0, 64))));
  }
  HttpResponse response = text_response(call.snapshot->metrics(groups));
  response.content_type = kMetricsType;
  return response;
}

HttpResponse get_report(const ApiCall& call) { return json_response(report_json(call.report())); }

HttpResponse get_status(const ApiCall& call) {
  const ConfigurationSummary configuration = call.context.reports.configuration();
  DaemonStatus daemon;
  daemon.now = call.now();
  daemon.running_s = in_seconds(call.context.clock.steady() - call.context.started_at);
  daemon.stale_after_s = in_seconds(call.context.stale_after);
  daemon.sight = count_sight(call.report(), call.context.reports.node_facts());
  daemon.configuration_note = configuration.note;
  if (!configuration.note.empty()) daemon.configuration_at = configuration.noted_at;
  return json_response(status_json(daemon, call.report()));
}

HttpResponse get_port(const ApiCall& call) {
  return for_port(call, [](const PortReport& port) { return json_response(port_json(port)); });
}

HttpResponse get_module(const ApiCall& call) {
  return for_port(call, [&](const PortReport& port) {
    if (port.latest.module) return json_response(module_json(*port.latest.module));
    const std::string why = why_no_module(port, call.report(), call.context.reports.node_facts());
    return error_response(404, fmt::format("the module of {} is not readable: {}", port.port, why));
  });
}

HttpResponse get_doctor(const ApiCall& call) {
  return json_response(doctor_json(examine(call.report(), call.context.reports.node_facts())));
}

HttpResponse get_check(const ApiCall& call) {
  const CheckView time{call.now(), call.context.stale_after,
                       count_sight(call.report(), call.context.reports.node_facts())};
  if (call.argument.empty()) return json_response(check_json(check(call.report(), nullptr, time)));
  return for_port(call, [&](const PortReport& port) {
    return json_response(check_json(check(call.report(), &port, time)));
  });
}

HttpResponse get_ticket(const ApiCall& call) {
  return for_port(call, [&](const PortReport& port) {
    return json_response(ticket_json(make_ticket(call.report(), port)));
  });
}

HttpResponse get_cabling(const ApiCall& call) {
  return json_response(cabling_json(call.report(), compare_cabling(call.report())));
}

HttpResponse get_events(const ApiCall& call) {
  const auto limit = parse_u64(call.request.param("limit")).value_or(kDefaultEvents);
  const ReportStore::Events events = call.context.reports.events_after(0).events;
  std::string text;
  for (std::size_t i = events.size() - std::min<std::size_t>(limit, events.size());
       i < events.size(); ++i)
    text += (text.empty() ? "" : ",") + events[i]->json();
  return json_response("{\"events\":[" + text + "]}");
}

}  // namespace linkhealth
