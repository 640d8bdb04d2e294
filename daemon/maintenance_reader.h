// Looks at the maintenance files without holding up who decides: the directory may lie on a file
// system that does not answer (NFS), and judging goes on all the same, with what was read last. It
// has no thread: whoever is awake already makes the look when it has decided (daemon/loop.h),
// because to wake a thread costs more than the look.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "storage/maintenance_dir.h"

namespace linkhealth {

class MaintenanceReader {
 public:
  using Read = std::function<MaintenanceDir::Found()>;
  /// Between two looks; and after so long without an answer the directory is named.
  static constexpr Milliseconds kEvery{5'000}, kPatience{15'000};

  /// `directory` "": nothing is ever looked at. Otherwise the first look is due.
  explicit MaintenanceReader(const std::string& directory);
  /// For tests. `read` is called by one thread at a time and lives as long as its last call.
  MaintenanceReader(std::string directory, Read read);

  struct News {
    std::optional<std::vector<Maintenance>> maintenance;  ///< nullopt: what was found last stays so
    std::vector<std::string> complaints;
  };
  /// On the deciding thread, with each step: asks for a look when one is due, and gives what came.
  /// Never blocks.
  News look(SteadyTime now);
  /// Whether a look was asked for and nobody makes it.
  [[nodiscard]] bool wants_thread() const;
  /// The look. It may hang for ever and may outlive the reader: it touches only what it owns.
  /// REQUIRES: wants_thread(); it is run.
  std::function<void()> work();
  /// Before there are steps: the look that is due on a thread of its own, awaited for at most
  /// `patience`.
  void wait(Milliseconds patience);

 private:
  struct Shared;

  std::string directory_;
  std::shared_ptr<Shared> shared_;  ///< null: no directory
  std::optional<SteadyTime> asked_at_;
  bool said_ = false;
};

}  // namespace linkhealth
