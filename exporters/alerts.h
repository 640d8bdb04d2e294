// Faults as alerts of the Alertmanager's API v2 (prometheus/alertmanager, api/v2/openapi.yaml).
// Names, labels and severity are those of dashboards/rules, so that the same routes and inhibitions
// do for both ways.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/report.h"

namespace linkhealth {

struct Alert {
  std::map<std::string, std::string>
      labels;  ///< what the Alertmanager knows it by; those that group: fault, peer_system
  std::map<std::string, std::string> annotations;
  WallTime starts_at;
  std::optional<WallTime> ends_at;  ///< nullopt: it stands
};

/// What is the same for all alerts of a node.
struct AlertOrigin {
  std::string node;
  std::map<std::string, std::string> site;  ///< row, rack, …
};

/// `port`: for the far end's name; nullptr when the report has the port no more.
Alert make_alert(const AlertOrigin& origin, const PortKey& key, const PortReport* port,
                 const FaultReport& fault);
/// "LinkDirtyConnector", "LinkFailingTransmitterFar".
std::string alert_name(const std::string& fault, End end);
/// The body of POST /api/v2/alerts. What stands ends at `stands_until` unless it is sent again
/// before.
std::string alerts_json(const std::vector<Alert>& alerts, WallTime stands_until);

}  // namespace linkhealth
