// Calls of the verbs library that may wait for a driver or its firmware: opening and closing a
// context. Each runs on a thread that lives no longer than the call, one at a time; one that hangs
// is left behind and the next one begins.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "probes/verbs_device.h"

namespace linkhealth {

class VerbsCalls {
 public:
  struct Opened {
    std::string device;
    Result<std::unique_ptr<VerbsContext>> context;
  };

  VerbsCalls(std::shared_ptr<VerbsLibrary> library, Milliseconds patience);
  /// Waits a moment for the call that runs, then leaves it behind: its thread touches only what it
  /// owns.
  ~VerbsCalls();
  VerbsCalls(const VerbsCalls&) = delete;
  VerbsCalls& operator=(const VerbsCalls&) = delete;

  void open(const std::string& device);
  void close(const std::string& device, std::unique_ptr<VerbsContext> context);
  /// Begins the next call when none runs, or when the one that runs takes longer than the patience.
  void advance(SteadyTime now);
  /// What was opened, or could not be. Makes event_fd() unreadable.
  std::vector<Opened> take_opened();
  /// Devices whose call takes longer than the patience.
  [[nodiscard]] std::vector<std::string> stuck() const { return stuck_; }
  /// Devices whose call waits for a thread: too many hang, or the limit of tasks is reached. Tried
  /// again each time.
  [[nodiscard]] std::vector<std::string> without_thread() const;
  /// Readable when a call came back.
  [[nodiscard]] int event_fd() const;
  /// Nothing waits and nothing runs.
  [[nodiscard]] bool idle() const;

  /// So many calls may hang; after that nothing is opened any more.
  static constexpr std::size_t kMaxThreads = 4;

 private:
  struct Call {
    std::string device;
    std::unique_ptr<VerbsContext> to_close;  ///< null: open it
  };
  struct Running {
    std::string device;
    SteadyTime since;
    std::shared_ptr<bool> done;  ///< under the lock of what is shared
  };
  struct Shared;
  /// False: no thread can be started, and the call waits on.
  bool begin_first(SteadyTime now);
  static void run(Call& call, std::shared_ptr<VerbsLibrary> library, Shared& shared, bool& done);

  std::shared_ptr<VerbsLibrary> library_;
  std::shared_ptr<Shared> shared_;
  Milliseconds patience_;
  std::deque<Call> waiting_;
  std::vector<Running> running_;
  std::vector<std::string> stuck_;
  bool no_thread_ = false;
};

}  // namespace linkhealth
