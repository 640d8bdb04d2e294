// The format of an imported file (docs/import.md): readings of other programs, in the form of a
// recording. Pure.
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
/// How long a reading may be valid, at most.
inline constexpr double kMaxImportValidSeconds = 86'400;

struct ImportedPort {
  std::optional<PeerSample> peer;
  std::optional<ModuleSample> module;
  std::string flaw;  ///< why the entry, or a part of it, is not used; "": all of it is
};

struct ImportFile {
  WallTime at;                                             ///< when the readings were taken
  double valid_for_s = 0;                                  ///< counted from `at`
  std::map<std::string, ImportedPort, std::less<>> ports;  ///< by their names in the file
};

/// Of a key that an object has twice the last value counts. The error is one short clause without
/// quotes of our own, because it becomes a metric's label: "not whole or not the format: …".
Result<ImportFile> parse_import_file(std::string_view text);

/// The first implausible value of an entry (a wrong unit, a dead register, control bytes), as a
/// clause: "temperature_c of 4800 is out of range"; "": none.
std::string find_implausible(const ImportedPort& port);

/// Drops limits that cannot be a module's with a warning in the module: all zero, which many
/// writers use for "none", and limits out of order. The readings stay.
void drop_bad_limits(ModuleSample& module);

}  // namespace linkhealth
