// Failure events as structured journal entries: a MESSAGE_ID for each kind of event
// (systemd/linkhealth.catalog explains them) and fields that journalctl can select by: journalctl
// LINKHEALTH_PORT=mlx5_3/1.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/report.h"

namespace linkhealth {

/// The 128-bit id (32 hex digits) of a kind of event; never changes once released.
std::string_view journal_message_id(FaultEventKind kind);

/// The entry as "FIELD=value", MESSAGE first. PRIORITY follows the severity: critical 2, warning 4,
/// notice 5; what ends or quiets a fault (closed, acknowledged, proving) is 5 at most. Pure.
std::vector<std::string> journal_fields(const FaultEvent& event, std::string_view node);

/// Where entries go.
class Journal {
 public:
  virtual ~Journal() = default;
  virtual Result<void> send(const std::vector<std::string>& fields) = 0;
};

/// The entry in the journal's own protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL):
/// "FIELD=value" a line; a value of several lines comes with its size (8 bytes, little-endian)
/// instead. Pure.
std::string journal_datagram(const std::vector<std::string>& fields);

/// systemd's journal. Without one on this machine an entry is lost silently.
class SystemdJournal : public Journal {
 public:
  explicit SystemdJournal(std::string socket = "/run/systemd/journal/socket")
      : socket_(std::move(socket)) {}
  Result<void> send(const std::vector<std::string>& fields) override;

 private:
  std::string socket_;
};

}  // namespace linkhealth
