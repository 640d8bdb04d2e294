#include "daemon/api_operator.h"

#include <fmt/format.h>

#include "base/text.h"
#include "exporters/port_names.h"
#include "exporters/text_layout.h"
#include "model/json.h"

namespace linkhealth {

namespace {

constexpr std::string_view kPortsPath = "/api/v1/ports/";
constexpr std::uint64_t kLongest_s =
    90ULL * 86400;  // a season: what lasts longer is an exemption, which has its place
constexpr std::size_t kMaxReasonBytes = 500;
constexpr std::size_t kMaxNameBytes = 64;

constexpr std::string_view kAs = "(as ";

/// What the parameters say.
struct Wish {
  std::string by;    ///< the name given, and who really asks where that is another: "ann (as root)"
  std::string user;  ///< who really asks, by the kernel's or the gate's word; "" not known
  std::string reason;
  std::optional<std::uint64_t> for_s;
  bool end = false;
  std::optional<bool> module_reads;
};

std::string param(const ApiRequest& request, const std::string& name) {
  const auto found = request.params.find(name);
  return found == request.params.end() ? "" : found->second;
}

Result<Wish> wish_of(const ApiRequest& request) {
  Wish wish;
  wish.by = clean_text(trim(param(request, "by")), false);
  wish.user = clean_text(request.caller.user, false);
  // What stands behind the name is ours to say.
  if (wish.by.find(kAs) != std::string::npos) return Error{"by= takes a name, without \"(as …)\""};
  if (wish.by.empty()) wish.by = wish.user;
  wish.reason = clean_text(trim(param(request, "reason")), false);
  wish.end = param(request, "end") == "1";
  if (const std::string reads = param(request, "module_reads"); reads == "off") {
    wish.module_reads = false;
  } else if (!reads.empty()) {
    return Error{"module_reads= takes off"};
  }
  if (wish.by.empty()) return Error{"by= is missing: who says so?"};
  if (wish.by.size() > kMaxNameBytes)
    return Error{fmt::format("by= is longer than {} bytes", kMaxNameBytes)};
  if (!wish.user.empty() && wish.by != wish.user) wish.by += fmt::format(" {}{})", kAs, wish.user);
  if (wish.reason.size() > kMaxReasonBytes)
    return Error{fmt::format("reason= is longer than {} bytes", kMaxReasonBytes)};
  if (const std::string text = param(request, "for"); !text.empty()) {
    wish.for_s = parse_u64(text);
    if (!wish.for_s || *wish.for_s == 0 || *wish.for_s > kLongest_s)
      return Error{fmt::format("for= takes 1 to {} seconds", kLongest_s)};
  }
  return wish;
}

std::optional<WallTime> until_of(const Wish& wish, WallTime now) {
  if (!wish.for_s) return std::nullopt;
  return now + std::chrono::seconds(*wish.for_s);
}

std::string until_words(const std::optional<WallTime>& until, WallTime now,
                        std::string_view without) {
  if (!until) return std::string(without);
  return fmt::format("until {} (for {})", instant_words(*until), duration_words(*until - now));
}

/// One action as an answer: a sentence, or a JSON object of what `fill` writes.
template <typename Fill>
ApiReply done(const ApiRequest& request, const ApiView& view, std::string sentence, Fill fill) {
  const std::string not_kept = view.desk->not_kept();
  ApiReply reply;
  std::string body;
  if (param(request, "format") == "text") {
    if (!not_kept.empty()) sentence += "; a restart would forget it: " + not_kept;
    reply.content_type = "text/plain; charset=utf-8";
    body = sentence + "\n";
  } else {
    OrderedJson out;
    out["schema"] = "linkhealth.action/1";
    fill(out);
    out["text"] = sentence;
    if (!not_kept.empty()) out["warning"] = "a restart would forget it: " + not_kept;
    body = format_json(out) + "\n";
    reply.content_type = "application/json";
  }
  reply.body = std::make_shared<const std::string>(std::move(body));
  return reply;
}

void put(OrderedJson& out, std::string_view key, const std::string& text) {
  if (!text.empty()) out[key] = text;
}

void put(OrderedJson& out, std::string_view key, const std::optional<WallTime>& time) {
  if (time) put(out, key, format_rfc3339(*time));
}

ApiReply acknowledge(const ApiRequest& request, const ApiView& view, const PortReport& port,
                     const Wish& wish) {
  const auto until = until_of(wish, view.now);
  const auto fault = wish.end ? view.desk->withdraw(port.port, wish.by)
                              : view.desk->acknowledge(port.port, wish.by, wish.reason, until);
  if (!fault)
    return api_error(request, 409, fmt::format("{}: {}", port.port, fault.error().message));
  std::string sentence =
      wish.end
          ? fmt::format("{}: {} is not acknowledged any more", port.port, name_words(fault->fault))
          : fmt::format("{}: {} acknowledged by {} {}", port.port, name_words(fault->fault),
                        wish.by, until_words(until, view.now, "until it closes"));
  return done(request, view, std::move(sentence), [&](OrderedJson& out) {
    put(out, "action", std::string(wish.end ? "ack_end" : "ack"));
    put(out, "port", port.port);
    put(out, "fault", fault->fault);
    put(out, "fault_id", fault->id);
    put(out, "state", std::string(to_string(fault->state)));
    put(out, "by", wish.by);
    put(out, "user", wish.user);
    put(out, "reason", wish.reason);
    put(out, "until", until);
  });
}

ApiReply maintain(const ApiRequest& request, const ApiView& view, const PortReport* port,
                  const Wish& wish) {
  const PortKey key = port == nullptr ? "" : port->port;
  const std::string name = port == nullptr ? "all ports" : port->port;
  if (!wish.end && !wish.for_s)
    return api_error(request, 400, "for= is missing: maintenance must end some time");
  Maintenance wanted;
  wanted.by = wish.by;
  wanted.reason = wish.reason;
  wanted.since = view.now;
  wanted.until = until_of(wish, view.now);
  wanted.module_reads = wish.module_reads;
  const auto work = wish.end ? view.desk->end_maintenance(key, wish.by)
                             : view.desk->begin_maintenance(key, wanted);
  if (!work) return api_error(request, 409, work.error().message);
  std::string sentence =
      wish.end ? fmt::format("{}: maintenance ended after {}", name,
                             duration_words(view.now - work->since))
               : fmt::format("{}: in maintenance {}, nothing is raised{}", name,
                             until_words(work->until, view.now, ""),
                             work->module_reads == false ? ", and no module is read" : "");
  return done(request, view, std::move(sentence), [&](OrderedJson& out) {
    put(out, "action", std::string(wish.end ? "maintenance_end" : "maintenance_start"));
    put(out, "port", port == nullptr ? "all" : port->port);
    put(out, "by", wish.by);
    put(out, "user", wish.user);
    put(out, "reason", work->reason);
    put(out, "since", std::optional(work->since));
    put(out, "until", work->until);
  });
}

}  // namespace

ApiReply act(const ApiRequest& request, const ApiView& view, const Report& report) {
  if (!request.caller.may_act)
    return api_error(request, 403,
                     "only who may use the Unix socket can acknowledge or begin maintenance");
  if (view.desk == nullptr) return api_error(request, 503, "this daemon takes no orders");
  const auto wish = wish_of(request);
  if (!wish) return api_error(request, 400, wish.error().message);
  std::string_view name = request.path;
  const bool maintenance = name == kMaintenancePath;
  const std::string named = param(request, "port");
  if (maintenance) {
    name = named;
  } else {
    name = name.substr(kPortsPath.size(), name.size() - kPortsPath.size() - kAckEnd.size());
  }
  if (maintenance && name == "all") return maintain(request, view, nullptr, *wish);
  const auto port = find_port(report, name);
  if (!port) return api_error(request, 404, port.error().message);
  return maintenance ? maintain(request, view, *port, *wish)
                     : acknowledge(request, view, **port, *wish);
}

}  // namespace linkhealth
