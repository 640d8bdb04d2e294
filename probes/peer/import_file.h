// The format of an imported file (docs/import.md): readings of other programs, in the format of a
// recording. Pure functions.
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
/// The longest validity of a reading.
inline constexpr double kMaxImportValidSeconds = 86'400;

struct ImportedPort {
  std::optional<PeerSample> peer;
  std::optional<ModuleSample> module;
  std::string flaw;  ///< why the entry, or part of it, is not used; "": all is used
};

struct ImportFile {
  WallTime at;                                             ///< when the readings were taken
  double valid_for_s = 0;                                  ///< counted from `at`
  std::map<std::string, ImportedPort, std::less<>> ports;  ///< by their names in the file
};

/// If an object has a key twice, the last value counts. The error is one short clause that adds no
/// quotes, because it becomes a metric's label: "not whole or not the format: …".
Result<ImportFile> parse_import_file(std::string_view text);

/// The first implausible value of an entry (a wrong unit, a dead register, control bytes), as a
/// clause: "temperature_c of 4800 is out of range"; "": none.
std::string find_implausible(const ImportedPort& port);

/// Drops implausible module limits and adds a warning: all zero, which many writers use for "none",
/// and limits out of order. The readings stay.
void drop_bad_limits(ModuleSample& module);

}  // namespace linkhealth
