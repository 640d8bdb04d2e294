// Where snapshots come from: the live kernel (Sampler) or a recording (PlaySource). The loop knows
// only this.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"

namespace linkhealth {

class Source {
 public:
  virtual ~Source() = default;

  /// What is due; nullopt when nothing is, or nothing is new. Never blocks on a module or on a far
  /// end.
  virtual std::optional<Snapshot> poll() = 0;
  /// How long until poll() has something to do, if no descriptor wakes it first; nullopt: never
  /// again.
  [[nodiscard]] virtual std::optional<Milliseconds> until_due() const = 0;
  /// Descriptors that make poll() worth calling as soon as they are readable; they may change with
  /// each poll().
  [[nodiscard]] virtual std::vector<int> wake_fds() const = 0;
  /// What the recording's header says, for a recorder and the engine.
  [[nodiscard]] virtual RecordingHeader header() const = 0;
};

}  // namespace linkhealth
