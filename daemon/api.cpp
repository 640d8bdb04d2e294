#include "daemon/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "daemon/api_desk.h"
#include "daemon/api_history.h"
#include "daemon/api_operator.h"
#include "daemon/api_routes.h"
#include "daemon/api_rules.h"
#include "daemon/doctor.h"
#include "daemon/http/gzip.h"
#include "exporters/doctor.h"
#include "exporters/json.h"
#include "exporters/module_text.h"
#include "exporters/port_names.h"
#include "exporters/text.h"
#include "exporters/text_layout.h"
#include "exporters/web_files.h"

namespace linkhealth {

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kPortsPath = "/api/v1/ports/";
constexpr std::string_view kModulePath = "/api/v1/module/";
constexpr std::string_view kWebPath = "/web/";
constexpr std::string_view kOpenapiPath = "/api/v1/openapi.json";
constexpr std::string_view kExplainPath = "/api/v1/text/explain/";
constexpr std::string_view kModuleTextPath = "/api/v1/text/module/";
constexpr std::size_t kUsualEvents = 100;

ApiReply reply(std::string_view content_type, SharedBytes body) {
  return {200, content_type, std::move(body), {}};
}
ApiReply reply(std::string_view content_type, std::string body) {
  return reply(content_type, std::make_shared<const std::string>(std::move(body)));
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

bool is_set(const ApiRequest& request, const std::string& name) {
  const auto found = request.params.find(name);
  return found != request.params.end() && found->second != "0" && found->second != "false";
}

std::optional<std::uint64_t> number(const ApiRequest& request, const std::string& name) {
  const auto found = request.params.find(name);
  return found == request.params.end() ? std::nullopt : parse_u64(found->second);
}

ApiReply metrics(const ApiRequest& request, const ReportSnapshot& now) {
  MetricGroups groups;
  const auto [begin, end] = request.params.equal_range("collect[]");
  for (auto param = begin; param != end; ++param) {
    if (param->second == "counters")
      groups.counters = true;
    else if (param->second == "optics")
      groups.optics = true;
    else
      return api_error(request, 400,
                       fmt::format("no metric group \"{}\": there are counters and optics",
                                   printable(std::string_view(param->second).substr(0, 64))));
  }
  std::string text = now.metrics(groups);
  if (request.accepts_gzip) {
    ApiReply out = reply(kMetricsType, gzip(text));
    out.headers = {{"Content-Encoding", "gzip"}, {"Vary", "Accept-Encoding"}};
    return out;
  }
  ApiReply out = reply(kMetricsType, std::move(text));
  out.headers = {{"Vary", "Accept-Encoding"}};
  return out;
}

ApiReply status(const ApiRequest& request, const ApiView& view, const Report& report) {
  StatusView shown{.now = view.now, .watching = view.watching};
  shown.problems_only = is_set(request, "problems");
  shown.wide = is_set(request, "wide");
  std::string text = status_text(report, api_style(request), shown);
  const ConfigurationSummary configuration = view.reports.configuration();
  if (!configuration.note.empty() && !shown.problems_only)
    text += fmt::format("\nconfiguration, {} ago: {}\n",
                        duration_words(view.now - configuration.noted_at),
                        printable(configuration.note));
  ApiReply out = reply(kText, std::move(text));
  out.headers = {{"X-Linkhealth-Problems", std::to_string(count_problems(report))}};
  return out;
}

ApiReply explain(const ApiRequest& request, const ApiView& view, const Report& report) {
  const auto port = find_port(report, std::string_view(request.path).substr(kExplainPath.size()));
  if (!port) return api_error(request, 404, port.error().message);
  const ExplainView shown{.now = view.now,
                          .t = report.t,
                          .symptoms = is_set(request, "symptoms"),
                          .physics = is_set(request, "physics")};
  return reply(kText, explain_text(**port, api_style(request), shown));
}

ApiReply port_report(const ApiRequest& request, const Report& report) {
  const auto port = find_port(report, std::string_view(request.path).substr(kPortsPath.size()));
  if (!port) return api_error(request, 404, port.error().message);
  return reply(kJson, port_json(**port));
}

ApiReply doctor(const ApiRequest& request, const ApiView& view, const Report& report) {
  const DoctorReport found = examine(report, view.reports.node_facts());
  ApiReply out = request.path.starts_with("/api/v1/text/")
                     ? reply(kText, doctor_text(found, api_style(request)))
                     : reply(kJson, doctor_json(found) + "\n");
  out.headers = {{"X-Linkhealth-Problems", std::to_string(found.hidden)}};
  return out;
}

ApiReply module(const ApiRequest& request, const ApiView& view, const Report& report, bool text) {
  const auto name =
      std::string_view(request.path).substr((text ? kModuleTextPath : kModulePath).size());
  const auto port = find_port(report, name);
  if (!port) return api_error(request, 404, port.error().message);
  if (const auto& sample = (*port)->latest.module) {
    return text ? reply(kText, module_text(*sample, api_style(request)))
                : reply(kJson, module_json(*sample));
  }
  const std::string why = why_no_module(**port, report, view.reports.node_facts());
  return api_error(request, 404,
                   fmt::format("the module of {} can't be seen: {}", (*port)->port, why));
}

/// Another method is taken there, or nothing is there. `missing`: the path could be, but what it
/// names is not.
ApiReply not_answered(const ApiRequest& request, bool missing = false) {
  const std::string allowed = missing ? "" : allowed_methods(request.path);
  if (allowed.empty())
    return api_error(request, 404,
                     fmt::format("there is nothing at {}: /api/v1/openapi.json lists what there is",
                                 printable(std::string_view(request.path).substr(0, 64))));
  ApiReply out = api_error(request, 405, "this takes " + allowed);
  out.headers = {{"Allow", allowed}};
  return out;
}

/// The page, its parts, and the API's description: they need no report.
std::optional<ApiReply> page_file(const ApiRequest& request) {
  std::string_view name;
  if (request.path == "/") name = "index.html";
  if (request.path == kOpenapiPath) name = "openapi.json";
  if (request.path.starts_with(kWebPath))
    name = std::string_view(request.path).substr(kWebPath.size());
  if (name.empty()) return std::nullopt;
  const auto file = web_file(name);
  if (!file) return not_answered(request, true);
  ApiReply out = reply(file->content_type, std::string(file->bytes));
  if (name == "index.html") out.headers = {{"Content-Security-Policy", std::string(kPagePolicy)}};
  return out;
}

ApiReply healthy(const ApiRequest& request, const ApiView& view, const ReportSnapshot* now) {
  if (now == nullptr) return reply(kText, std::string("starting\n"));
  const Milliseconds age = view.now - now->report->at;
  if (age > view.stale_after)
    return api_error(request, 503, fmt::format("the last sample is {} old", duration_words(age)));
  return reply(kText, std::string("healthy\n"));
}

ApiReply events(const ApiRequest& request, const ApiView& view) {
  const auto limit = std::min<std::uint64_t>(number(request, "limit").value_or(kUsualEvents),
                                             ReportStore::kMaxEvents);
  std::string text;
  for (const auto& event : view.reports.latest_events(limit))
    text += (text.empty() ? "" : ",") + event_json_line(*event);
  return reply(kJson, "{\"events\":[" + text + "]}\n");
}

/// All that needs a report.
ApiReply answer_from(const ApiRequest& request, const ApiView& view, const ReportSnapshot& now) {
  const std::string& path = request.path;
  if (path == "/metrics") return metrics(request, now);
  if (path == "/api/v1/report") return reply(kJson, report_json(*now.report));
  if (auto past = answer_from_memory(request, view, *now.report, api_style(request)))
    return *std::move(past);
  if (path.starts_with(kPortsPath)) return port_report(request, *now.report);
  if (path == kRulesPath || path.starts_with(kRulesTextPath))
    return rules(request, view, *now.report, api_style(request));
  if (path == "/api/v1/text/status") return status(request, view, *now.report);
  if (path == "/api/v1/doctor" || path == "/api/v1/text/doctor")
    return doctor(request, view, *now.report);
  if (path.starts_with(kExplainPath)) return explain(request, view, *now.report);
  if (path.starts_with(kModulePath)) return module(request, view, *now.report, false);
  if (path.starts_with(kModuleTextPath)) return module(request, view, *now.report, true);
  if (auto desk = desk_answer(request, view, *now.report)) return *std::move(desk);
  return not_answered(request);
}

}  // namespace

TextStyle api_style(const ApiRequest& request) {
  TextStyle style;
  style.colour = is_set(request, "colour");
  style.ascii = is_set(request, "ascii");
  style.width_columns =
      static_cast<int>(std::clamp<std::uint64_t>(number(request, "width").value_or(100), 40, 1000));
  return style;
}

ApiReply api_error(const ApiRequest& request, int status, const std::string& message) {
  const bool text = request.path.starts_with("/api/v1/text/") || request.path.starts_with("/-/");
  ApiReply out = text ? reply(kText, message + "\n")
                      : reply(kJson, "{\"error\":" + json_string(message) + "}\n");
  out.status = status;
  return out;
}

ApiReply answer(const ApiRequest& request, const ApiView& view) {
  if (find_route(request.method, request.path) == nullptr) return not_answered(request);
  if (const auto file = page_file(request)) return *file;
  if (request.method == "POST") {
    const auto known = view.reports.current();
    return known ? act(request, view, *known->report)
                 : api_error(request, 503, "the first sample is not taken yet");
  }
  const auto now = view.reports.current();
  if (request.path == "/-/healthy") return healthy(request, view, now.get());
  if (request.path == "/api/v1/events") return events(request, view);
  if (!now) return api_error(request, 503, "the first sample is not taken yet");
  if (request.path == "/-/ready") return reply(kText, std::string("ready\n"));
  return answer_from(request, view, *now);
}

}  // namespace linkhealth
