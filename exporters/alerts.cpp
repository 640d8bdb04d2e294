#include "exporters/alerts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "exporters/text_layout.h"
#include "model/json_writer.h"

namespace linkhealth {

namespace {

// The faults that the table knows at both ends: there the far one has a name of its own
// (dashboards/generate.py).
constexpr std::array<std::string_view, 2> kAtBothEnds = {"bad_module", "failing_transmitter"};

std::string_view severity_label(Severity severity) {
  constexpr std::array<std::string_view, 3> kWords = {"info", "ticket", "page"};
  return kWords.at(static_cast<std::size_t>(severity));
}

/// A label's name: letters, digits and underscores.
std::string label_name(std::string_view name) {
  std::string out;
  for (const char c : name)
    out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  return out.empty() || (out[0] >= '0' && out[0] <= '9') ? "_" + out : out;
}

std::string summary_of(const AlertOrigin& origin, const PortKey& key, const PortReport* port,
                       const FaultReport& fault) {
  std::string title = fault.fault;
  std::replace(title.begin(), title.end(), '_', ' ');
  std::string text = fmt::format("{} {}", origin.node, key);
  if (port != nullptr && !port->peer.empty()) text += " to " + port->peer;
  if (const auto rack = origin.site.find("rack"); rack != origin.site.end())
    text += ", rack " + rack->second;
  // 99 at most: nothing is certain
  return text + fmt::format(": {} ({:.0f}% sure)", title,
                            std::min(std::floor(fault.confidence * 100 + 0.5), 99.0));
}

void write_map(JsonWriter& json, std::string_view name,
               const std::map<std::string, std::string>& map) {
  json.key(name);
  json.begin_object();
  for (const auto& [key, value] : map) {
    json.key(key);
    json.value(value);
  }
  json.end_object();
}

}  // namespace

std::string alert_name(const std::string& fault, End end) {
  std::string name;
  bool begins = true;
  for (const char c : fault) {
    if (c != '_') name += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins = c == '_';
  }
  if (!name.starts_with("Nic") && !name.starts_with("Pcie")) name.insert(0, "Link");
  if (end == End::kFar && std::ranges::find(kAtBothEnds, fault) != kAtBothEnds.end()) name += "Far";
  return name;
}

Alert make_alert(const AlertOrigin& origin, const PortKey& key, const PortReport* port,
                 const FaultReport& fault) {
  Alert alert;
  auto& labels = alert.labels;
  for (const auto& [name, value] : origin.site)
    if (!value.empty()) labels[label_name(name)] = value;
  labels["alertname"] = alert_name(fault.fault, fault.end);
  labels["scope"] = "link";
  labels["instance"] = origin.node;
  const auto slash = key.rfind('/');
  labels["device"] = key.substr(0, slash);
  labels["port"] = slash == std::string::npos ? "1" : key.substr(slash + 1);
  labels["fault"] = fault.fault;
  labels["end"] = to_string(fault.end);
  labels["severity"] = severity_label(fault.severity);
  labels["fault_severity"] = to_string(fault.severity);
  if (port != nullptr && port->latest.peer) {
    if (!port->latest.peer->system.empty()) labels["peer_system"] = port->latest.peer->system;
    if (!port->latest.peer->port.empty()) labels["peer_port"] = port->latest.peer->port;
  }
  alert.annotations["summary"] = summary_of(origin, key, port, fault);
  if (!fault.summary.empty()) alert.annotations["description"] = fault.summary;
  if (!fault.repair.empty()) alert.annotations["first_step"] = fault.repair.front();
  if (!fault.verify.empty()) alert.annotations["verify"] = fault.verify;
  // A word to whoever is told again: the Alertmanager repeats what nobody silenced there.
  if (const auto& noted = fault.acknowledged)
    alert.annotations["acknowledged"] = fmt::format(
        "by {} {}{}{}", noted->by,
        noted->until ? "until " + instant_words(*noted->until) : "until the fault closes",
        noted->reason.empty() ? "" : ": ", noted->reason);
  alert.annotations["fault_id"] = fault.id;
  alert.annotations["runbook_url"] = "docs/runbooks/" + fault.fault + ".md";
  alert.starts_at = fault.opened_at;
  return alert;
}

std::string alerts_json(const std::vector<Alert>& alerts, WallTime stands_until) {
  std::string text;
  JsonWriter json(text);
  json.begin_array();
  for (const Alert& alert : alerts) {
    const WallTime ends = alert.ends_at.value_or(stands_until);
    json.begin_object();
    write_map(json, "labels", alert.labels);
    write_map(json, "annotations", alert.annotations);
    json.key("startsAt");
    json.value(format_rfc3339(std::min(alert.starts_at, ends)));
    json.key("endsAt");
    json.value(format_rfc3339(ends));
    json.end_object();
  }
  json.end_array();
  return text;
}

}  // namespace linkhealth
