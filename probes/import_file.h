// The format of an imported file (docs/import.md): readings that others have, in the forms of a
// recording. Pure.
#pragma once

#include <bitset>
#include <functional>
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
  std::string flaw;  ///< what of the entry was not taken, and why; "": all of it was. A file's
                     ///< other entries stand
};

/// What an entry can say of a port, each of which may come and end apart.
enum ImportPart : std::uint8_t {
  kFarNames,
  kFarLink,
  kFarCounters,
  kFarModule,
  kOwnModule,
  kImportParts
};
using ImportParts = std::bitset<kImportParts>;
/// A group without any key says nothing.
ImportParts parts_of(const std::optional<PeerSample>& peer,
                     const std::optional<ModuleSample>& module);

struct ImportFile {
  WallTime at;             ///< when the readings were taken
  double valid_for_s = 0;  ///< counted from `at`
  std::map<PortKey, ImportedPort> ports;
  std::size_t named = 0;  ///< entries that the file has, also of ports that are not kept
};

/// The port that an entry's name means; nullopt: one whose entry is not kept. Called once for each
/// entry that is read.
using PortOfName = std::function<std::optional<PortKey>(std::string_view name)>;
/// Keeps every entry, by the name that it has in the file.
std::optional<PortKey> port_as_named(std::string_view name);

/// The whole file or nothing: a value that can't be true makes the file unbelievable, also in an
/// entry that is not kept. Of a key that an object has twice the last value counts. The error is
/// one short clause without quotes of our own, because it becomes a metric's label: "not whole or
/// not the format: …", "ports > mlx5_0/1: a temperature of 4000 °C".
Result<ImportFile> parse_import_file(std::string_view text,
                                     const PortOfName& port_of = port_as_named);

}  // namespace linkhealth
