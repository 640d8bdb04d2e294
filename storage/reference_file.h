// What is normal for each port over a restart, as JSON in a small file (storage/state_file.h): without it a link that
// is bad from the daemon's first sample on has no past to be compared with.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "model/reference_state.h"
#include "storage/state_file.h"

namespace linkhealth {

std::string references_json(const ReferenceState& state);
/// An error says where the text is damaged.
Result<ReferenceState> parse_references(std::string_view json);

class ReferenceFile {
 public:
  explicit ReferenceFile(std::string path) : file_(std::move(path)) {}

  /// What was kept; empty when there is no file yet. A damaged file is set aside, and the error says so.
  Result<ReferenceState> read();
  /// References move slowly: once in a quarter of an hour is enough.
  [[nodiscard]] bool due(WallTime now) const;
  Result<void> keep(const ReferenceState& state, WallTime now);

 private:
  StateFile file_;
  std::optional<WallTime> kept_at_;
};

}  // namespace linkhealth
