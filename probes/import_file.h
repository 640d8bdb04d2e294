// The format of an imported file (docs/import.md): readings that others have, in the forms of a recording. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "model/snapshot.h"

namespace linkhealth {

inline constexpr std::string_view kImportSchema = "linkhealth.import/1";
/// Ports in one file, and for how long a reading may hold, at most.
inline constexpr std::size_t kMaxImportPorts = 1024;
inline constexpr double kMaxImportValidSeconds = 86'400;

struct ImportedPort {
  std::optional<PeerSample> peer;
  std::optional<ModuleSample> module;
};

struct ImportFile {
  WallTime at;             ///< when the readings were taken
  double valid_for_s = 0;  ///< counted from `at`
  std::map<std::string, ImportedPort> ports;
};

/// The whole file or nothing: a value that can't be true makes the file unbelievable. The error is one short clause:
/// "not whole JSON …", "ports > mlx5_0/1 > module: a temperature of 4000 °C".
Result<ImportFile> parse_import_file(std::string_view text);

}  // namespace linkhealth
