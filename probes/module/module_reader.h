// The only reader of module EEPROMs: a thread around a ModuleSchedule. The daemon never waits for
// it: it collects finished rounds when the event descriptor becomes readable, and can ask for a
// read that hangs in the kernel.
#pragma once

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"
#include "probes/host.h"
#include "probes/module/module_schedule.h"

namespace linkhealth {

/// A read that the kernel has not answered yet.
struct ModuleBusy {
  PortKey port;
  SteadyTime since;
};

class ModuleReader {
 public:
  /// Starts the thread, which alone uses `host`. `clock` must outlive the reader.
  ModuleReader(std::unique_ptr<Host> host, const Clock& clock, ModuleTiming timing);
  /// Ends the thread. A read that hangs in the kernel cannot be cancelled: after kStopPatience the
  /// thread is abandoned. It uses only what it owns, and ends when the kernel call returns.
  ~ModuleReader();
  ModuleReader(const ModuleReader&) = delete;
  ModuleReader& operator=(const ModuleReader&) = delete;

  /// See ModuleSchedule. None of these blocks for longer than decoding a module takes.
  void set_ports(const std::vector<ModulePort>& ports);
  void request(const PortKey& port);
  std::vector<ModuleRound> collect_rounds();
  [[nodiscard]] std::optional<ModuleBusy> busy() const;

  /// Readable while finished rounds are waiting. collect_rounds() makes it unreadable.
  [[nodiscard]] int event_fd() const;

  static constexpr Milliseconds kStopPatience{200};

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace linkhealth
