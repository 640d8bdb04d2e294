// Acknowledgements and maintenance. "by" is the name to show; if the authenticated user differs, it
// is appended: "ann (as root)". Reports, events, history and the log show this name.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "daemon/api/api.h"
#include "exporters/text/port_names.h"
#include "exporters/text/text_layout.h"
#include "model/json/json.h"

namespace linkhealth {

namespace {

constexpr std::uint64_t kLongest_s = 90ULL * 86400;  // anything longer is an exemption
constexpr std::size_t kMaxReasonBytes = 500;
constexpr std::size_t kMaxNameBytes = 64;

/// The parameters of an action.
struct Action {
  std::string by;    ///< "ann (as root)"
  std::string user;  ///< as authenticated; "" unknown
  std::string reason;
  std::optional<std::uint64_t> for_s;
  bool end = false;
  std::optional<bool> module_reads;

  [[nodiscard]] std::optional<WallTime> until(WallTime now) const {
    return for_s ? std::optional(now + std::chrono::seconds(*for_s)) : std::nullopt;
  }
};

/// The name to show.
Result<std::string> actor_name(const HttpRequest& request, const std::string& user) {
  std::string by = clean_text(trim(request.param("by")), false);
  // Only the daemon may append parentheses to the name.
  if (by.find('(') != std::string::npos) return Error{"by= takes a name, without \"(as …)\""};
  if (by.empty()) by = user;
  if (by.empty()) return Error{"by= is missing: a name is required"};
  if (by.size() > kMaxNameBytes)
    return Error{fmt::format("by= is longer than {} bytes", kMaxNameBytes)};
  return user.empty() || by == user ? by : fmt::format("{} (as {})", by, user);
}

Result<Action> parse_action(const HttpRequest& request) {
  Action action;
  action.user = clean_text(request.caller.user, false);
  std::ranges::replace(action.user, '(', '[');  // a certificate's name may contain them
  std::ranges::replace(action.user, ')', ']');
  auto by = actor_name(request, action.user);
  if (!by) return by.error();
  action.by = *std::move(by);
  action.reason = clean_text(trim(request.param("reason")), false);
  if (action.reason.size() > kMaxReasonBytes)
    return Error{fmt::format("reason= is longer than {} bytes", kMaxReasonBytes)};
  action.end = request.param("end") == "1";
  if (const std::string reads = request.param("module_reads"); reads == "off")
    action.module_reads = false;
  else if (!reads.empty())
    return Error{"module_reads= takes off"};
  if (const std::string text = request.param("for"); !text.empty()) {
    action.for_s = parse_u64(text);
    if (!action.for_s || *action.for_s == 0 || *action.for_s > kLongest_s)
      return Error{fmt::format("for= takes 1 to {} seconds", kLongest_s)};
  }
  return action;
}

std::string format_until(const std::optional<WallTime>& until, WallTime now,
                         std::string_view without) {
  if (!until) return std::string(without);
  // The request took a moment: two hours are not 119 minutes.
  const Milliseconds left = *until - now + std::chrono::seconds(1);
  return fmt::format("until {} (for {})", format_instant(*until), format_duration(left));
}

/// Omits members whose value is "".
HttpResponse action_response(const ApiCall& call,
                             std::initializer_list<std::pair<const char*, std::string>> members,
                             const std::string& sentence) {
  OrderedJson json;
  json["schema"] = "linkhealth.action/1";
  for (const auto& [key, value] : members)
    if (!value.empty()) json[key] = value;
  json["text"] = sentence;
  if (const std::string error = call.context.actions->storage_error(); !error.empty())
    json["warning"] = "it would be lost on restart: " + error;
  return json_response(format_json(json));
}

std::string time_text(const std::optional<WallTime>& time) {
  return time ? format_rfc3339(*time) : "";
}

HttpResponse acknowledge(const ApiCall& call, const PortKey& port, const Action& action) {
  const auto until = action.until(call.now());
  OperatorActions& actions = *call.context.actions;
  const auto fault = action.end ? actions.withdraw_acknowledgement(port, action.by)
                                : actions.acknowledge(port, action.by, action.reason, until);
  if (!fault) return error_response(409, fmt::format("{}: {}", port, fault.error().message));
  const std::string words = format_name(fault->fault);
  return action_response(call,
                         {{"action", action.end ? "ack_end" : "ack"},
                          {"port", port},
                          {"fault", fault->fault},
                          {"fault_id", fault->id},
                          {"state", std::string(to_string(fault->state))},
                          {"by", action.by},
                          {"user", action.user},
                          {"reason", action.reason},
                          {"until", time_text(until)}},
                         action.end
                             ? fmt::format("{}: {} is no longer acknowledged", port, words)
                             : fmt::format("{}: {} acknowledged by {} {}", port, words, action.by,
                                           format_until(until, call.now(), "until it closes")));
}

/// `port` "": all ports.
HttpResponse maintain(const ApiCall& call, const PortKey& port, const Action& action) {
  if (!action.end && !action.for_s)
    return error_response(400, "for= is missing: maintenance needs an end");
  Maintenance wanted;
  wanted.by = action.by;
  wanted.reason = action.reason;
  wanted.since = call.now();
  wanted.until = action.until(call.now());
  wanted.module_reads = action.module_reads;
  OperatorActions& actions = *call.context.actions;
  const auto work = action.end ? actions.end_maintenance(port, action.by)
                               : actions.begin_maintenance(port, wanted);
  if (!work) return error_response(409, work.error().message);
  const std::string name = port.empty() ? "all ports" : port;
  return action_response(
      call,
      {{"action", action.end ? "maintenance_end" : "maintenance_start"},
       {"port", port.empty() ? "all" : port},
       {"by", action.by},
       {"user", action.user},
       {"reason", work->reason},
       {"since", format_rfc3339(work->since)},
       {"until", time_text(work->until)}},
      action.end ? fmt::format("{}: maintenance ended after {}", name,
                               format_duration(call.now() - work->since))
                 : fmt::format("{}: in maintenance {}, no fault is raised{}", name,
                               format_until(work->until, call.now(), ""),
                               work->module_reads == false ? "; modules are not read" : ""));
}

/// The response of `act` for the port called `name`.
template <typename Act>
HttpResponse act_on_port(const ApiCall& call, const std::string& name, Act act) {
  if (call.context.actions == nullptr)
    return error_response(503, "this daemon accepts no operator actions");
  const auto action = parse_action(call.request);
  if (!action) return error_response(400, action.error().message);
  if (name == "all" && call.argument.empty()) return act(call, "", *action);
  const auto port = find_port(call.report(), name);
  return port ? act(call, (*port)->port, *action) : error_response(404, port.error().message);
}

}  // namespace

HttpResponse post_acknowledgement(const ApiCall& call) {
  return act_on_port(call, call.argument, acknowledge);
}

HttpResponse post_maintenance(const ApiCall& call) {
  return act_on_port(call, call.request.param("port"), maintain);
}

}  // namespace linkhealth
