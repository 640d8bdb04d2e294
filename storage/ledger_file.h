// The open faults over a restart, as JSON in a small file (storage/state_file.h): a daemon that was killed neither
// forgets a fault nor reports it as new.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/ledger_state.h"
#include "storage/state_file.h"

namespace linkhealth {

std::string ledger_json(const LedgerState& state);
/// An error says where the text is damaged.
Result<LedgerState> parse_ledger(std::string_view json);

class LedgerFile {
 public:
  explicit LedgerFile(std::string path) : file_(std::move(path)) {}

  /// What was kept; empty when there is no file yet. A damaged file is set aside: the error is the sentence to log, and
  /// the next keep() begins anew.
  Result<LedgerState> read();
  /// Writes when a fault came, went or changed its state since the last time.
  Result<void> keep(const LedgerState& state);

 private:
  StateFile file_;
  std::optional<LedgerState> kept_;
};

}  // namespace linkhealth
