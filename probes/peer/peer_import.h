// Readings of other programs: the far module's powers from a switch's telemetry, or a module on an
// InfiniBand port, which ethtool cannot read. Files in a directory (docs/import.md); what is not
// used becomes a gap with the file's name.
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

/// The probe "import". Each round returns readings for every watched port, so that a reading ends
/// when its file is removed or expires. Entries for exempt ports are skipped. `clock`: the wall
/// time that `at` is compared with.
std::unique_ptr<PeerProbe> make_import_probe(std::unique_ptr<ImportDirectory> directory,
                                             const Clock& clock, ImportTiming timing);

}  // namespace linkhealth
