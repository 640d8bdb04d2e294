// Reads the maintenance files without delaying the deciding thread: the directory may lie on a file
// system that does not answer (NFS), and then what was read last stays in force.
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
  /// Between two reads; and a read that takes longer is reported.
  static constexpr Milliseconds kPeriod{5'000}, kPatience{15'000};

  /// `directory` "": nothing is ever read. `clock` belongs to main(): a read that hangs outlives
  /// the reader.
  MaintenanceReader(const std::string& directory, const Clock& clock);
  /// For tests. `read` is called by one thread at a time and lives as long as its last call.
  MaintenanceReader(std::string directory, const Clock& clock, Read read);

  struct News {
    std::optional<std::vector<Maintenance>> maintenance;  ///< nullopt: what was found last stays so
    std::vector<std::string> complaints;
  };
  /// On the deciding thread, with each step: starts a read when one is due, and gives what came.
  /// Never blocks.
  News poll();
  /// Before there are steps: poll(), and at most `patience` for the read that it started.
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
