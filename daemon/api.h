// The HTTP API without HTTP: a request's meaning in, an answer out. Which socket it came by decides only what is
// allowed.
//
//   /metrics[?collect[]=counters][&collect[]=optics]   Prometheus text, gzip when accepted
//   /api/v1/report                                     the report (docs/recording.md)
//   /api/v1/ports/PORT                                 one port of it, by any of its names
//   /api/v1/ports/PORT/history, /api/v1/identities/SERIAL, /api/v1/text/history/PORT: daemon/api_history.h
//   /api/v1/module/PORT                                its module, in the form of a recording
//   /api/v1/doctor                                     what can be seen of this node (docs/schema/doctor.json)
//   /api/v1/text/doctor?width=&colour=&ascii=
//   /api/v1/events[?limit=N]                           the latest fault events, oldest first
//   /api/v1/text/status?width=&colour=&ascii=&wide=&problems=
//   /api/v1/text/explain/PORT?width=&colour=&ascii=&symptoms=&physics=
//   /api/v1/text/module/PORT?width=&colour=&ascii=
//   /api/v1/rules                                      what the tables say, and what they did here
//   /api/v1/text/rules[/NAME]?width=&colour=&ascii=&unused=
//   /api/v1/recording?for=SECONDS                      a stream; Unix socket only (daemon/server.cpp)
//   /-/healthy  /-/ready  /
#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/publisher.h"
#include "model/catalogue.h"
#include "storage/memory.h"

namespace linkhealth {

struct ApiRequest {
  std::string method;  ///< "GET" and "HEAD" are answered
  std::string path;    ///< decoded
  std::multimap<std::string, std::string> params;
  bool accepts_gzip = false;
};

struct ApiReply {
  int status = 200;
  std::string content_type;
  SharedBytes body;
  std::vector<std::pair<std::string, std::string>> headers;
};

/// What answers are made of.
struct ApiView {
  const Publisher& publisher;
  WallTime now;
  Milliseconds watching;     ///< for how long the monitor has run
  Milliseconds stale_after;  ///< a last sample older than this is not healthy
  const Catalogue* catalogue = nullptr;
  Memory* memory = nullptr;  ///< nullptr: nothing is remembered
};

ApiReply answer(const ApiRequest& request, const ApiView& view);
/// An error as the API gives it: one line for /api/v1/text, else {"error":"…"}.
ApiReply api_error(const ApiRequest& request, int status, const std::string& message);
/// Whether an Accept-Encoding header takes gzip ("gzip;q=0" doesn't).
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace linkhealth
