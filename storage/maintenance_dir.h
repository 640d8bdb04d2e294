// Maintenance by file: a file in a directory says that a port, or the node, is being worked on, for
// as long as it is there. So configuration management and schedulers can say so without asking the
// daemon.
//
// The file's name is a name of a port (mlx5_3, ens4np0, 0000:9a:00.0) or "all". Its text may be
// empty; lines that it may have: "port: mlx5_3/2" (instead of the name), "until:
// 2026-11-20T14:00:00Z", "by: ann", "reason: …"; any other line is the reason. Names that begin
// with a dot or end in ~ are left alone.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/report.h"

namespace linkhealth {

inline constexpr std::size_t kMaxMaintenanceFiles = 256;
inline constexpr std::size_t kMaxMaintenanceFileBytes = 4096;

/// What a file says; `changed` is when it was written last. An error names what can't be
/// understood.
Result<Maintenance> parse_maintenance_file(std::string_view text, const std::string& path,
                                           WallTime changed);

class MaintenanceDir {
 public:
  /// `path` "": none.
  explicit MaintenanceDir(std::string path) : path_(std::move(path)) {}

  struct Found {
    std::vector<Maintenance> maintenance;  ///< `port` "" for the whole node
    std::vector<std::string> complaints;   ///< each is told once, and again when it has changed
  };
  /// All files as they are now. A directory that is not there holds none.
  Found read();

 private:
  std::string path_;
  std::map<std::string, std::string> told_;  ///< by file
};

}  // namespace linkhealth
