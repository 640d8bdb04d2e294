// Where snapshots come from: the live kernel (Sampler) or a recording (PlaySource). The loop knows
// only this.
#pragma once

#include <functional>
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
  /// Who calls is awake in any case: what is due within `slack` is due now and not then. Whether
  /// something is, so that poll() is worth calling.
  virtual bool hasten(Milliseconds /*slack*/) { return false; }
  /// Descriptors that make poll() worth calling as soon as they are readable; asked anew after each
  /// poll(). One that was listed must stay open until it was left out once.
  [[nodiscard]] virtual std::vector<int> wake_fds() const = 0;
  /// Whether poll() left reads to be made by a thread that is lent to them.
  [[nodiscard]] virtual bool wants_thread() const { return false; }
  /// Those reads, for a thread that does nothing else meanwhile and may hang in one for ever; then
  /// poll() again. May run beside poll(), and outlive the source. REQUIRES: wants_thread(); it is
  /// run.
  virtual std::function<void()> work() { return {}; }
  /// What the recording's header says, for a recorder and the engine.
  [[nodiscard]] virtual RecordingHeader header() const = 0;
};

}  // namespace linkhealth
