// Readings that others have: the far module's powers from a switch's telemetry, a module on an
// InfiniBand port, for which ethtool has no path. Files in a directory (docs/import.md); what can't
// be believed is a gap with the file's name.
#pragma once

#include <memory>

#include "probes/import_dir.h"
#include "probes/peer_probe.h"

namespace linkhealth {

struct ImportTiming {
  Milliseconds period{15'000};
  /// How far ahead a file's clock may be.
  Milliseconds skew{5'000};
};

/// The daemon's one probe of that kind, named "import". Answers for every watched port each time,
/// so that a reading whose file is gone or over its time ends; what a file says of an exempt port
/// is skipped without a word. `clock` tells the wall time against which `at` is held.
std::unique_ptr<PeerProbe> make_import_probe(std::unique_ptr<ImportDirectory> directory,
                                             const Clock& clock, ImportTiming timing);

}  // namespace linkhealth
