// Readings of other programs: the far module's powers from a switch's telemetry, a module on an
// InfiniBand port, for which ethtool has no path. Files in a directory (docs/import.md); what is
// not used is a gap with the file's name.
#pragma once

#include <memory>

#include "probes/peer/import_dir.h"
#include "probes/peer/peer_probe.h"

namespace linkhealth {

struct ImportTiming {
  Milliseconds period{15'000};
  /// How far ahead a file's clock may be.
  Milliseconds skew{5'000};
};

/// The probe "import". Its readings are of every watched port each time, so that a reading whose
/// file is gone or past its validity ends; an exempt port may be named and is skipped. `clock`
/// gives the wall time with which `at` is compared.
std::unique_ptr<PeerProbe> make_import_probe(std::unique_ptr<ImportDirectory> directory,
                                             const Clock& clock, ImportTiming timing);

}  // namespace linkhealth
