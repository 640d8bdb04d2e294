// Reads the maintenance files without delaying the deciding thread: the directory may be on a file
// system that does not respond (NFS); then the last result stays in force.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/sampling/blocking_read_pool.h"
#include "storage/maintenance_dir.h"

namespace linkhealth {

class MaintenanceReader {
 public:
  using Read = std::function<MaintenanceDir::Found()>;
  /// Time between two reads; and the time after which a read is reported as hung.
  static constexpr Milliseconds kPeriod{5'000}, kPatience{15'000};

  /// `directory` "": nothing is ever read. `clock` belongs to main(): a read that hangs outlives
  /// the reader.
  MaintenanceReader(const std::string& directory, const Clock& clock);
  /// For tests. `read` is called by one thread at a time and must live until its last call returns.
  MaintenanceReader(std::string directory, const Clock& clock, Read read);

  struct News {
    std::optional<std::vector<Maintenance>> maintenance;  ///< nullopt: unchanged
    std::vector<std::string> complaints;
  };
  /// Called on the deciding thread with each step: starts a read if one is due, and returns what
  /// has arrived. Never blocks.
  News poll();
  /// Before the first step: like poll(), but waits at most `patience` for the read that it started.
  News wait(Milliseconds patience);

 private:
  std::string directory_;
  const Clock& clock_;
  Read read_;
  News news_;
  SteadyTime due_at_;
  bool hang_reported_ = false;
  BlockingReadPool pool_;
};

}  // namespace linkhealth
