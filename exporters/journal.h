// Fault events as structured journal entries: a MESSAGE_ID for each kind of event (explained in
// systemd/linkhealth.catalog) and fields that journalctl can select by: journalctl
// LINKHEALTH_PORT=mlx5_3/1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/report.h"

namespace linkhealth {

/// The 128-bit id (32 hex digits) of a kind of event; never changes once released.
std::string_view journal_message_id(FaultEventKind kind);

/// The entry as "FIELD=value", MESSAGE first. PRIORITY follows the severity: critical 2, warning 4,
/// notice 5; events that end or silence a fault (closed, acknowledged, proving) are never more
/// urgent than 5. Pure function.
std::vector<std::string> journal_fields(const FaultEvent& event, std::string_view node);

/// Writes the entry to systemd's journal. If this machine has no journal, it is silently lost.
Result<void> send_to_journal(const std::vector<std::string>& fields);

}  // namespace linkhealth
