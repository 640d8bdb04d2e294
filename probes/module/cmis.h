// The parts of the CMIS decoder: which applications run on which lanes, the lanes, and VDM. A
// module may run several applications at a time (a port of 400 Gb/s and four of 100), each with
// lanes of its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/snapshot.h"
#include "probes/module/image.h"

namespace linkhealth {

inline constexpr unsigned kLanesPerBank = 8;

/// One data path that an application may have: lanes of the whole module, 0 first.
struct DataPath {
  std::size_t host_first = 0, host_lanes = 0;
  std::size_t media_first = 0, media_lanes = 0;
  bool in_use = false;
};

struct CmisLanes {
  /// Up to the last lane that an application in use can have, 1 to 8; 0 where the module describes
  /// none.
  unsigned host_per_bank = 0, media_per_bank = 0;
  std::string type;  ///< "400G-DR4", "2x400G-DR4"; of several "1x400G-DR4 + 4x100G-DR"
  std::vector<DataPath> data_paths;  ///< those in use first
};

/// `optical`: the media side has lanes of its own; a copper cable's are those of the host.
CmisLanes cmis_lanes(const ModuleImage& image, bool optical);

/// What is at the far side of a module: nothing that it could report, an electrical receiver, or
/// light.
enum class MediaSide : std::uint8_t { kNone, kElectric, kOptical };
/// Pages 10h, 11h and 13h of every bank.
void decode_cmis_lanes(const ModuleImage& image, const CmisLanes& lanes, MediaSide side,
                       ModuleSample& sample);
/// Pages 20h-2Fh: statistics of the signal, and the monitors of coherent modules. After the lanes.
void decode_cmis_vdm(const ModuleImage& image, const CmisLanes& lanes, ModuleSample& sample);

}  // namespace linkhealth
