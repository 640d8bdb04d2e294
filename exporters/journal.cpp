#include "exporters/journal.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>

#include <algorithm>
#include <array>

#include "base/hidden_text.h"

namespace linkhealth {

namespace {

constexpr std::array<std::string_view, 6> kMessageIds = {
    "a1a3fddfc0e94f9681a68f14f1edd567",  // opened
    "7dd41098afdb449fa48fd675a9b63f6d",  // worsened
    "bae5b40fef0141f7871bc7195ff56757",  // acknowledged
    "b5e31e30325d478581d86c78e0b61e81",  // proving
    "3fe08ff5c2b34aa8aff8f2969a2b38cd",  // closed
    "e80d8e0a336b4e979641186be33e81a3",  // reopened
};

int priority_of(const FaultEvent& event) {
  const bool raises = event.kind == FaultEventKind::kOpened ||
                      event.kind == FaultEventKind::kWorsened ||
                      event.kind == FaultEventKind::kReopened;
  if (!raises || event.fault.severity == Severity::kNotice) return 5;
  return event.fault.severity == Severity::kCritical ? 2 : 4;
}

/// The whole event on one line: "mlx5_3/1: dirty_connector opened (path, 83%): lane 2 receives …;
/// do this: clean …".
std::string message_of(const FaultEvent& event) {
  const FaultReport& fault = event.fault;
  std::string text = fmt::format("{}: {} {}", event.port, fault.fault, to_string(event.kind));
  text += fmt::format(" ({}{}{:.0f}% sure)", to_string(fault.end),
                      fault.end == End::kNone ? "" : ", ", fault.confidence * 100);
  if (!fault.summary.empty()) text += ": " + fault.summary;
  if (event.kind != FaultEventKind::kClosed && !fault.repair.empty())
    text += "; do this: " + fault.repair.front();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return without_hidden(text);
}

}  // namespace

std::string_view journal_message_id(FaultEventKind kind) {
  return kMessageIds.at(static_cast<std::size_t>(kind));
}

std::vector<std::string> journal_fields(const FaultEvent& event, std::string_view node) {
  const FaultReport& fault = event.fault;
  std::vector<std::string> fields = {
      "MESSAGE=" + message_of(event),
      fmt::format("MESSAGE_ID={}", journal_message_id(event.kind)),
      fmt::format("PRIORITY={}", priority_of(event)),
      "SYSLOG_IDENTIFIER=linkhealthd",
      fmt::format("LINKHEALTH_EVENT={}", to_string(event.kind)),
      fmt::format("LINKHEALTH_NODE={}", node),
      "LINKHEALTH_PORT=" + event.port,
      "LINKHEALTH_FAULT=" + fault.fault,
      "LINKHEALTH_FAULT_ID=" + fault.id,
      fmt::format("LINKHEALTH_END={}", to_string(fault.end)),
      fmt::format("LINKHEALTH_SEVERITY={}", to_string(fault.severity)),
      fmt::format("LINKHEALTH_STATE={}", to_string(fault.state)),
      fmt::format("LINKHEALTH_CONFIDENCE={:.2f}", fault.confidence),
      "LINKHEALTH_SUMMARY=" + fault.summary,
      "LINKHEALTH_OPENED_AT=" + format_rfc3339(fault.opened_at),
  };
  for (const std::string& step : fault.repair) fields.push_back("LINKHEALTH_REPAIR=" + step);
  if (!fault.verify.empty()) fields.push_back("LINKHEALTH_VERIFY=" + fault.verify);
  return fields;
}

Result<void> send_to_journal(const std::vector<std::string>& fields) {
  std::vector<iovec> parts;
  parts.reserve(fields.size());
  for (const std::string& field : fields)
    parts.push_back({const_cast<char*>(field.data()), field.size()});
  const int status = sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
  if (status < 0) return errno_error("writing to the journal", -status);
  return {};
}

}  // namespace linkhealth
