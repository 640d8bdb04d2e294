// The HTTP API without HTTP: a request's meaning in, an answer out. Which socket it came by decides
// only what is allowed.
//
//   /metrics[?collect[]=counters][&collect[]=optics]   Prometheus text, gzip when accepted
//   /api/v1/report                                     the report (docs/recording.md)
//   /api/v1/ports/PORT                                 one port of it, by any of its names
//   /api/v1/ports/PORT/history, /api/v1/identities/SERIAL, /api/v1/text/history/PORT:
//   daemon/api_history.h /api/v1/module/PORT                                its module, in the form
//   of a recording /api/v1/doctor                                     what can be seen of this node
//   (docs/schema/doctor.json) /api/v1/text/doctor?width=&colour=&ascii= /api/v1/events[?limit=N]
//   the latest fault events, oldest first /api/v1/text/status?width=&colour=&ascii=&wide=&problems=
//   /api/v1/text/explain/PORT?width=&colour=&ascii=&symptoms=&physics=
//   /api/v1/text/module/PORT?width=&colour=&ascii=
//   /api/v1/check[/PORT]  /api/v1/ticket/PORT  /api/v1/cabling   and as text (daemon/api_desk.h)
//   /api/v1/rules                                      what the tables say, and what they did here
//   /api/v1/text/rules[/NAME]?width=&colour=&ascii=&unused=
//   /api/v1/events/stream                              the same as they come (server-sent events;
//   daemon/server.cpp) /api/v1/openapi.json                               all of this, for programs
//   /api/v1/recording?for=SECONDS                      a stream; Unix socket only
//   (daemon/server.cpp) POST /api/v1/ports/PORT/ack  /api/v1/maintenance   (daemon/api_operator.h)
//   /-/healthy  /-/ready
//   /  /web/FILE                                       the page (exporters/web/)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/report_store.h"
#include "exporters/text_style.h"
#include "storage/history_store.h"

namespace linkhealth {

/// Who asks. The server fills it: from the peer credentials of a Unix socket, or from what was
/// authenticated on TCP. Nothing known means: may not act.
struct Caller {
  enum class Way : std::uint8_t { kUnknown, kTcp, kUnix };
  Way way = Way::kUnknown;
  std::optional<std::uint32_t> uid;  ///< of the process at the other end of a Unix socket
  std::string user;  ///< the name to remember ("" not known): of that uid, or as authenticated
  bool may_act =
      false;  ///< acknowledge, begin and end maintenance; reading is for everybody who gets here
};

struct ApiRequest {
  std::string method;  ///< "GET" and "HEAD" read, "POST" acts
  std::string path;    ///< decoded
  std::multimap<std::string, std::string> params;
  bool accepts_gzip = false;
  std::string body;  ///< at most kMaxRequestBody_bytes
  /// Fields of the head as they came; "" when not given.
  std::string content_type, authorization, last_event_id, origin, host;
  Caller caller;
};

using SharedBytes = std::shared_ptr<const std::string>;

struct ApiReply {
  int status = 200;
  std::string_view content_type;  ///< of a table, or a literal
  SharedBytes body;
  std::vector<std::pair<std::string, std::string>> headers;
};

class Operator;

/// What answers are made of.
struct ApiView {
  const ReportStore& reports;
  WallTime now;
  Milliseconds watching;            ///< for how long the monitor has run
  Milliseconds stale_after;         ///< a last sample older than this is not healthy
  HistoryStore* history = nullptr;  ///< nullptr: nothing is remembered
  Operator* desk = nullptr;         ///< takes what people say; nullptr: nobody does
};

ApiReply answer(const ApiRequest& request, const ApiView& view);
/// width=, colour=, ascii=
TextStyle api_style(const ApiRequest& request);
/// An error as the API gives it: one line for /api/v1/text, else {"error":"…"}.
ApiReply api_error(const ApiRequest& request, int status, const std::string& message);

}  // namespace linkhealth
