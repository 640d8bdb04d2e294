// Maintenance by file: a port, or the node, is in maintenance while a file exists in a directory.
// Configuration management and schedulers can use it without access to the daemon.
//
// The file's name is a name of a port (mlx5_3, ens4np0, 0000:9a:00.0) or "all". Its text may be
// empty, or contain the lines "port: mlx5_3/2" (instead of the name), "until:
// 2026-11-20T14:00:00Z", "by: ann", "module_reads: off", "reason: …"; any other line is the reason.
// Names that begin with a dot or end in ~ are ignored.
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

/// Parses the text of a file; `changed` is its modification time. The error names the wrong line.
Result<Maintenance> parse_maintenance_file(std::string_view text, const std::string& path,
                                           WallTime changed);

class MaintenanceDir {
 public:
  /// `path` "": no directory.
  explicit MaintenanceDir(std::string path) : path_(std::move(path)) {}

  struct Found {
    std::vector<Maintenance> maintenance;  ///< `port` "" for the whole node
    std::vector<std::string> complaints;   ///< each one once, and again when it has changed
  };
  /// The files as they are now. An absent directory has none.
  Found read();

 private:
  std::string path_;
  std::map<std::string, std::string> reported_;  ///< last complaint by file
};

}  // namespace linkhealth
