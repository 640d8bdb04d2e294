// Looks at the maintenance files beside the deciding thread: the directory may lie on a file system that does not
// answer (NFS), and judging goes on all the same, with what was read last.
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

  /// `directory` "": no thread, and nothing is ever found.
  explicit MaintenanceReader(const std::string& directory);
  /// For tests. `read` is called on the reader's thread only, and lives as long as that.
  MaintenanceReader(std::string directory, Read read);
  /// A thread that hangs in a read is left to it; it touches only what it owns.
  ~MaintenanceReader();
  MaintenanceReader(const MaintenanceReader&) = delete;
  MaintenanceReader& operator=(const MaintenanceReader&) = delete;

  struct News {
    std::optional<std::vector<Maintenance>> maintenance;  ///< nullopt: what was found last stays so
    std::vector<std::string> complaints;
  };
  /// On the deciding thread, with each step: asks for a look when one is due, and gives what came. Never blocks.
  News look(SteadyTime now);
  /// Before the first step: waits for the answer to what was asked, at most `patience`.
  void wait(Milliseconds patience);

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared, const Read& read);

  std::string directory_;
  std::shared_ptr<Shared> shared_;  ///< null: no directory
  std::optional<SteadyTime> asked_at_;
  bool said_ = false;
};

}  // namespace linkhealth
