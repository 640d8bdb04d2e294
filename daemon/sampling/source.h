// Where snapshots come from: this node (Sampler) or a recording (PlaySource).
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"

namespace linkhealth {

class Source {
 public:
  virtual ~Source() = default;

  /// Makes the reads that are due; nullopt when nothing is new. Never blocks on a module or a far
  /// end.
  virtual std::optional<Snapshot> poll() = 0;
  /// Time until poll() has something to do, unless a descriptor becomes readable first; nullopt:
  /// never again.
  [[nodiscard]] virtual std::optional<Milliseconds> until_due() const = 0;
  /// Descriptors that make poll() worth calling when they become readable; they may change with
  /// each poll().
  [[nodiscard]] virtual std::vector<int> wake_fds() const = 0;
  /// The header for recordings, and for the engine.
  [[nodiscard]] virtual RecordingHeader header() const = 0;
};

}  // namespace linkhealth
