#include "daemon/api_desk.h"

#include "daemon/cabling.h"
#include "exporters/check.h"
#include "exporters/port_names.h"
#include "exporters/ticket.h"

namespace linkhealth {

namespace {

bool is_set(const ApiRequest& request, const std::string& name) {
  const auto found = request.params.find(name);
  return found != request.params.end() && found->second != "0";
}

ApiReply reply(bool text, std::string body) {
  return {200,
          text ? "text/plain; charset=utf-8" : "application/json",
          std::make_shared<const std::string>(std::move(body)),
          {}};
}

/// "/PORT" behind `path`; nullopt when the path is another one.
std::optional<std::string_view> behind(std::string_view path, std::string_view begin) {
  if (!path.starts_with(begin)) return std::nullopt;
  path.remove_prefix(begin.size());
  if (!path.empty() && path.front() != '/') return std::nullopt;
  return path.empty() ? path : path.substr(1);
}

ApiReply check_reply(const ApiRequest& request, const ApiView& view, const Report& report,
                     std::string_view name, bool text) {
  const PortReport* only = nullptr;
  if (!name.empty()) {
    const auto port = find_port(report, name);
    if (!port) return api_error(request, 404, port.error().message);
    only = *port;
  }
  const Check found = check(report, only, {view.now, view.stale_after});
  std::string body = check_json(found) + "\n";
  if (text) body = check_line(found, is_set(request, "perfdata"));
  if (text && is_set(request, "drain"))
    body = found.drain_reason.empty() ? "" : found.drain_reason + "\n";
  ApiReply out = reply(text, std::move(body));
  out.headers = {{"X-Linkhealth-Check", std::to_string(static_cast<int>(found.level))}};
  return out;
}

}  // namespace

std::optional<ApiReply> desk_answer(const ApiRequest& request, const ApiView& view,
                                    const Report& report) {
  const bool text = request.path.starts_with("/api/v1/text/");
  const std::string_view path = request.path;
  const std::string begin = text ? "/api/v1/text" : "/api/v1";
  if (const auto name = behind(path, begin + "/check"))
    return check_reply(request, view, report, *name, text);
  if (path == begin + "/cabling") {
    const auto rows = compare_cabling(report);
    ApiReply out = reply(text, text ? cabling_text(report, rows, api_style(request))
                                    : cabling_json(report, rows) + "\n");
    out.headers = {{"X-Linkhealth-Problems", std::to_string(count_wrong(rows))}};
    return out;
  }
  const auto name = behind(path, begin + "/ticket");
  if (!name) return std::nullopt;
  const auto port = find_port(report, *name);
  if (!port) return api_error(request, 404, port.error().message);
  const Ticket ticket = make_ticket(report, **port);
  return reply(text, text ? ticket_markdown(ticket) : ticket_json(ticket) + "\n");
}

}  // namespace linkhealth
