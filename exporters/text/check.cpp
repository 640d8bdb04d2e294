#include "exporters/text/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "exporters/text/text.h"
#include "exporters/text/text_layout.h"
#include "model/json/json.h"

namespace linkhealth {

namespace {

constexpr std::array<std::string_view, 4> kNames = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
constexpr std::size_t kNamedPorts = 3;  // named in the line; more are only counted

/// Among several ports, a known problem counts more than an unknown state.
int weight(CheckLevel level) {
  constexpr std::array<int, 4> kWeights = {0, 2, 3, 1};
  return kWeights.at(static_cast<std::size_t>(level));
}

CheckLevel level_of(const PortReport& port) {
  const bool severe = std::ranges::any_of(port.faults, [](const FaultReport& fault) {
    return fault.severity == Severity::kCritical && fault.state != FaultState::kProving;
  });
  // On a link that is down, only an administrator's action is a mere notice.
  const bool set_down = !port.faults.empty() && port.faults.front().severity == Severity::kNotice;
  switch (port.health) {
    case Health::kExempt:
      return port.note.starts_with(kRefusedEntry) ? CheckLevel::kUnknown : CheckLevel::kOk;
    case Health::kHealthy:
      return CheckLevel::kOk;
    case Health::kAtRisk:
      return CheckLevel::kWarning;
    case Health::kDegraded:
      return severe ? CheckLevel::kCritical : CheckLevel::kWarning;
    case Health::kDown:
      return set_down ? CheckLevel::kWarning : CheckLevel::kCritical;
    case Health::kUnknown:
      return CheckLevel::kUnknown;
  }
  return CheckLevel::kUnknown;
}

std::string text_of(const PortReport& port) {
  if (port.note.starts_with(kRefusedEntry)) return clean_text(port.note, true);
  if (port.faults.empty()) return format_health(port);
  const FaultReport& fault = port.faults.front();
  if (!is_told_on(fault, port.port))
    return fmt::format("{}, with {}", format_name(fault.fault), fault.ports.front());
  const std::string text = format_headline(fault);
  if (fault.acknowledged)
    return text + ", acknowledged by " + clean_text(fault.acknowledged->by, true);
  return fault.state == FaultState::kOpen ? text
                                          : fmt::format("{}, {}", text, format_state(fault.state));
}

std::vector<const CheckedPort*> bad_ports(const std::vector<CheckedPort>& ports) {
  std::vector<const CheckedPort*> bad;
  for (const CheckedPort& port : ports)
    if (port.level != CheckLevel::kOk) bad.push_back(&port);
  std::ranges::stable_sort(bad, [](const CheckedPort* a, const CheckedPort* b) {
    return weight(a->level) > weight(b->level);
  });
  return bad;
}

std::string format_ok(const Report& report, const PortReport* only) {
  if (only != nullptr)
    return only->port + " " + format_health(*only) + (only->maintenance ? ", in maintenance" : "");
  const auto exempt = std::ranges::count(report.ports, Health::kExempt, &PortReport::health);
  const auto worked_on = std::ranges::count_if(
      report.ports, [](const PortReport& port) { return port.maintenance.has_value(); });
  return join_parts(
      {count_of(report.ports.size(), "port"), exempt > 0 ? fmt::format("{} exempt", exempt) : "",
       worked_on > 0 ? fmt::format("{} in maintenance", worked_on) : ""},
      ", ");
}

/// Why ports without a problem do not mean OK: none of them is judged, or there is a card without
/// ports; "": they do.
std::string why_unknown(const Report& report, const PortReport* only) {
  const auto exempt = [](const PortReport& port) { return port.health == Health::kExempt; };
  if (only != nullptr)
    return exempt(*only) && !only->maintenance
               ? only->port + " is not monitored" +
                     (only->exempt.empty() ? "" : ": " + clean_text(only->exempt, true))
               : "";
  if (report.ports.empty()) return "no port found";
  for (const Gap& gap : report.gaps)
    if (gap.probe == to_string(SourceId::kPciBus) &&
        gap.reason.find(kMadeNoPort) != std::string::npos)
      return clean_text(gap.reason, true);
  if (!std::ranges::all_of(report.ports, exempt)) return "";
  const std::string& first = report.ports.front().exempt;
  return fmt::format(
      "none of {} is monitored{}", count_of(report.ports.size(), "port"),
      first.empty() ? ""
                    : fmt::format(" ({}: {})", report.ports.front().port, clean_text(first, true)));
}

std::string format_problem(const std::vector<const CheckedPort*>& bad) {
  std::string text;
  for (std::size_t i = 0; i < std::min(bad.size(), kNamedPorts); ++i)
    text += (i == 0 ? "" : "; ") + bad[i]->port + " " + bad[i]->text;
  if (bad.size() > kNamedPorts) text += fmt::format("; and {} more", bad.size() - kNamedPorts);
  return text;
}

/// A fault that several ports share is one problem, of the port that reports it.
void leave_shared(std::vector<const CheckedPort*>& bad, const Report& report) {
  const auto is_bad = [all = bad](const PortKey& port) {
    return std::ranges::count(all, port, [](const CheckedPort* one) { return one->port; }) > 0;
  };
  std::erase_if(bad, [&](const CheckedPort* one) {
    const auto port = std::ranges::find(report.ports, one->port, &PortReport::port);
    return !port->faults.empty() && !is_told_on(port->faults.front(), port->port) &&
           is_bad(port->faults.front().ports.front());
  });
}

/// "linkhealth: mlx5_7/1 far port down (91%) +1"
std::string format_drain(const std::vector<const CheckedPort*>& bad) {
  const std::string more = bad.size() > 1 ? fmt::format(" +{}", bad.size() - 1) : "";
  // The reason has no room for the name of the operator.
  std::string text = "linkhealth: " + bad.front()->port + " " + bad.front()->text;
  text = clean_text(text.substr(0, text.find(", ")), true);
  if (text.size() + more.size() > kDrainReasonColumns)
    text.resize(kDrainReasonColumns - more.size());
  return text + more;
}

}  // namespace

std::string_view to_string(CheckLevel level) { return kNames.at(static_cast<std::size_t>(level)); }

CheckedPort check_port(const PortReport& port) {
  if (port.maintenance) return {port.port, CheckLevel::kOk, "in maintenance"};
  return {port.port, level_of(port), text_of(port)};
}

Check check(const Report& report, const PortReport* only, const CheckView& view) {
  Check result;
  const Milliseconds age = view.now - report.at;
  if (age > view.stale_after) {
    result.level = CheckLevel::kUnknown;
    result.text = fmt::format("the last sample is {} old", format_duration(age));
    result.drain_reason = "linkhealth: " + result.text;
    return result;
  }
  for (const PortReport& port : report.ports)
    if (only == nullptr || &port == only) {
      result.ports.push_back(check_port(port));
      result.down += port.health == Health::kDown;
    }
  auto bad = bad_ports(result.ports);
  if (only == nullptr) leave_shared(bad, report);
  result.problems = bad.size();
  if (bad.empty()) {
    result.text = why_unknown(report, only);
    if (result.text.empty()) {
      result.text = join_parts({format_ok(report, only), format_sight(view.sight)}, "; ");
    } else {
      result.level = CheckLevel::kUnknown;
      if (report.ports.empty()) result.drain_reason = "linkhealth: no port found";
    }
  } else {
    result.level = bad.front()->level;
    result.text = format_problem(bad);
    result.drain_reason = format_drain(bad);
  }
  if (report.dry_run == true && result.level != CheckLevel::kOk) {
    result.text = fmt::format("dry run, would be {}: {}", to_string(result.level), result.text);
    result.level = CheckLevel::kOk;
    result.drain_reason.clear();
  }
  return result;
}

std::string check_line(const Check& check, bool perfdata) {
  std::string text = clean_text(check.text, true);
  std::ranges::replace(text, '|', '/');  // text after a bar is performance data
  std::string line = fmt::format("LINKHEALTH {} - {}", to_string(check.level), text);
  if (perfdata)
    line += fmt::format(" | ports={} problems={};0 down={};;0", check.ports.size(), check.problems,
                        check.down);
  return line + "\n";
}

std::string check_json(const Check& check) {
  OrderedJson out;
  out["schema"] = "linkhealth.check/1";
  out["level"] = to_string(check.level);
  out["exit_code"] = static_cast<std::uint64_t>(check.level);
  out["text"] = check.text;
  out["drain_reason"] = check.drain_reason;
  out["ports"] = OrderedJson::array();
  for (const CheckedPort& port : check.ports)
    out["ports"].push_back(
        {{"port", port.port}, {"level", to_string(port.level)}, {"text", port.text}});
  return format_json(out);
}

}  // namespace linkhealth
