// What people tell the daemon over the API: acknowledgements and maintenance. POST only, and only
// from who may act.
//
//   POST /api/v1/ports/PORT/ack?for=SECONDS&reason=&by=      &end=1 takes it back; without for=:
//   until the fault closes POST
//   /api/v1/maintenance?port=PORT|all&for=SECONDS&reason=&by=[&module_reads=off]   &end=1 ends it
//
// by= is the name to show; who really asks (the peer of the Unix socket, the user or certificate on
// TCP) is added where that is somebody else: "ann (as root)". So it stands in reports, events,
// history and the log.
//
// The answer is JSON (docs/schema/action.json), or one sentence with &format=text.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "daemon/api.h"

namespace linkhealth {

inline constexpr std::string_view kMaintenancePath = "/api/v1/maintenance";
inline constexpr std::string_view kAckEnd = "/ack";

/// Who takes what people say to the deciding thread and keeps it. Called by the server's thread. An
/// error: not done, and why.
class Operator {
 public:
  virtual ~Operator() = default;
  virtual Result<FaultReport> acknowledge(const PortKey& port, const std::string& by,
                                          const std::string& reason,
                                          std::optional<WallTime> until) = 0;
  virtual Result<FaultReport> withdraw(const PortKey& port, const std::string& by) = 0;
  /// `port` "": all ports of the node.
  virtual Result<Maintenance> begin_maintenance(const PortKey& port,
                                                const Maintenance& maintenance) = 0;
  virtual Result<Maintenance> end_maintenance(const PortKey& port, const std::string& by) = 0;
  /// Why what was done last would not survive a restart; "" when it does.
  [[nodiscard]] virtual std::string not_kept() const = 0;
};

/// 403 for who may not act, 400 for a bad parameter, 404 for an unknown port, 409 where there is
/// nothing to do.
ApiReply act(const ApiRequest& request, const ApiView& view, const Report& report);

}  // namespace linkhealth
